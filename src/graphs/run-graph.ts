// Run graph: one attempt of one run, from its request to its outcome.
// Invariants:
//   RG1. An attempt passes on only those answers that no task has used (architecture: "Resume rules", 8).
//   RG2. Once a checkpoint of this run exists, a later attempt goes on from there: input and command count once.
//   RG3. The graph is not changed: everything of this run travels in the config.
//   RG4. Names that the server owns in `configurable` never come from a request.
import { describeError } from "../base/errors.ts";
import type { CarriedAnswer, Fingerprint, Run, WriteSet } from "../agent/model.ts";
import type { GraphOutcome, GraphRunResult, RunSink, Tx } from "../agent/ports.ts";
import type { JsonObject } from "../base/json.ts";
import type { Codec } from "./codec.ts";
import { withCheckpointer, type CompiledGraph, type LibraryState, type StreamConfig } from "./graph.ts";
import type { InterruptIds } from "./interrupt-ids.ts";
import type { Library } from "./library.ts";
import { openQuestions } from "./questions.ts";
import { createRunSaver, type RunSaver } from "./saver.ts";
import { decodeWrites } from "./stored.ts";
import { createTaskKey } from "./task-key.ts";

export interface RunContext {
  readonly library: Library;
  readonly codec: Codec;
  readonly ids: InterruptIds;
  readonly read: <T>(query: (tx: Tx) => T | Promise<T>) => Promise<T>;
}

/** A retry policy loses an answer when the node fails after it; this many times the answer is given again. */
const ANSWER_PASSES_MAX = 3;

const CHECKPOINTER_KEY = "__pregel_checkpointer";

export async function runGraph(
  context: RunContext,
  graph: CompiledGraph,
  fingerprint: Fingerprint,
  run: Run,
  sink: RunSink,
  signal: AbortSignal,
  hasHistory: boolean,
): Promise<GraphRunResult> {
  const { library, codec } = context;
  const failure = new AbortController();
  let cause: unknown;
  const fail = (error: unknown): void => {
    cause ??= error;
    failure.abort(error);
  };
  const answers = run.request.command?.answers ?? [];
  let saver: RunSaver | null = null;
  const take = (): WriteSet => saver?.take() ?? EMPTY_SET;
  const finish = (outcome: GraphOutcome, unused: readonly CarriedAnswer[], lastValues: unknown): GraphRunResult => ({
    outcome,
    rest: take(),
    checkpointId: saver?.rootCheckpointId() ?? null,
    overlay: outcome.kind === "question" && saver !== null && hasFinishedTask(saver) ? codec.encode(lastValues) : null,
    unused,
  });
  let unused: readonly CarriedAnswer[] = answers;
  let values: unknown;
  try {
    const progress = run.attempt > 1 ? await readProgress(context, run, answers) : { started: false, unused: answers };
    unused = progress.unused;
    if (signal.aborted) return finish({ kind: "aborted" }, unused, values); // cancelled before the process died
    saver = createRunSaver({
      library,
      codec,
      threadId: run.threadId,
      runId: run.runId,
      fingerprint: fingerprint.hash,
      metadata: checkpointMetadata(run),
      storedText: run.input,
      hasHistory,
      read: context.read,
      answersKept: new Map(unused.map((answer) => [answer.taskId, answer.index])),
      onWrite: () => {
        if (run.request.durability === "sync") return sink.now(take);
        sink.soon(take);
        return undefined;
      },
      settle: () => sink.now(take),
      onFailure: fail,
    });
    const taskNames = new Map<string, string>();
    const config = runConfig(run, saver, AbortSignal.any([signal, failure.signal]), library, progress.started, graph);
    for (let pass = 0; ; pass++) {
      const input =
        progress.started || pass > 0 ? resumeInput(library, unused) : firstInput(library, codec, run, unused);
      const stream = await graph.stream(input, config);
      let paused = false;
      for await (const chunk of stream) {
        const payload = noteTaskName(chunk, taskNames);
        if (payload === undefined) continue;
        if (isPauseChunk(payload)) paused = true;
        else values = payload;
      }
      if (cause !== undefined) throw cause;
      values ??= (await savedState(graph, saver, run)).values; // a first node that asks at once streams no state
      unused = unusedAnswers(saver, unused);
      const questions = openQuestions(saver.pending.graphs(), fingerprint, taskNames, context.ids, codec);
      const askedAgain = unused.filter((answer) =>
        questions.some((question) => question.taskId === answer.taskId && question.index === answer.index),
      );
      if (askedAgain.length > 0 && pass + 1 < ANSWER_PASSES_MAX) continue;
      if (askedAgain.length > 0) {
        const message = `the node failed after its answer on each of ${ANSWER_PASSES_MAX} tries, and its retry policy hid the cause`;
        return finish({ kind: "failed", error: { error: "answer_not_used", message } }, unused, values);
      }
      if (questions.length > 0) return finish({ kind: "question", values, questions }, unused, values);
      const held = paused && (await holdsSomething(graph, saver, run));
      return finish({ kind: held ? "breakpoint" : "done", values }, unused, values);
    }
  } catch (error) {
    if (saver !== null) unused = unusedAnswers(saver, unused);
    if (signal.aborted) return finish({ kind: "aborted" }, unused, values);
    const { name, message } = describeError(cause ?? error);
    return finish({ kind: "failed", error: { error: name, message } }, unused, values);
  }
}

