// Run acceptance: the decision about one requested run, and its writes, inside the transaction of start-run.ts.
// Checks come first: thread, target, compatibility, strategy, queue. Then the run claims its thread and is stored.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Tenant } from "../../auth/tenants.ts";
import { requireRight } from "../../auth/authorize.ts";
import { inScope, stamped } from "../../auth/scope.ts";
import type { AgentContext } from "../../context/context.ts";
import { FIRST_EVENT } from "../../events/event-log.ts";
import { storeBegin } from "../../events/first-event-id.ts";
import { noteClosed, noteEnd, type NotePorts } from "../../events/thread-note.ts";
import { dropLostVotes } from "../../interrupts/current-votes.ts";
import { decideOnPaused, type PausedDecision } from "../../interrupts/on-paused.ts";
import { storeVotes } from "../../interrupts/settle-votes.ts";
import { resolveOnStart } from "../../interrupts/resolve-on-start.ts";
import { nameAuthor } from "../../model/audit-author.ts";
import type { Assistant, AuditVia, Caller, Interrupt, NewRunWebhook, Run, Thread } from "../../model/model.ts";
import type { AcceptTx, EventTx, History, TenantTx, ThreadTx, Tx, WebhookTx } from "../../ports/ports.ts";
import { leavesRules, noteDisabledBreakpoints, requireRights } from "../../threads/bypass.ts";
import { type Behind, findBehind, noteBypassed } from "../../threads/behind-review.ts";
import { threadNotFound } from "../../threads/find-thread.ts";
import { changeGraph } from "../../threads/graph-change.ts";
import { NO_TTL, newThread } from "../../threads/new-thread.ts";
import { findAsker } from "./continuation.ts";
import { checkGraphCompatibility } from "./graph-compatibility.ts";
import { newRun } from "./new-run.ts";
import { withOwnMembers } from "./only-answer.ts";
import { type RunCall, buildRunRequest } from "./run-request.ts";
import { continuesThread, scopeIdempotencyKey, readNewest, readStartSnapshot } from "./start-snapshot.ts";
import { findFirstRun } from "../../webhooks/a2a-event.ts";
import { findTraceLink } from "./trace-link.ts";
import { refuseOnRequest } from "./request-only.ts";
import type { RunStart, GivenStart, StartRequest } from "./run-start.ts";
import { type Target, answererFor, chooseTarget, answeredWaits } from "./run-target.ts";
import { placeInQueue } from "./queue-placement.ts";

export interface StartedRun {
  readonly run: Run;
  /** False if an earlier call with the same Idempotency-Key created the run. */
  readonly created: boolean;
  /** Interrupts that stay open: the answers to them only counted as votes. */
  readonly voted: readonly Interrupt[];
}

/** A call whose answers all counted as votes only: there is no run. */
export interface VotesOnly {
  readonly run: null;
  readonly voted: readonly Interrupt[];
  readonly metadata: JsonObject;
}

export interface Accepted extends StartedRun {
  readonly history: History;
  /** The first event of a run that starts at once is stored. */
  readonly isBegun: boolean;
  /** Runs displaced by this one: pending ones have ended, running ones are to be aborted after the commit. */
  readonly displaced: readonly Run[];
  /** Inbox items closed by this run, with the metadata of the thread. */
  readonly closed: readonly Interrupt[];
  /** The channel of the answers. */
  readonly via: AuditVia;
  readonly metadata: JsonObject;
}

/** @throws {ApiError} for every refusal */
export async function acceptRun(
  agent: AgentContext,
  tx: AcceptTx,
  caller: Caller,
  start: GivenStart,
): Promise<Accepted | VotesOnly> {
  const { threadId, call, slotFree } = start;
  const { intent } = start.given;
  if (call.webhook !== null) agent.webhooks.check(call.webhook, true);
  if (call.notify !== null && call.notify !== false) agent.webhooks.check(call.notify.url, false);
  for (const { url } of call.webhooks ?? []) agent.webhooks.check(url, false);
  const reading = readStartSnapshot(agent.graphs, tx, { caller, threadId, call, intent });
  // Starting point of a run that starts here, read along with the two round trips of the snapshot.
  const newest = slotFree && continuesThread(intent) && call.checkpointId === null ? readNewest(tx, threadId) : null;
  try {
    const snapshot = await reading;
    if (snapshot.repeated !== null) return repeatedRun(snapshot.repeated);
    const accepted = await decide(agent, tx, { caller, start, intent, snapshot, at: agent.clock.now() });
    if (accepted.run === null) return accepted;
    const history = accepted.history === "stored" ? await newest : null;
    return history === null ? accepted : { ...accepted, history };
  } finally {
    await newest; // no statement of the transaction may be in flight at its end
  }
}

