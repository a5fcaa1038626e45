// Run graph: one attempt of one run, from its request to its outcome.
// Invariants:
//   run-graph.1. Every attempt ends in an outcome: runGraph never rejects.
//   run-graph.2. Events keep LangGraph's stream order, except those that show a pause (stream-events.ts).
import { type CarriedAnswer, type Fingerprint, type Run, VALUES_ONLY, type WriteSet } from "../../agent/model/model.ts";
import type { GraphOutcome, GraphRunResult, History, RunSink } from "../../agent/ports/ports.ts";
import { isStorageFailure } from "../../base/storage-failure.ts";
import { refuseControlValuesSlowly } from "../langgraph/control-values.ts";
import { giveUp } from "./end-thread.ts";
import {
  type CompiledGraph,
  type LibraryState,
  type StreamConfig,
  withCheckpointer,
} from "../langgraph/compiled-graph.ts";
import { createHandedAnswers } from "./handed-answers.ts";
import { openQuestions } from "./open-interrupts.ts";
import { isRefusedAnswer } from "./refused-answer.ts";
import { checkpointMetadata, runConfig } from "./run-config.ts";
import { runError } from "./run-error.ts";
import { type StoredInput, firstInput, readProgress, resumeInput, unusedAnswers } from "./run-input.ts";
import type { RunContext } from "./run-context.ts";
import { type RunSaver, createRunSaver } from "../checkpoints/run-checkpointer.ts";
import { type StreamEvents, createStreamEvents } from "./stream-events.ts";
import { type Chunk, chunkInEvent, chunkOf, isPause, planOf } from "./stream-modes.ts";
import { createTaskWatch } from "./task-watch.ts";

/** A retry policy loses an answer if the node fails after it; the run passes the answer again, at most this often. */
const ANSWER_PASSES_MAX = 3;

