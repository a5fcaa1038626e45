// Start run: the one transaction that accepts a run, and with it the answers it carries.
// Invariants:
//   start-run.1. Of all calls that answer one question, the one whose update finds the thread paused wins; the others change nothing.
//   start-run.2. What a refused call would have changed is not changed: every refusal comes before the first write, or undoes it.
//   start-run.3. A run that is accepted is stored before its caller hears of it.
//   start-run.4. An Idempotency-Key gives one run, however often the call is repeated (decisive.ts, start-snapshot.1).
//   start-run.5. A thread or an assistant that is out of the caller's reach is refused like one that is not there.
//   start-run.6. A server that has lost its place among the workers accepts runs for the others.
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../base/api-error.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import type { AgentContext } from "../../context.ts";
import { noteSwitchedOff } from "../../threads/bypass.ts";
import { checkGraphCompatibility } from "./graph-compatibility.ts";
import { type StartSnapshot, goesOn, readStartSnapshot, readNewest, storedKey } from "./start-snapshot.ts";
import { type Intent, atBreakpoint, intentOf } from "../../interrupts/run-intent.ts";
import { checkClaims } from "../../interrupts/claims.ts";
import { applyMultitaskStrategy, reasonOf } from "./multitask.ts";
import type { Assistant, Caller, Interrupt, MultitaskStrategy, Run, Thread } from "../../model/model.ts";
import type { History, Tx } from "../../ports/ports.ts";
import { acceptAnswers, olderCheckpoint } from "../../interrupts/resume-rules.ts";
import { type RunCall, checkGiven, requestOf } from "./run-request.ts";
import { inScope, stamped } from "../../auth/scope.ts";
import { resolveOnStart } from "../../interrupts/resolve-on-start.ts";
import { NO_TTL, newThread } from "../../threads/new-thread.ts";
import { traceLinkOf } from "./trace-link.ts";
import { threadNotFound } from "../../threads/find-thread.ts";

/** One run that is asked for. */
export interface RunStart {
  readonly threadId: string;
  readonly call: RunCall;
  /** What has to happen in the same transaction, before anything else; what it throws refuses the run. */
  readonly first?: (tx: Tx) => Promise<void>;
  /** How the thread is made, if the call makes it. */
  readonly newThread?: Pick<Thread, "ttlMs" | "ttlStrategy" | "onCompletion">;
}

export interface StartedRun {
  readonly run: Run;
  /** False when an earlier call with the same Idempotency-Key made the run. */
  readonly created: boolean;
}

/** @throws {ApiError} for everything that resume.ts and this file refuse. */
export async function startRun(agent: AgentContext, caller: Caller, start: RunStart): Promise<StartedRun> {
  const [started] = await startAll(agent, caller, [start]);
  if (started === undefined) throw new Error("a run that was asked for was neither accepted nor refused");
  return started;
}

/**
 * Accepts all of the runs in one transaction, or none.
 * @throws {ApiError} as startRun, with `index`: which of them was refused.
 */
export async function startRuns(
  agent: AgentContext,
  caller: Caller,
  starts: readonly RunStart[],
): Promise<readonly StartedRun[]> {
  return startAll(agent, caller, starts, (error, index) =>
    error instanceof ApiError
      ? new ApiError(error.code, `Run ${index}: ${error.message}`, { ...error.extra, index }, error.headers)
      : error,
  );
}

async function startAll(
  agent: AgentContext,
  caller: Caller,
  starts: readonly RunStart[],
  describe: (error: unknown, index: number) => unknown = (error) => error,
): Promise<readonly StartedRun[]> {
  if (agent.worker.draining()) {
    throw new ApiError("shutting_down", "The server takes no new runs.", {}, { "Retry-After": "5" });
  }
  const slots = starts.map(() => agent.worker.reserve());
  const isDecided = agent.worker.ends.expect();
  try {
    const acceptAll = (): Promise<readonly Accepted[]> =>
      agent.storage.transaction(async (tx) => {
        const all: Accepted[] = [];
        for (const [index, start] of starts.entries()) {
          try {
            await start.first?.(tx);
            all.push(await accept(agent, tx, caller, start, slots[index] !== null));
          } catch (error) {
            throw describe(error, index);
          }
        }
        return all;
      });
    const accepted = await acceptAll().catch((error: unknown) => {
      agent.worker.claimFailed(error);
      if (!(error instanceof ApiError) || error.code !== "worker_not_listed") throw error;
      for (const slot of slots.splice(0, slots.length, ...slots.map(() => null))) slot?.release();
      return acceptAll(); // start-run.6
    });
    for (const [index, { run, created, history }] of accepted.entries()) {
      if (created && run.status === "running") slots[index]?.start(run, history);
    }
    for (const { left, metadata } of accepted) agent.inbox.left(left, metadata);
    for (const { cancel, run } of accepted) for (const other of cancel) tellToEnd(agent, other, run.multitaskStrategy);
    if (accepted.some(({ created, run }) => !created || run.status !== "running")) agent.worker.wake();
    return accepted;
  } finally {
    for (const slot of slots) slot?.release(); // those that have started are not held any more
    isDecided();
  }
}