function repeatedRun(run: Run): Accepted {
  return {
    run,
    created: false,
    history: "stored",
    isBegun: false,
    displaced: [],
    closed: [],
    via: "api",
    voted: [],
    metadata: {},
  };
}

async function decide(agent: AgentContext, tx: AcceptTx, asked: StartRequest): Promise<Accepted | VotesOnly> {
  const { caller, at } = asked;
  const { threadId, call } = asked.start;
  const { assistant, known, stored } = asked.snapshot;
  const thread =
    visibleThread(threadId, call, stored) ?? (await createThread(tx, agent.limits.threadTtl, asked.start, at));
  const asksRequest = call.asksRequest === true;
  refuseOnRequest({ thread, graphId: assistant.graphId, intent: asked.intent, asksRequest });
  const { request, waits, refusesPause } = await inViewOfPause(agent, tx, thread, asked);
  const { start, snapshot } = request;
  const withoutLost = (items: readonly Interrupt[]) => dropLostVotes(agent, tx, items, thread.metadata);
  const current = { ...snapshot, known: await withoutLost(known) };
  const target = await chooseTarget(tx, thread, { ...request, snapshot: current, waits }, withoutLost);
  const { intent, forkFrom, answers, breakpoint, voted } = target;
  const behind = await findBehind(tx, thread, { ...target, later: findLater(thread, request, waits) });
  const tenant = await admit(agent, tx, { request, thread, target, behind });
  const answering = { caller, chooseAnswerer: answererFor(call, caller), via: call.via, at };
  await storeVotes(tx, target.changed, answering);
  if (answers !== null || voted.length > 0) await start.answered?.(tx);
  if (answers === null && voted.length > 0) return { run: null, voted, metadata: thread.metadata };
  await checkGraphCompatibility(agent.graphs, tx, {
    thread,
    known,
    intent,
    graphId: assistant.graphId,
    forkFrom,
    writtenBy: snapshot.writtenBy,
  });
  const placement = await placeInQueue(agent, tx, thread, { ...request, intent, waits });
  const { busy, dueAt, continuesPause, claimed, displaced } = placement;
  const asAnswer = answers !== null && forkFrom === null; // it resumes at the pause, for any checkpoint in the call
  const open = filterOpen(known);
  const asker = await findAsker(tx, { thread, intent, answered: answers?.interrupts ?? [], open, breakpoint });
  const built = buildRunRequest({
    headers: agent.headers,
    caller,
    call: asAnswer ? { ...call, subgraph: null } : call,
    intent,
    answers,
    assistant,
    threadConfig: thread.config,
    asker,
    checkpointId: forkFrom,
    goesFirst: continuesPause,
    refusesPause: refusesPause && (busy || dueAt !== null),
  });
  const isAsAsked = target.isReviewed && asker?.assistantId === assistant.assistantId;
  const runRequest = isAsAsked && asker !== null ? withOwnMembers(built, asker) : built;
  const isTraced = continuesPause || forkFrom !== null;
  const waited = answeredWaits(target, continuesPause);
  const trace = isTraced ? await findTraceLink(tx, { caller, asker }, waited, open) : null;
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
  agent.graphs.checkContext(run);
  const changed = changeGraph(thread, assistant, run.request.config);
  let closed: readonly Interrupt[] = [];
  if (busy || dueAt !== null) {
    if (changed.metadata !== undefined) await tx.updateThread(threadId, { metadata: changed.metadata });
  } else {
    await tx.takeThread(threadId, thread.status, { ...changed, updatedAt: at });
    const resolved = { ...answering, run, intent, answers, forkFrom, thread, known, breakpoint };
    closed = await resolveOnStart(tx, resolved);
  }
  await noteChanges(tx, { displaced, closed }, { newId: agent.newId, at, goneAt: agent.events.goneAt(run) });
  const isBegun = await store(agent, tx, { caller, start, run, tenant, behind });
  await putWebhooks(agent, tx, run, call.webhooks ?? []);
  const history = thread.checkpointId === null ? "none" : "stored";
  const via = nameAuthor(caller, call.via).via ?? "api";
  return { run, created: true, history, isBegun, displaced, closed, via, voted, metadata: thread.metadata };
}

/** @returns the assistant of a run that does not start at once */
function findLater({ status }: Thread, { start, snapshot }: StartRequest, waits: boolean): Assistant | null {
  return waits || status === "busy" || start.call.afterSeconds !== 0 ? snapshot.assistant : null;
}

/** The run ends or continues what the thread waits for. */
function isAsked({ status }: Pick<Thread, "status">, { intent, answers, forkFrom, voted }: Target): boolean {
  if (forkFrom !== null) return false;
  if (answers !== null || voted.length > 0 || intent.kind === "end_thread") return true;
  return status === "interrupted" && intent.kind === "continue";
}