export async function runGraph(
  context: RunContext,
  graph: CompiledGraph,
  fingerprint: Fingerprint,
  run: Run,
  sink: RunSink,
  signal: AbortSignal,
  history: History,
  callbacks: readonly object[],
): Promise<GraphRunResult> {
  const { library, codec } = context;
  const failure = new AbortController();
  let cause: unknown;
  const fail = (error: unknown): void => {
    cause ??= error;
    failure.abort(error);
  };
  const answers = run.request.command?.answers ?? [];
  const stream = run.request.stream ?? VALUES_ONLY;
  const plan = planOf(stream);
  if ("__previous__" in graph.channels) context.watched.add(graph); // the functional API
  let watch = context.watched.has(graph) ? createTaskWatch() : null;
  const handed = createHandedAnswers();
  const storedInput: StoredInput | null = run.input === null ? null : { text: run.input, value: NOT_GIVEN };
  let saver: RunSaver | null = null;
  let events: StreamEvents | null = null;
  const takeWrites = (): WriteSet => saver?.take() ?? EMPTY_SET;
  const finish = (outcome: GraphOutcome, unused: readonly CarriedAnswer[], lastValues: unknown): GraphRunResult => ({
    outcome,
    rest: takeWrites(),
    checkpointId: saver?.rootCheckpointId() ?? null,
    overlay: outcome.kind === "question" && saver !== null && hasFinishedTask(saver) ? codec.encode(lastValues) : null,
    unused,
    held: events?.held() ?? [],
  });
  let unused: readonly CarriedAnswer[] = answers;
  let values: unknown;
  try {
    const progress =
      run.attempt > 1
        ? await context.read((tx) => readProgress(tx, codec, run, answers))
        : { started: false, unused: answers };
    unused = progress.unused;
    const { update, goto } = run.request.command ?? {};
    await refuseControlValuesSlowly({ update, goto, answers: answers.map(({ value }) => value) }); // earlier versions accepted more
    if (signal.aborted) return finish({ kind: "aborted" }, unused, values); // cancelled before the process died
    saver = createRunSaver({
      library,
      codec,
      threadId: run.threadId,
      runId: run.runId,
      fingerprint: fingerprint.hash,
      metadata: checkpointMetadata(run),
      storedInput,
      outputs: fingerprint.outputs,
      history,
      read: context.read,
      answersKept: handed.kept,
      onWrite: () => {
        if (saver !== null) handed.withdraw(saver);
        if (run.request.durability === "sync") return sink.now(takeWrites);
        sink.soon(takeWrites);
        return undefined;
      },
      settle: () => sink.now(takeWrites),
      onFailure: fail,
    });
    events = createStreamEvents(context, stream, saver.checkpointOf, sink.emit);
    const config = {
      ...runConfig(run, saver, AbortSignal.any([signal, failure.signal]), library, progress.started, plan),
      store: context.store, // replaces a compiled-in one
    };
    if (run.request.command?.givesUp === true) {
      values = await giveUp(library, graph, saver, run, withCallbacks(config, callbacks), progress.started);
      if (cause !== undefined) throw cause;
      events.chunk({ ns: [], mode: "values", payload: values });
      events.ended("completed");
      return finish({ kind: "done", values }, unused, values);
    }
    let tries = 1;
    for (let pass = 0; ; pass++) {
      const resume = handed.hand(unused);
      const input =
        progress.started || pass > 0
          ? resumeInput(library, resume)
          : await firstInput(context, run, resume, storedInput);
      const passConfig = withCallbacks(config, watch === null ? callbacks : [...callbacks, watch.callback]);
      let paused = false;
      const take = (chunk: Chunk): void => {
        if (chunk.mode === "values" && isPause(chunk.payload)) paused = true;
        else if (chunk.mode === "values" && chunk.ns.length === 0) values = chunk.payload;
        events?.chunk(chunk); // run-graph.2
      };
      events.again();
      if (plan.raw) {
        for await (const event of graph.streamEvents(input, passConfig)) {
          const chunk = chunkInEvent(event, run.runId, plan);
          if (chunk === null) events.raw(event);
          else take(chunk);
        }
      } else {
        for await (const item of await graph.stream(input, passConfig)) take(chunkOf(item, plan));
      }
      if (cause !== undefined) throw cause;
      values ??= (await savedState(graph, saver, run)).values; // a first node that interrupts at once streams no state
      unused = unusedAnswers(saver, unused);
      const sources = { graphs: saver.pending.graphs(), fingerprint, watch, ids: context.ids, codec };
      const { questions, doubtful } = openQuestions(sources);
      if (doubtful && watch === null) {
        context.watched.add(graph);
        watch = createTaskWatch();
        continue; // the interrupted tasks run again, as after every answer
      }
      const askedAgain = unused.filter((answer) =>
        questions.some((question) => question.taskId === answer.taskId && question.index === answer.index),
      );
      if (askedAgain.length > 0 && tries++ < ANSWER_PASSES_MAX) continue;
      if (askedAgain.length > 0) {
        const message = `the node failed after its answer on each of ${ANSWER_PASSES_MAX} attempts, and its retry policy hid the cause`;
        return finish({ kind: "failed", error: { error: "answer_not_used", message } }, unused, values);
      }
      if (questions.length > 0) return finish({ kind: "question", values, interrupts: questions }, unused, values);
      const held = paused ? (await savedState(graph, saver, run)).next : [];
      events.ended("completed");
      // A breakpoint after the last node stops nothing: there the run has ended.
      return finish(
        held.length > 0 ? { kind: "breakpoint", values, next: held } : { kind: "done", values },
        unused,
        values,
      );
    }
  } catch (error) {
    if (saver !== null) unused = unusedAnswers(saver, unused);
    events?.ended(signal.aborted ? "interrupted" : "failed");
    if (signal.aborted) return finish({ kind: "aborted" }, unused, values);
    const storageFailed = isStorageFailure(cause ?? error);
    return finish(
      {
        kind: "failed",
        error: runError(cause ?? error, run, context.folder),
        storageFailed,
        answerRefused: cause === undefined && isRefusedAnswer(error),
      },
      unused,
      values,
    );
  }
}

function savedState(graph: CompiledGraph, saver: RunSaver, run: Run): Promise<LibraryState> {
  const view = withCheckpointer(graph, saver.checkpointer);
  return view.getState({ configurable: { thread_id: run.threadId } });
}

/** Equal to no value of a channel. */
const NOT_GIVEN = Symbol("the input is not given yet");

const EMPTY_SET: WriteSet = { checkpoints: [], writes: [], blobs: [] };

function hasFinishedTask(saver: RunSaver): boolean {
  const root = saver.pending.graphs().get("");
  return root !== undefined && [...root.tasks.values()].some((task) => task.finished);
}

function withCallbacks(config: StreamConfig, callbacks: readonly object[]): StreamConfig {
  return callbacks.length === 0 ? config : { ...config, callbacks };
}
