// Remote answers: a RemoteGraph in a task of the server's own runs. LangGraph calls it with the input again after its
// question is answered, which begins the remote thread anew. So the module that defines it gets one more line when it
// loads (loading/source-hooks.ts), and the answer goes to the thread that asked.
// Rules:
//   - A question of a RemoteGraph carries the thread and the graph that raised it. If that is called again in the same
//     task, it gets the answers of this run, or continues its pause without one.
//   - An answer that the thread has taken already, from this run before a crash, is not sent again: the result of the
//     run that took it counts.
//   - An answer that the other server refuses is refused here, with its reason. If the thread that asked is gone, the
//     call begins anew, and asks again.
//   - Tasks of one run take turns at a thread (remote-turns.ts). If another task has asked there, a call leaves its
//     task, as a question does, and is made again after the answer. A call that would wait for a pause of another run
//     fails.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { type RemoteQuestion, leavesTask } from "./remote-turns.ts";
import { type TaskConfig, readContextConfig, readTaskConfig, thrownPlace } from "./question-places.ts";

const HOOK = Symbol.for("holdpoint.remote-graph");
const MODULE = /\/@langchain\/langgraph\/dist\/pregel\/remote\.c?js(?:\?|$)/;
const LINE = `\nglobalThis[Symbol.for("holdpoint.remote-graph")]?.(RemoteGraph);\n`;

/** LangGraph's mark of an error that an answer has caused, since 1.7. */
export const INVALID_RESUME = Symbol.for("langgraph.invalid_resume");

/** Once before LangGraph loads. */
export function offerRemoteAnswers(): void {
  Object.assign(globalThis, { [HOOK]: sendRemoteAnswers });
}

/** The line for the module at `url`; null for all other modules. */
export function remoteAnswersFor(url: string): string | null {
  return MODULE.test(url) ? LINE : null;
}

interface Event {
  readonly event: string;
  readonly data: unknown;
}

type Streamed = AsyncGenerator<Event>;

interface Runs {
  readonly apiUrl?: string;
  stream(threadId: string | null, graphId: string, payload: object): Streamed;
  cancel(threadId: string, runId: string): Promise<unknown>;
  join(threadId: string, runId: string): Promise<Readonly<Record<string, unknown>>>;
}

interface Remote {
  readonly graphId: string;
  readonly config?: { readonly configurable?: Readonly<Record<string, unknown>> };
  readonly client: { readonly runs: Runs };
}

interface Options {
  readonly configurable?: Readonly<Record<string, unknown>>;
}

type Iterate = (this: Remote, input: unknown, options?: Options) => AsyncGenerator;

interface RemoteClass {
  new (fields: object): Remote;
  readonly prototype: object;
}

/** A call of a RemoteGraph by a task. */
interface Call {
  readonly remote: Remote;
  readonly task: TaskConfig;
  readonly threadId: string;
  /** Server and id of the thread. */
  readonly thread: string;
}

function sendRemoteAnswers(remoteGraph: RemoteClass): void {
  const prototype = remoteGraph.prototype as { _streamIterator: Iterate };
  const original = prototype._streamIterator;
  prototype._streamIterator = function stream(input, options) {
    const configurable = { ...this.config?.configurable, ...options?.configurable };
    const task = readTaskConfig(configurable) ?? readTaskConfig(readContextConfig()?.["configurable"]);
    const threadId = configurable["thread_id"];
    if (task === null || typeof threadId !== "string") return original.call(this, input, options);
    const call = { remote: this, task, threadId, thread: `${this.client.runs.apiUrl ?? ""} ${threadId}` };
    const runs = { stream: (...given: Parameters<Runs["stream"]>) => refusePause(call, streamRun(call, given)) };
    const own = new remoteGraph({ ...this, client: { runs } });
    return takeTurn(call, () => original.call(own, input, options));
  };
}