/** on-paused.ts. An input that counts as the answer becomes one. */
async function inViewOfPause(
  { limits: { answerBytesMax } }: AgentContext,
  tx: Pick<Tx, "checkpointFingerprint">,
  thread: Thread,
  asked: StartRequest,
): Promise<Omit<PausedDecision, "intent"> & { readonly request: StartRequest }> {
  const { start, snapshot } = asked;
  const { assistant, known } = snapshot;
  const { onPaused, multitaskStrategy, via } = start.call;
  const chosen = { onPaused, multitaskStrategy, assistant: assistant.metadata };
  const call = { thread, known, intent: asked.intent, ...chosen, answerBytesMax, via };
  const { intent, ...decided } = decideOnPaused(call);
  if (intent === asked.intent) return { request: asked, ...decided };
  const writtenBy = await tx.checkpointFingerprint(thread.threadId, null);
  const given = { intent, input: null, inputHash: null };
  return {
    request: { ...asked, intent, start: { ...start, given }, snapshot: { ...snapshot, writtenBy } },
    ...decided,
  };
}

/** For readers of the thread: displaced runs that had not started, and questions that this run closed. */
async function noteChanges(
  tx: EventTx,
  { displaced, closed }: Pick<Accepted, "displaced" | "closed">,
  note: NotePorts,
): Promise<void> {
  for (const other of displaced) {
    if (other.status !== "running") await noteEnd(tx, { run: other }, note);
  }
  for (const how of ["answered", "abandoned"] as const) {
    const items = closed.filter(({ state }) => state === how);
    await noteClosed(tx, items, how, note);
  }
}

interface Targeted {
  readonly request: StartRequest;
  readonly thread: Thread;
  readonly target: Target;
  readonly behind: Behind | null;
}

/** @returns the tenant that the run adds to @throws {ApiError} `forbidden`, `limit_reached` */
async function admit(
  agent: AgentContext,
  tx: Pick<Tx, "assistant"> & TenantTx,
  { request, thread, target, behind }: Targeted,
): Promise<Tenant | null> {
  const { caller, start, snapshot } = request;
  const { intent, waiting } = target;
  const { rights = {}, interruptBefore: before, interruptAfter: after } = start.call;
  const { assistantId, graphId } = snapshot.assistant;
  if (target.decides) requireRight(rights.answer, "threads:answer", thread);
  requireRights({
    rights,
    thread,
    isPaused: thread.status === "interrupted" || waiting.length > 0,
    intent,
    graph: agent.graphs.describe(graphId),
    breakpoints: { before, after },
    behind,
    leavesRules: await leavesRules(tx, waiting, assistantId),
  });
  const tenant = isAsked(thread, target) ? null : (agent.tenants?.find(caller) ?? null);
  await tenant?.admitRun(tx);
  return tenant;
}

async function putWebhooks(
  agent: AgentContext,
  tx: WebhookTx,
  run: Run,
  webhooks: readonly NewRunWebhook[],
): Promise<void> {
  const { threadId, createdAt } = run;
  for (const { webhookId, ...given } of webhooks) {
    const place = { threadId, runId: findFirstRun(run), webhookId: webhookId ?? agent.newId() };
    await tx.putRunWebhook({ ...given, ...place, createdAt });
  }
}

function filterOpen(known: readonly Interrupt[]): readonly Interrupt[] {
  return known.filter(({ state }) => state === "open");
}

/** @returns whether the first event of the run is stored with it */
async function store(
  agent: AgentContext,
  tx: AcceptTx,
  stored: {
    readonly caller: Caller;
    readonly start: GivenStart;
    readonly run: Run;
    readonly tenant: Tenant | null;
    readonly behind: Behind | null;
  },
): Promise<boolean> {
  const { caller, run, tenant, behind } = stored;
  const { call, given } = stored.start;
  await tx.insertRun(run, given.inputHash);
  if (tenant !== null) await tx.ownThread(run.threadId, tenant.name);
  if (agent.tenants !== undefined) await tx.ownRun(run.runId);
  await noteDisabledBreakpoints(agent, tx, caller, run);
  const { threadId, runId, createdAt, status } = run;
  if (behind !== null) await noteBypassed(tx, behind, caller, { threadId, runId, at: createdAt });
  if (status === "pending") await tx.queueNext(threadId);
  if (call.idempotencyKey !== null) {
    const key = scopeIdempotencyKey(caller, call, call.idempotencyKey);
    await tx.putIdempotency({ key, requestHash: call.requestHash, threadId, runId, createdAt });
  }
  if (status !== "running") return false;
  return (await storeBegin(tx, run, FIRST_EVENT, { wakes: agent.events.wakes, at: createdAt })).isBegun;
}

/** @returns null if the call creates the thread */
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