function tellToEnd(agent: AgentContext, run: Run, strategy: MultitaskStrategy): void {
  if (run.status === "running") {
    agent.worker.abort(run.runId, reasonOf(strategy));
    return;
  }
  agent.worker.ends.ended(run, () => ({ run, valuesText: null, interrupts: [], pause: null }), true);
  if (run.request.webhook !== undefined) agent.webhooks.wake();
}

interface Accepted extends StartedRun {
  readonly history: History;
  /** Runs that give way to this one: those that were pending have ended, running ones are to be aborted. */
  readonly cancel: readonly Run[];
  /** What waited for a person on the thread and does not any more, with the thread's metadata. */
  readonly left: readonly Interrupt[];
  readonly metadata: JsonObject;
}

async function accept(
  agent: AgentContext,
  tx: Tx,
  caller: Caller,
  start: RunStart,
  slotFree: boolean,
): Promise<Accepted> {
  const { threadId, call } = start;
  const intent = intentOf(call.input, call.command);
  checkGiven(agent, intent);
  if (call.webhook !== null) agent.webhooks.check(call.webhook, true);
  if (call.notify !== null && call.notify !== false) agent.webhooks.check(call.notify.url, false);
  const reading = readStartSnapshot(agent, tx, caller, threadId, call, intent);
  // What a run that starts here goes on from: reading it takes two round trips, which are there anyhow.
  const newest = slotFree && goesOn(intent) && call.checkpointId === null ? readNewest(tx, threadId) : null;
  try {
    const accepted = await decide(agent, tx, caller, start, slotFree, intent, await reading);
    const history = accepted.created && accepted.history === "stored" ? await newest : null;
    return history === null ? accepted : { ...accepted, history };
  } finally {
    await newest; // nothing of this transaction is under way any more when it ends
  }
}

