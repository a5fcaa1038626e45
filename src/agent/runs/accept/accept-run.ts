// Run acceptance: the decision about one requested run, and its writes, inside the transaction of start-run.ts.
// Checks come first: thread, target, compatibility, strategy, queue. Then the run claims its thread and is stored.
import { ApiError } from "../../../base/api-error.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { inScope, stamped } from "../../auth/scope.ts";
import type { AgentContext } from "../../context.ts";
import { noteClosed, noteEnd } from "../../events/thread-note.ts";
import { assignmentRefusal, requireAssignable } from "../../interrupts/assignments.ts";
import { resolveOnStart } from "../../interrupts/resolve-on-start.ts";
import { type AcceptedAnswers, acceptAnswers, olderCheckpoint } from "../../interrupts/resume-rules.ts";
import { type Intent, atBreakpoint, intentOf } from "../../interrupts/run-intent.ts";
import type { Caller, Encoded, Interrupt, Run, Thread } from "../../model/model.ts";
import type { CheckpointTx, Graphs, History, ThreadTx, Tx } from "../../ports/ports.ts";
import { noteDisabledBreakpoints } from "../../threads/bypass.ts";
import { threadNotFound } from "../../threads/find-thread.ts";
import { NO_TTL, newThread } from "../../threads/new-thread.ts";
import { checkGraphCompatibility } from "./graph-compatibility.ts";
import { applyMultitaskStrategy } from "./multitask.ts";
import { graphChangeOf, newRun } from "./new-run.ts";
import { type RunCall, checkControlValuesInSlices, runRequestOf } from "./run-request.ts";
import {
  type StartSnapshot,
  continuesThread,
  idempotencyKeyOf,
  readNewest,
  readStartSnapshot,
} from "./start-snapshot.ts";
import { traceLinkOf } from "./trace-link.ts";

/** A requested run. */
export interface RunStart {
  readonly threadId: string;
  readonly call: RunCall;
  /** Precondition in the same transaction. An error from it refuses the run. */
  readonly first?: (tx: Tx) => Promise<void>;
  /** Properties of the thread, if the call creates it. */
  readonly newThread?: Pick<Thread, "ttlMs" | "ttlStrategy" | "onCompletion">;
}

export interface StartedRun {
  readonly run: Run;
  /** False if an earlier call with the same Idempotency-Key created the run. */
  readonly created: boolean;
}

export interface Accepted extends StartedRun {
  readonly history: History;
  /** Runs displaced by this one: pending ones have ended, running ones are to be aborted after the commit. */
  readonly displaced: readonly Run[];
  /** Inbox items closed by this run, with the metadata of the thread. */
  readonly closed: readonly Interrupt[];
  readonly metadata: JsonObject;
}

/** Intent and input of a call, checked and encoded before the transaction: a long input takes several turns. */
export interface GivenByCall {
  readonly intent: Intent;
  readonly input: Encoded | null;
}

/** @throws {ApiError} `control_value_refused` */
export async function readGiven(
  graphs: Pick<Graphs, "checkGivenInSlices" | "encode">,
  call: RunCall,
): Promise<GivenByCall> {
  const intent = intentOf(call.input, call.command);
  await checkControlValuesInSlices(graphs, intent);
  return { intent, input: intent.kind === "input" ? await graphs.encode(intent.input) : null };
}

type GivenStart = RunStart & { readonly given: GivenByCall; readonly slotFree: boolean };

/** @throws {ApiError} for every refusal */
export async function acceptRun(agent: AgentContext, tx: Tx, caller: Caller, start: GivenStart): Promise<Accepted> {
  const { threadId, call, slotFree } = start;
  const { intent } = start.given;
  if (call.webhook !== null) agent.webhooks.check(call.webhook, true);
  if (call.notify !== null && call.notify !== false) agent.webhooks.check(call.notify.url, false);
  const reading = readStartSnapshot(agent.graphs, tx, { caller, threadId, call, intent });
  // Starting point of a run that starts here, read along with the two round trips of the snapshot.
  const newest = slotFree && continuesThread(intent) && call.checkpointId === null ? readNewest(tx, threadId) : null;
  try {
    const snapshot = await reading;
    if (snapshot.repeated !== null) return repeatedRun(snapshot.repeated);
    const accepted = await decide(agent, tx, { caller, start, intent, snapshot, at: agent.clock.now() });
    const history = accepted.history === "stored" ? await newest : null;
    return history === null ? accepted : { ...accepted, history };
  } finally {
    await newest; // no statement of the transaction may be in flight at its end
  }
}

function repeatedRun(run: Run): Accepted {
  return { run, created: false, history: "stored", displaced: [], closed: [], metadata: {} };
}

