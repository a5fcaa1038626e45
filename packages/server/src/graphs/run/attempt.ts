// Attempt: the state of one attempt of a run, how it begins and how it ends.
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import { type Fingerprint, type Run, type StreamRequest, VALUES_ONLY, type WriteSet } from "../../model/model.ts";
import type { GraphOutcome, GraphRunResult, History, RunSink, UnusedAnswer } from "../../ports/ports.ts";
import { type AnswerPlaces, createAnswerPlaces } from "../checkpoints/answer-places.ts";
import { type RunSaver, createRunSaver } from "../checkpoints/run-checkpointer.ts";
import {
  type CompiledGraph,
  type LibraryState,
  type StreamConfig,
  withCheckpointer,
} from "../langgraph/compiled-graph.ts";
import { type HandedAnswers, createHandedAnswers } from "./handed-answers.ts";
import { type TaskWatch, createTaskWatch } from "./interrupts/task-watch.ts";
import { interruptMoved } from "./run-error.ts";
import { checkpointMetadata, runConfig } from "./run-config.ts";
import type { RunContext } from "./run-context.ts";
import type { StoredInput } from "./run-input.ts";
import { type StreamEvents, createStreamEvents } from "./stream-events.ts";
import { type StreamPlan, choosePlan } from "./stream-modes.ts";

export interface AttemptRequest {
  readonly graph: CompiledGraph;
  readonly fingerprint: Fingerprint;
  readonly run: Run;
  readonly sink: RunSink;
  readonly signal: AbortSignal;
  readonly history: History;
  readonly callbacks: readonly object[];
}

export interface Attempt extends AttemptRequest {
  readonly context: RunContext;
  readonly stream: StreamRequest;
  readonly plan: StreamPlan;
  readonly handed: HandedAnswers;
  readonly storedInput: StoredInput | null;
  /** Aborts the graph when a value cannot be stored. */
  readonly failure: AbortController;
  /** The first reason of such an abort. */
  cause: unknown;
  /** Null while the run need not be watched. */
  watch: TaskWatch | null;
  /** Null before the graph starts. */
  saver: RunSaver | null;
  events: StreamEvents | null;
  unused: readonly UnusedAnswer[];
  /** Newest state of the root graph. */
  values: unknown;
}

/** An attempt whose graph can start. */
export interface OpenAttempt extends Attempt {
  readonly saver: RunSaver;
  readonly events: StreamEvents;
  readonly places: AnswerPlaces;
}

export function newAttempt(context: RunContext, request: AttemptRequest): Attempt {
  const { graph, run } = request;
  const stream = run.request.stream ?? VALUES_ONLY;
  if ("__previous__" in graph.channels) context.watched.add(graph); // the functional API
  return {
    ...request,
    context,
    stream,
    plan: choosePlan(stream),
    handed: createHandedAnswers(),
    storedInput: run.input === null ? null : { text: run.input, value: NOT_GIVEN },
    failure: new AbortController(),
    cause: undefined,
    watch: context.watched.has(graph) ? createTaskWatch() : null,
    saver: null,
    events: null,
    unused: run.request.command?.answers ?? [],
    values: undefined,
  };
}

/** Equal to no value of a channel. */
const NOT_GIVEN = Symbol("the input is not given yet");

/** The same object, with its saver, its events and the places of its answers. */
export function openAttempt(attempt: Attempt): OpenAttempt {
  const { context, fingerprint, run, sink, handed } = attempt;
  const take = (): WriteSet => saver.take();
  const fail = (error: unknown): void => {
    attempt.cause ??= error;
    attempt.failure.abort(error);
  };
  let concurrent = context.concurrent.get(attempt.graph);
  if (concurrent === undefined) context.concurrent.set(attempt.graph, (concurrent = new Set()));
  const moved = (): void => fail(interruptMoved());
  const places = createAnswerPlaces({ codec: context.codec, now: context.now, concurrent, moved });
  const saver = createRunSaver({
    library: context.library,
    codec: context.codec,
    threadId: run.threadId,
    runId: run.runId,
    fingerprint: fingerprint.hash,
    metadata: checkpointMetadata(run),
    storedInput: attempt.storedInput,
    outputs: fingerprint.outputs,
    history: attempt.history,
    read: context.read,
    answersKept: handed.kept,
    places,
    keepsResults: run.input !== null && run.request.checkpointId === null,
    interruptBytesMax: context.interruptBytesMax,
    holds: sink.holds,
    onWrite: () => {
      handed.withdraw(saver);
      if (run.request.durability === "sync") return sink.now(take);
      sink.soon(take);
      return undefined;
    },
    settle: () => sink.now(take),
    onFailure: fail,
  });
  const sources = { ...context, transformers: attempt.graph.streamTransformers };
  const events = createStreamEvents(sources, attempt.stream, saver.findCheckpoint, sink);
  return Object.assign(attempt, { saver, events, places });
}

/** @param started a checkpoint of this run exists */
export function buildStreamConfig(attempt: OpenAttempt, started: boolean): StreamConfig {
  const { context, run, saver, plan } = attempt;
  const signal = AbortSignal.any([attempt.signal, attempt.failure.signal]);
  return {
    ...runConfig(run, context.library, { saver, signal, started, plan }),
    store: context.store, // replaces a compiled-in one
  };
}

export function withCallbacks(config: StreamConfig, callbacks: readonly object[]): StreamConfig {
  return callbacks.length === 0 ? config : { ...config, callbacks };
}

/** The newest state of the root graph, as it is saved. */
export function savedState({ graph, saver, run }: OpenAttempt): Promise<LibraryState> {
  const view = withCheckpointer(graph, saver.checkpointer);
  return view.getState({ configurable: { thread_id: run.threadId } });
}

/** @throws {NotSerialisableError} */
export function buildResult(
  { context, saver, events, unused, values }: Attempt,
  outcome: GraphOutcome,
): GraphRunResult {
  const shows = outcome.kind === "question" && saver !== null && (hasFinishedTask(saver) || saver.pending.isUpdated());
  const rest: WriteSet = saver?.take() ?? EMPTY_WRITE_SET;
  return {
    outcome,
    rest,
    checkpointId: saver?.rootCheckpointId() ?? null,
    overlay: shows ? context.codec.encode(values) : null,
    unused: saver === null ? null : unused,
    held: events?.held() ?? [],
  };
}

function hasFinishedTask(saver: RunSaver): boolean {
  const root = saver.pending.graphs().get("");
  return root !== undefined && [...root.tasks.values()].some((task) => task.finished);
}