async function decide(
  agent: AgentContext,
  tx: Tx,
  caller: Caller,
  { threadId, call, newThread: fresh }: RunStart,
  slotFree: boolean,
  asked: Intent,
  { repeated, stored, known, assistant, writtenBy }: StartSnapshot,
): Promise<Accepted> {
  const at = agent.clock.now();
  if (repeated !== null)
    return { run: repeated, created: false, history: "stored", cancel: [], left: [], metadata: {} };
  const thread =
    found(threadId, call, stored) ??
    (await create(tx, threadId, call, fresh ?? { ...agent.limits.threadTtl, onCompletion: "keep" }, at));
  const dueAt = call.afterSeconds === 0 ? null : at + Math.ceil(call.afterSeconds * 1000);
  const forkFrom = olderCheckpoint(call, thread, known, asked);
  const intent = forkFrom === null && thread.pause === "breakpoint" ? atBreakpoint(asked) : asked;
  if (dueAt !== null) refuseDelayedAnswer(thread, intent);
  if (call.subgraph !== null) await requireCheckpoint(tx, threadId, call.subgraph.ns, call.subgraph.checkpointId);
  if (forkFrom !== null && writtenBy === null)
    throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${forkFrom}.`);
  const answers =
    intent.kind === "resume"
      ? acceptAnswers(thread, known, intent.resume, { olderCheckpoint: forkFrom, fork: intent.fork === true })
      : null;
  const breakpoint = thread.pause === "breakpoint" ? await tx.openBreakpoint(threadId) : null;
  if (call.atBreakpoint !== undefined && breakpoint?.interruptId !== call.atBreakpoint) throw passed(call.atBreakpoint);
  if (call.via === "inbox") checkClaims([...(answers?.questions ?? []), breakpoint], caller, at);
  await checkGraphCompatibility(agent, tx, thread, known, intent, assistant.graphId, forkFrom, writtenBy);

  const queued = thread.status === "busy";
  const cancel = await applyMultitaskStrategy(agent, tx, caller, threadId, queued, call.multitaskStrategy, at);
  const continuesPause = thread.status === "interrupted" && (intent.kind === "resume" || intent.kind === "continue");
  // Runs are held while a thread is paused, and they were there first.
  const behindHeld = thread.status === "interrupted" && !continuesPause && (await tx.hasPendingRun(threadId));
  const claimed = !queued && dueAt === null && slotFree && !behindHeld;
  if (!claimed && (await agent.queueLimit.isFull(tx))) {
    throw new ApiError("overloaded", "Too many runs wait in the queue.", {}, { "Retry-After": "5" });
  }
  const fromBefore = continuesPause || forkFrom !== null;
  const waits = answers?.questions ?? (continuesPause && breakpoint !== null ? [breakpoint] : []);
  const trace = fromBefore
    ? await traceLinkOf(
        tx,
        caller,
        waits,
        known.filter(({ state }) => state === "open"),
      )
    : null;
  const asAnswer = answers !== null && forkFrom === null; // it goes on at the pause, whatever checkpoint named that
  const request = requestOf(
    agent,
    caller,
    asAnswer ? { ...call, subgraph: null } : call,
    intent,
    answers,
    assistant,
    thread.config,
    forkFrom,
    continuesPause,
  );
  const run: Run = {
    runId: agent.newId(),
    threadId,
    assistantId: assistant.assistantId,
    graphId: assistant.graphId,
    status: claimed ? "running" : "pending",
    endedBy: null,
    attempt: claimed ? 1 : 0,
    crashes: 0,
    suspicions: 0,
    alone: 0,
    storageFailures: 0,
    workerId: claimed ? agent.worker.id() : null,
    createdAt: at,
    updatedAt: at,
    metadata: {
      ...call.metadata,
      created_by: "system",
      graph_id: assistant.graphId,
      assistant_id: assistant.assistantId,
    },
    multitaskStrategy: call.multitaskStrategy,
    dueAt,
    request: trace === null ? request : { ...request, trace },
    input: intent.kind === "input" ? agent.graphs.encode(intent.input) : null,
    error: null,
    checkpointId: null,
    overlay: null,
    pausedOn: [],
  };
  const changed = graphChange(thread, assistant, run.request.config);
  let left: readonly Interrupt[] = [];
  if (queued || dueAt !== null) {
    if (changed.metadata !== undefined) await tx.updateThread(threadId, { metadata: changed.metadata });
  } else {
    await tx.takeThread(threadId, thread.status, { ...changed, updatedAt: at }); // start-run.1
    left = await resolveOnStart(tx, caller, thread, known, breakpoint, intent, answers, run, forkFrom, at, call.via);
  }
  await tx.insertRun(run);
  await noteSwitchedOff(agent, tx, caller, run);
  if (!claimed && (!queued || dueAt !== null)) await tx.queueRun(run); // on a busy thread the end of its run does
  if (call.idempotencyKey !== null) {
    const key = storedKey(caller, call, call.idempotencyKey);
    await tx.putIdempotency({ key, requestHash: call.requestHash, threadId, runId: run.runId, createdAt: at }); // start-run.4
  }
  const history = thread.checkpointId === null ? "none" : "stored";
  return { run, created: true, history, cancel, left, metadata: thread.metadata };
}

function passed(breakpointId: string): ApiError {
  return new ApiError("interrupt_stale", `The thread is not paused at the breakpoint ${breakpointId} any more.`);
}

/** @throws {ApiError} `checkpoint_not_found` */
async function requireCheckpoint(tx: Tx, threadId: string, ns: string, checkpointId: string): Promise<void> {
  if ((await tx.checkpoint(threadId, ns, checkpointId)) !== null) return;
  throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${checkpointId} in "${ns}".`);
}

/** Clients find threads by the graph and assistant in their metadata, and see the config of the newest run. */
function graphChange(thread: Thread, { graphId, assistantId }: Assistant, config: JsonObject): Partial<Thread> {
  const { metadata } = thread;
  const known = metadata["graph_id"] === graphId && metadata["assistant_id"] === assistantId;
  return {
    ...(known ? {} : { metadata: { ...metadata, graph_id: graphId, assistant_id: assistantId } }),
    ...(thread.graphId === graphId ? {} : { graphId }),
    ...(thread.assistantId === assistantId ? {} : { assistantId }),
    ...(isDeepStrictEqual(thread.config, config) ? {} : { config }),
  };
}

/** start-run.5. @returns null when the thread is to be made. */
function found(threadId: string, call: RunCall, thread: Thread | null): Thread | null {
  if (thread !== null && inScope(thread.metadata, call.reach.threads)) return thread;
  if (thread !== null || call.ifNotExists === "reject") throw threadNotFound(threadId);
  return null;
}

async function create(
  tx: Tx,
  threadId: string,
  call: RunCall,
  fresh: RunStart["newThread"],
  at: number,
): Promise<Thread> {
  const created = { ...newThread(threadId, stamped(call.metadata, call.reach.threads), NO_TTL, at), ...fresh };
  await tx.insertThread(created);
  return created;
}

/** What ends a pause has the thread from the moment it is accepted, so it cannot begin later. */
function refuseDelayedAnswer(thread: Thread, intent: Intent): void {
  const continues = thread.status === "interrupted" && intent.kind === "continue";
  if (intent.kind !== "resume" && !continues) return;
  throw new ApiError("answer_delayed", "An answer, or going on after a pause, cannot have after_seconds.");
}