/** A breakpoint behind the last node holds nothing back: there the run has ended. */
async function holdsSomething(graph: CompiledGraph, saver: RunSaver, run: Run): Promise<boolean> {
  const after = run.request.interruptAfter ?? graph.interruptAfter ?? [];
  if (after.length === 0) return true;
  return (await savedState(graph, saver, run)).next.length > 0;
}

function savedState(graph: CompiledGraph, saver: RunSaver, run: Run): Promise<LibraryState> {
  const view = withCheckpointer(graph, saver.checkpointer);
  return view.getState({ configurable: { thread_id: run.threadId } });
}

const EMPTY_SET: WriteSet = { checkpoints: [], writes: [], blobs: [] };

function hasFinishedTask(saver: RunSaver): boolean {
  const root = saver.pending.graphs().get("");
  return root !== undefined && [...root.tasks.values()].some((task) => task.finished);
}

/** RG1, RG2: what an earlier attempt of this run has left. */
async function readProgress(
  context: RunContext,
  run: Run,
  answers: readonly CarriedAnswer[],
): Promise<{ readonly started: boolean; readonly unused: readonly CarriedAnswer[] }> {
  return context.read(async (tx) => {
    const root = await tx.checkpoint(run.threadId, "", null);
    const unused: CarriedAnswer[] = [];
    for (const answer of answers) {
      const stored = await tx.checkpoint(run.threadId, answer.graphNs, null);
      const movedOn = stored?.checkpoint.runId === run.runId;
      if (movedOn) continue;
      const at = await tx.checkpoint(run.threadId, answer.graphNs, answer.checkpointId);
      if (at === null) continue;
      const own = { ...at, writes: at.writes.filter((row) => row.runId === run.runId) };
      const saved = decodeWrites(own, context.codec).find(
        ([taskId, channel]) => taskId === answer.taskId && channel === "__resume__",
      );
      const count = saved === undefined ? 0 : Array.isArray(saved[2]) ? saved[2].length : 1;
      if (count <= answer.index) unused.push(answer);
    }
    return { started: root?.checkpoint.runId === run.runId, unused };
  });
}

function unusedAnswers(saver: RunSaver, carried: readonly CarriedAnswer[]): readonly CarriedAnswer[] {
  return carried.filter((answer) => {
    const graph = saver.pending.graphs().get(answer.graphNs);
    if (graph === undefined) return true;
    if (graph.checkpointId !== answer.checkpointId) return false; // the graph has gone past the question
    return (graph.tasks.get(answer.taskId)?.answersSaved ?? 0) <= answer.index;
  });
}

function firstInput(library: Library, codec: Codec, run: Run, answers: readonly CarriedAnswer[]): unknown {
  const { command } = run.request;
  if (command === null) return run.input === null ? null : codec.decode(codec.parse(run.input));
  // An earlier attempt has used all that the command carried: the library takes an empty one for a mistake.
  if (answers.length === 0 && command.update === undefined && command.goto === undefined) return null;
  return new library.langgraph.Command({
    ...(answers.length > 0 ? { resume: resumeMap(answers) } : {}),
    ...(command.update === undefined ? {} : { update: command.update as Record<string, unknown> }),
    ...(command.goto === undefined ? {} : { goto: gotoOf(library, command.goto) }),
  });
}

function resumeInput(library: Library, answers: readonly CarriedAnswer[]): unknown {
  return answers.length === 0 ? null : new library.langgraph.Command({ resume: resumeMap(answers) });
}