interface Request {
  readonly caller: Caller;
  readonly start: GivenStart;
  /** As the call has it. */
  readonly intent: Intent;
  readonly snapshot: StartSnapshot;
  readonly at: number;
}

async function decide(agent: AgentContext, tx: Tx, request: Request): Promise<Accepted> {
  const { caller, start, snapshot, at } = request;
  const { threadId, call } = start;
  const { assistant, known } = snapshot;
  const thread =
    visibleThread(threadId, call, snapshot.stored) ?? (await createThread(tx, agent.limits.threadTtl, start, at));
  const target = await targetOf(tx, thread, request);
  const { intent, forkFrom, answers, breakpoint } = target;
  await checkGraphCompatibility(agent.graphs, tx, {
    thread,
    known,
    intent,
    graphId: assistant.graphId,
    forkFrom,
    writtenBy: snapshot.writtenBy,
  });
  const placement = await placeInQueue(agent, tx, thread, { ...request, intent });
  const { busy, dueAt, continuesPause, claimed } = placement;
  const asAnswer = answers !== null && forkFrom === null; // it resumes at the pause, for any checkpoint in the call
  const runRequest = runRequestOf({
    headers: agent.headers,
    caller,
    call: asAnswer ? { ...call, subgraph: null } : call,
    intent,
    answers,
    assistant,
    threadConfig: thread.config,
    checkpointId: forkFrom,
    goesFirst: continuesPause,
  });
  const trace =
    continuesPause || forkFrom !== null
      ? await traceLinkOf(tx, caller, answeredWaits(target, continuesPause), openOf(known))
      : null;
  const run = newRun({
    runId: agent.newId(),
    threadId,
    call,
    assistant,
    workerId: claimed ? agent.worker.id() : null,
    claimed,
    dueAt,
    request: trace === null ? runRequest : { ...runRequest, trace },
    input: start.given.input,
    at,
  });
  const changed = graphChangeOf(thread, assistant, run.request.config);
  let closed: readonly Interrupt[] = [];
  if (busy || dueAt !== null) {
    if (changed.metadata !== undefined) await tx.updateThread(threadId, { metadata: changed.metadata });
  } else {
    await tx.takeThread(threadId, thread.status, { ...changed, updatedAt: at }); // start-run.1
    closed = await resolveOnStart(tx, {
      caller,
      via: call.via,
      run,
      intent,
      answers,
      forkFrom,
      thread,
      known,
      breakpoint,
      at,
    });
  }
  const note = { newId: agent.newId, at, goneAt: agent.events.goneAt(run) };
  for (const other of placement.displaced) {
    if (other.status !== "running") await noteEnd(tx, { run: other }, note);
  }
  for (const how of ["answered", "abandoned"] as const) {
    const items = closed.filter(({ state }) => state === how);
    await noteClosed(tx, items, how, note);
  }
  await store(agent, tx, { caller, call, run, enqueue: !claimed && (!busy || dueAt !== null) });
  const history = thread.checkpointId === null ? "none" : "stored";
  return { run, created: true, history, displaced: placement.displaced, closed, metadata: thread.metadata };
}

interface Target {
  /** The intent in view of the thread: a bare value at a breakpoint continues it. */
  readonly intent: Intent;
  /** Checkpoint of a fork; null if the run continues the thread. */
  readonly forkFrom: string | null;
  readonly answers: AcceptedAnswers | null;
  readonly breakpoint: Interrupt | null;
}