/** Its questions carry where they come from. */
async function* takeTurn(
  { remote, task: { places, taskId }, thread }: Call,
  stream: () => AsyncGenerator,
): AsyncGenerator {
  const turn = await places.remoteTurns.enter(thread, taskId);
  if (turn === null) throw leavesTask();
  let asks = false;
  try {
    yield* stream();
  } catch (error) {
    const { interrupts } = error as { readonly interrupts?: unknown };
    if (!Array.isArray(interrupts)) throw error;
    asks = interrupts.length > 0;
    const mark = { remote: { graph_id: remote.graphId, thread, task_id: taskId } } satisfies RemoteQuestion;
    throw Object.assign(error as object, { interrupts: interrupts.map((one: object) => ({ ...one, ...mark })) });
  } finally {
    turn.leave(asks);
  }
}

async function* refusePause({ remote, threadId }: Call, stream: Streamed): Streamed {
  for await (const one of stream) {
    if (one.event === "waiting") {
      await remote.client.runs.cancel(threadId, (one.data as { readonly run_id: string }).run_id);
      const detail = `The thread ${threadId} of the RemoteGraph waits for a person, whom another run has asked. Answer there first, or call the RemoteGraph with a thread of its own.`;
      throw new ApiError("thread_paused", detail);
    }
    yield one;
  }
}

function streamRun(call: Call, [threadId, graphId, payload]: Parameters<Runs["stream"]>): Streamed {
  const { remote, task } = call;
  const { runs } = remote.client;
  const asked = (task.places.readRaised(task.taskId) as readonly RemoteQuestion[]).filter(
    ({ remote: by }) => by?.graph_id === remote.graphId && by.thread === call.thread,
  );
  if (asked.length === 0 || (payload as { command?: unknown }).command !== undefined)
    return runs.stream(threadId, graphId, payload);
  const answers = asked.flatMap(({ id }) => {
    const carried = id === undefined ? null : task.places.findCarried(thrownPlace(task.taskId, id));
    return carried === null ? [] : [[id, carried.value] as const];
  });
  return answers.length === 0 ? continued(call, payload) : answered(call, payload, Object.fromEntries(answers));
}

async function* continued({ remote, threadId }: Call, payload: object): Streamed {
  const { runs } = remote.client;
  try {
    yield* runs.stream(threadId, remote.graphId, { ...payload, input: null });
  } catch (error) {
    if (readProblem(error).code !== "nothing_to_continue") throw error;
    yield* runs.stream(threadId, remote.graphId, payload);
  }
}

async function* answered({ remote, threadId }: Call, payload: object, resume: object): Streamed {
  const { runs } = remote.client;
  try {
    yield* runs.stream(threadId, remote.graphId, { ...payload, input: undefined, command: { resume } });
  } catch (error) {
    const { code, answered: wasAnswered } = readProblem(error);
    if (wasAnswered?.same_value === true) yield resultEvent(await runs.join(threadId, wasAnswered.run_id));
    else if (code === "interrupt_unknown" || (code === "no_pending_interrupt" && wasAnswered === undefined))
      yield* runs.stream(threadId, remote.graphId, payload);
    else throw isRefusal(error) ? refusedAnswer(error) : error;
  }
}

/** The result of a run, as the event of its stream that a RemoteGraph reads. */
function resultEvent(result: Readonly<Record<string, unknown>>): Event {
  const { __interrupt__, __error__ } = result;
  if (__error__ !== undefined) return { event: "error", data: __error__ };
  return __interrupt__ === undefined
    ? { event: "values", data: result }
    : { event: "updates", data: { __interrupt__ } };
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly answered?: { readonly run_id: string; readonly same_value?: boolean };
}

/** The error of a request of the SDK has the status and the text of the reply. */
function readProblem(error: unknown): Problem {
  const { text } = error as { readonly text?: unknown };
  try {
    const problem: unknown = typeof text === "string" ? JSON.parse(text) : null;
    return typeof problem === "object" && problem !== null ? problem : {};
  } catch {
    return {};
  }
}

/** Another answer, or another time, changes nothing about the others: connections, and servers under load. */
function isRefusal(error: unknown): boolean {
  const { status } = error as { readonly status?: unknown };
  return typeof status === "number" && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** The run fails with `answer_invalid`, and the question is open again. */
function refusedAnswer(error: unknown): Error {
  const { status } = error as { readonly status: number };
  const { code = "", detail = "" } = readProblem(error);
  const reason = `The server of the RemoteGraph refused the answer (${status} ${code}): ${detail}`;
  return Object.assign(new Error(reason, { cause: error }), { [INVALID_RESUME]: true });
}