/** Always the map form: the library takes a bare `false`, `0`, `""` or `null` for no answer at all. */
function resumeMap(answers: readonly CarriedAnswer[]): Record<string, unknown> {
  return Object.fromEntries(answers.map((answer) => [answer.libraryId, answer.value]));
}

function gotoOf(library: Library, goto: unknown): never {
  const one = (target: unknown): unknown =>
    typeof target === "object" && target !== null && "node" in target
      ? new library.langgraph.Send(
          String(target.node),
          "input" in target ? target.input : (target as JsonObject)["args"],
        )
      : target;
  return (Array.isArray(goto) ? goto.map(one) : one(goto)) as never;
}

const SERVER_OWNED = new Set([
  "thread_id",
  "run_id",
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
  "assistant_id",
  "graph_id",
  "run_attempt",
  "idempotency_key",
  "thread_ts",
]);

function clientConfigurable(config: JsonObject): Record<string, unknown> {
  const given = config["configurable"];
  if (typeof given !== "object" || given === null || Array.isArray(given)) return {};
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name]) => !SERVER_OWNED.has(name) && !name.startsWith("__pregel_") && !name.startsWith("langgraph_auth"), // RG4
    ),
  );
}

/** Who asked for the run. Kept with it, so that every attempt has it (RG4). */
function authConfigurable({ user, permissions }: Run["request"]): Record<string, unknown> {
  if (user === null || user === undefined) return {}; // undefined: a run accepted before there was authentication
  return {
    langgraph_auth_user: user,
    langgraph_auth_user_id: user["identity"],
    langgraph_auth_permissions: permissions,
  };
}

/** The library copies these from `configurable` unless they are there: the request's own would win (RG4). */
function clientMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(metadata).filter(([name]) => !SERVER_OWNED.has(name) && !name.startsWith("langgraph_auth")),
  );
}

function checkpointMetadata(run: Run): JsonObject {
  return {
    ...run.metadata,
    graph_id: run.graphId,
    assistant_id: run.assistantId,
    run_id: run.runId,
    run_attempt: run.attempt,
  };
}

function runConfig(
  run: Run,
  saver: RunSaver,
  signal: AbortSignal,
  library: Library,
  started: boolean,
  graph: CompiledGraph,
): StreamConfig {
  const { request } = run;
  const { recursion_limit: recursionLimit, tags } = request.config;
  // Tasks of the functional API cannot be found by node name: their names come with the stream.
  const streamMode = "__previous__" in graph.channels ? ["values", "tasks"] : "values";
  return {
    configurable: {
      ...clientConfigurable(request.config),
      ...authConfigurable(request),
      thread_id: run.threadId,
      run_id: run.runId,
      assistant_id: run.assistantId,
      graph_id: run.graphId,
      run_attempt: run.attempt,
      idempotency_key: createTaskKey(library, run.threadId, run.runId),
      [CHECKPOINTER_KEY]: saver.checkpointer, // RG3
      ...(request.checkpointId === null || started ? {} : { checkpoint_id: request.checkpointId }),
    },
    metadata: {
      ...clientMetadata(run.metadata),
      graph_id: run.graphId,
      assistant_id: run.assistantId,
      run_attempt: run.attempt,
    },
    ...(Array.isArray(tags) ? { tags } : {}),
    ...(typeof recursionLimit === "number" ? { recursionLimit } : {}),
    ...(request.context === null ? {} : { context: request.context }),
    ...(request.interruptBefore === null ? {} : { interruptBefore: request.interruptBefore }),
    ...(request.interruptAfter === null ? {} : { interruptAfter: request.interruptAfter }),
    durability: request.durability,
    streamMode,
    signal,
  };
}

/** Chunks come bare, or as `[mode, payload]` when tasks are streamed too. Returns the values payload, if it is one. */
function noteTaskName(chunk: unknown, names: Map<string, string>): unknown {
  if (!Array.isArray(chunk) || chunk.length !== 2 || (chunk[0] !== "values" && chunk[0] !== "tasks")) return chunk;
  if (chunk[0] === "values") return chunk[1];
  const task = chunk[1] as { readonly id: string; readonly name: string };
  names.set(task.id, task.name);
  return undefined;
}

function isPauseChunk(payload: unknown): boolean {
  return typeof payload === "object" && payload !== null && Array.isArray((payload as JsonObject)["__interrupt__"]);
}