/** @throws {ApiError} for a checkpoint that does not exist, and for every refused answer */
async function targetOf(
  tx: Tx,
  thread: Thread,
  { caller, start: { call }, intent: given, snapshot, at }: Request,
): Promise<Target> {
  const { known, writtenBy } = snapshot;
  const { threadId } = thread;
  const forkFrom = olderCheckpoint(call, thread, known, given);
  const intent = forkFrom === null && thread.pause === "breakpoint" ? atBreakpoint(given) : given;
  if (call.afterSeconds !== 0) refuseDelayedAnswer(thread, intent);
  if (call.subgraph !== null) await requireCheckpoint(tx, threadId, call.subgraph.ns, call.subgraph.checkpointId);
  if (forkFrom !== null && writtenBy === null)
    throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${forkFrom}.`);
  const fromInbox = call.via === "inbox";
  const answers =
    intent.kind === "resume"
      ? acceptAnswers(thread, known, intent.resume, {
          olderCheckpoint: forkFrom,
          fork: intent.fork === true,
          ...(fromInbox ? { refusal: (one: Interrupt) => assignmentRefusal(one, caller, at) } : {}),
        })
      : null;
  const breakpoint = thread.pause === "breakpoint" ? await tx.openBreakpoint(threadId) : null;
  if (call.atBreakpoint !== undefined && breakpoint?.interruptId !== call.atBreakpoint) {
    const detail = `The thread is not paused at the breakpoint ${call.atBreakpoint} any more.`;
    throw new ApiError("interrupt_stale", detail);
  }
  if (fromInbox && breakpoint !== null) requireAssignable(breakpoint, caller, at);
  return { intent, forkFrom, answers, breakpoint };
}

/** The human waits that the run ends. */
function answeredWaits({ answers, breakpoint }: Target, continuesPause: boolean): readonly Interrupt[] {
  return answers?.interrupts ?? (continuesPause && breakpoint !== null ? [breakpoint] : []);
}

function openOf(known: readonly Interrupt[]): readonly Interrupt[] {
  return known.filter(({ state }) => state === "open");
}

interface Placement {
  /** The thread has a run in progress. */
  readonly busy: boolean;
  readonly dueAt: number | null;
  readonly continuesPause: boolean;
  /** The run starts in the free slot of this process. */
  readonly claimed: boolean;
  readonly displaced: readonly Run[];
}

/** @throws {ApiError} `thread_busy`, `overloaded` */
async function placeInQueue(
  agent: AgentContext,
  tx: Tx,
  thread: Thread,
  { caller, start: { call, slotFree }, intent, at }: Request,
): Promise<Placement> {
  const { threadId } = thread;
  const dueAt = call.afterSeconds === 0 ? null : at + Math.ceil(call.afterSeconds * 1000);
  const busy = thread.status === "busy";
  const strategy = call.multitaskStrategy;
  const displaced = await applyMultitaskStrategy(agent.graphs, tx, { caller, threadId, busy, strategy, at });
  const paused = thread.status === "interrupted";
  const continuesPause = paused && (intent.kind === "resume" || intent.kind === "continue");
  // A paused thread holds its pending runs, and they precede this one.
  const behindHeld = paused && !continuesPause && (await tx.hasPendingRun(threadId));
  const claimed = !busy && dueAt === null && slotFree && !behindHeld;
  if (!claimed && (await agent.queueLimit.isFull(tx))) {
    throw new ApiError("overloaded", "The run queue is full.", {}, { "Retry-After": "5" });
  }
  return { busy, dueAt, continuesPause, claimed, displaced };
}

async function store(
  agent: AgentContext,
  tx: Tx,
  stored: { readonly caller: Caller; readonly call: RunCall; readonly run: Run; readonly enqueue: boolean },
): Promise<void> {
  const { caller, call, run } = stored;
  await tx.insertRun(run);
  await noteDisabledBreakpoints(agent, tx, caller, run);
  if (stored.enqueue) await tx.queueRun(run); // on a busy thread, the end of its run enqueues it
  if (call.idempotencyKey === null) return;
  const { threadId, runId, createdAt } = run;
  const key = idempotencyKeyOf(caller, call, call.idempotencyKey);
  await tx.putIdempotency({ key, requestHash: call.requestHash, threadId, runId, createdAt }); // start-run.4
}

/** @throws {ApiError} `checkpoint_not_found` */
async function requireCheckpoint(
  tx: Pick<CheckpointTx, "checkpoint">,
  threadId: string,
  ns: string,
  checkpointId: string,
): Promise<void> {
  if ((await tx.checkpoint(threadId, ns, checkpointId)) !== null) return;
  throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${checkpointId} in "${ns}".`);
}

/** start-run.5. @returns null if the call creates the thread */
function visibleThread(threadId: string, call: RunCall, thread: Thread | null): Thread | null {
  if (thread !== null && inScope(thread.metadata, call.reach.threads)) return thread;
  if (thread !== null || call.ifNotExists === "reject") throw threadNotFound(threadId);
  return null;
}

async function createThread(
  tx: Pick<ThreadTx, "insertThread">,
  defaultTtl: Pick<Thread, "ttlMs" | "ttlStrategy">,
  { threadId, call, newThread: given = { ...defaultTtl, onCompletion: "keep" } }: RunStart,
  at: number,
): Promise<Thread> {
  const created = { ...newThread(threadId, stamped(call.metadata, call.reach.threads), NO_TTL, at), ...given };
  await tx.insertThread(created);
  return created;
}

/** A run that ends a pause claims the thread at acceptance, so it cannot start later. */
function refuseDelayedAnswer(thread: Thread, intent: Intent): void {
  const continues = thread.status === "interrupted" && intent.kind === "continue";
  if (intent.kind !== "resume" && !continues) return;
  throw new ApiError("answer_delayed", "A run that answers or continues a pause cannot have after_seconds.");
}
