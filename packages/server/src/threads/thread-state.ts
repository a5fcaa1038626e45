// Thread state: current state, history, and edits.
// Invariants:
//   - A busy thread cannot be edited.
//   - One transaction stores an edit with its effects on interrupts and status.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import { NOTE_KEPT_MS, noteClosed } from "../events/thread-note.ts";
import { buildBreakpoint } from "../interrupts/breakpoint.ts";
import { requireRight, type Right } from "../auth/authorize.ts";
import { findReviewed, findRootCheckpoint, needsBypass, noteBypassed, type ReviewTx } from "./behind-review.ts";
import { actsFor } from "./bypass.ts";
import type { Caller, Interrupt, Thread, WriteSet } from "../model/model.ts";
import { nameAuthor } from "../model/audit-author.ts";
import type {
  CheckpointQuery,
  CheckpointTx,
  InterruptTx,
  StateAddress,
  StateCheckpoint,
  StateSnapshot,
  StateUpdate,
  TenantTx,
  ThreadTx,
  Tx,
} from "../ports/ports.ts";
import { removeIfDone } from "./ephemeral-thread.ts";
import { refuseChange } from "../model/request.ts";
import { builtInAssistantId } from "../model/built-in-assistant.ts";
import { nextThreadStatus } from "../model/status.ts";
import { excludeAuthors, lostVotes, underSameRules, withoutVotes } from "../model/review/four-eyes.ts";
import { buildReview } from "../model/review/review-rules.ts";
import { withStarter } from "./starters.ts";
import { allOpenItems, requireThread } from "./find-thread.ts";

export interface StateView {
  readonly state: StateSnapshot;
  readonly known: readonly Interrupt[];
  /** True for the current state of the thread. */
  readonly newest: boolean;
}

interface Known {
  readonly thread: Thread;
  readonly known: readonly Interrupt[];
  readonly graphId: string | null;
}

async function lookUp(agent: AgentContext, threadId: string): Promise<Known> {
  return agent.storage.transaction(async (tx) => {
    const thread = await requireThread(tx, threadId);
    const named = thread.graphId ?? thread.metadata["graph_id"];
    return { thread, known: await tx.interrupts(threadId, null), graphId: typeof named === "string" ? named : null };
  });
}

export interface StateQuery {
  readonly checkpointId: string | null;
  readonly ns: string;
  readonly subgraphs: boolean;
}

const EMPTY_STATE: StateSnapshot = {
  values: {},
  next: [],
  tasks: [],
  metadata: {},
  createdAt: null,
  checkpoint: null,
  parentCheckpoint: null,
};

/** @throws {ApiError} `checkpoint_not_found`; a thread without a run has an empty state */
export async function getState(agent: AgentContext, threadId: string, query: StateQuery): Promise<StateView> {
  const { thread, known, graphId } = await lookUp(agent, threadId);
  if (graphId === null) {
    if (query.checkpointId !== null) throw noCheckpoint(query.checkpointId);
    return { state: EMPTY_STATE, known, newest: true };
  }
  requireGraph(agent, graphId);
  const address: StateAddress = { threadId, graphId, ns: query.ns, checkpointId: query.checkpointId };
  const state = await agent.graphs.state(address, { subgraphs: query.subgraphs });
  if (query.checkpointId !== null && state.createdAt === null) throw noCheckpoint(query.checkpointId);
  const newest =
    thread.status === "interrupted" && (query.ns !== "" || state.checkpoint?.checkpoint_id === thread.checkpointId);
  return { state, known, newest: newest || query.checkpointId === null };
}

function noCheckpoint(checkpointId: string): ApiError {
  return new ApiError("checkpoint_not_found", `The thread has no checkpoint ${checkpointId}.`);
}

function requireGraph(agent: AgentContext, graphId: string): void {
  if (agent.graphs.describe(graphId) === null) {
    const missing = `The thread belongs to the graph ${graphId}, which is not deployed.`;
    throw new ApiError("assistant_not_found", agent.graphs.loadProblem(graphId) ?? missing);
  }
}

/** Newest first; reads each state on demand. */
export async function* getHistory(
  agent: AgentContext,
  threadId: string,
  query: CheckpointQuery,
): AsyncGenerator<StateView> {
  const { thread, known, graphId } = await lookUp(agent, threadId);
  if (graphId === null) return;
  requireGraph(agent, graphId);
  for await (const state of agent.graphs.history({ threadId, graphId, ns: query.ns, checkpointId: null }, query)) {
    const newest = query.ns === "" && state.checkpoint?.checkpoint_id === thread.checkpointId;
    yield { state, known, newest };
  }
}

export interface StateEdit extends StateUpdate {
  readonly checkpointId: string | null;
  readonly ns: string;
  /** To act for nodes past a human decision; undefined if the edit acts for none. */
  readonly right: Right | undefined;
}

/** @throws {ApiError} `checkpoint_not_found`: the library would edit an empty state in its place */
async function lookUpAt(agent: AgentContext, threadId: string, { ns, checkpointId }: StateEdit): Promise<Known> {
  const known = await lookUp(agent, threadId);
  if (checkpointId === null) return known;
  if ((await agent.storage.read((tx) => tx.checkpoint(threadId, ns, checkpointId))) === null)
    throw noCheckpoint(checkpointId);
  return known;
}

/**
 * @throws {ApiError} `forbidden`, `thread_busy`, `thread_without_graph`, `checkpoint_not_found`, `state_update_invalid`,
 *   `node_unknown`
 */
export async function editState(
  agent: AgentContext,
  caller: Caller,
  threadId: string,
  edit: StateEdit,
): Promise<StateCheckpoint> {
  const { thread, graphId } = await lookUpAt(agent, threadId, edit);
  refuseBusy(thread);
  if (graphId === null) {
    throw new ApiError("thread_without_graph", "Run the thread first, or create it with metadata.graph_id.");
  }
  requireGraph(agent, graphId);
  const address: StateAddress = { threadId, graphId, ns: edit.ns, checkpointId: edit.checkpointId };
  const metadata: JsonObject = {
    graph_id: graphId,
    ...(thread.assistantId === null ? {} : { assistant_id: thread.assistantId }),
  };
  requireToEdit(thread, edit);
  const { set, checkpoint, next } = await agent.graphs.update(address, edit, metadata, agent.newId());
  const before = thread.checkpointId;

  const { left, added, changed } = await agent.storage.transaction(async (tx) => {
    const current = await admitEdit(agent, tx, caller, { threadId, next });
    refuseBusy(current);
    if (current.checkpointId !== before) throw changedMeanwhile();
    await requireOrigins(tx, set);
    const at = agent.clock.now();
    await requireToEditNow(tx, current, { caller, edit, next, at });
    await tx.putWriteSet(set);
    const root = set.checkpoints.findLast((row) => row.ns === "");
    const startedBy = withStarter(current, caller.name);
    if (root === undefined) return { left: [], added: [], changed: await noteAuthor(tx, current, caller, at) };
    const bypassed = actsFor(edit); // only open interrupts are recorded
    const open = await allOpenItems(tx, threadId);
    const abandoned = open.map((interrupt) => ({ ...interrupt, state: "abandoned" as const }));
    await tx.putInterrupts(abandoned);
    await noteClosed(tx, abandoned, "abandoned", { newId: agent.newId, at, goneAt: at + NOTE_KEPT_MS });
    await tx.audit(
      open.map(({ interruptId }) => ({
        ...nameAuthor(caller),
        threadId,
        at,
        action: bypassed.length > 0 ? ("bypassed" as const) : ("abandoned" as const),
        interruptId,
        runId: null,
        value: bypassed.join(", ") || edit.asNode,
      })),
    );
    const status = nextThreadStatus(current.status, next.length > 0 ? "pause" : "rest");
    const runId = open[0]?.runId ?? ""; // the next one continues it
    const run = { runId, graphId, assistantId: current.assistantId ?? builtInAssistantId(graphId) };
    const held = buildBreakpoint({ run, threadId, checkpointId: root.checkpointId, next, at });
    const rules = await findRules(tx, { assistantId: run.assistantId, startedBy }, open, at);
    const ruled = rules === null ? held : excludeAuthors(underSameRules(held, rules), [caller.name]);
    const waiting = status === "interrupted" ? [ruled] : [];
    await tx.putInterrupts(waiting);
    await tx.updateThread(threadId, {
      graphId,
      status,
      pause: status === "interrupted" ? "breakpoint" : null,
      checkpointId: root.checkpointId,
      overlay: null,
      error: null,
      startedBy,
      stateUpdatedAt: at,
      updatedAt: at,
    });
    if (status === "idle") {
      await tx.queueNext(threadId);
      await removeIfDone(tx, threadId);
    }
    return { left: abandoned, added: waiting, changed: [] };
  });
  if (left.length > 0) agent.events.wakes.wake(threadId);
  agent.inbox.closed(left, thread.metadata);
  agent.inbox.added(added, thread.metadata);
  for (const item of changed) agent.inbox.changed("updated", item, thread.metadata);
  agent.worker.wake();
  return checkpoint;
}

/** Those of the open breakpoint; of the thread's assistant if nothing is open, since an edit may bring up what was given up. */
async function findRules(
  tx: Pick<Tx, "assistant">,
  { assistantId, startedBy }: { readonly assistantId: string } & Pick<Thread, "startedBy">,
  open: readonly Interrupt[],
  at: number,
): Promise<Pick<Interrupt, "review" | "escalatesAt"> | null> {
  if (open.length > 0) return open.find(({ kind }) => kind === "breakpoint") ?? null;
  const assistant = (await tx.assistant(assistantId))?.metadata ?? {};
  const review = buildReview({ value: null, responseSchema: null, assistant, startedBy, at });
  return { review, escalatesAt: review?.escalations[0]?.at ?? null };
}

/** An edit that ends the thread is never over a limit. @throws {ApiError} `thread_not_found`, `limit_reached` */
async function admitEdit(
  agent: AgentContext,
  tx: ThreadTx & TenantTx,
  caller: Caller,
  { threadId, next }: { readonly threadId: string; readonly next: readonly string[] },
): Promise<Thread> {
  if (next.length > 0) await agent.tenants?.find(caller).admitBytes(tx);
  return requireThread(tx, threadId);
}

/** @throws {ApiError} `forbidden`, `request_fixed` */
function requireToEdit(thread: Thread, edit: StateEdit): void {
  refuseChange(thread);
  const goesAround = edit.checkpointId !== null || thread.status === "interrupted";
  if (goesAround && actsFor(edit).length > 0) requireRight(edit.right, "threads:bypass", thread);
}

/**
 * an edit from which the graph goes on, or that acts for nodes. An edit of a subgraph goes on with its
 * parent.
 * @throws {ApiError} `forbidden`, `request_fixed`
 */
async function requireToEditNow(
  tx: ReviewTx & Pick<Tx, "checkpoint" | "audit">,
  thread: Thread,
  { caller, edit, next, at }: { caller: Caller; edit: StateEdit; next: readonly string[]; at: number },
): Promise<void> {
  requireToEdit(thread, edit);
  const nodes = actsFor(edit);
  if (next.length === 0 && nodes.length === 0 && edit.ns === "") return;
  const { ns, checkpointId } = edit;
  const from = checkpointId === null ? thread.checkpointId : await findRootCheckpoint(tx, thread, { ns, checkpointId });
  const reviewed = await findReviewed(tx, thread, from);
  if (!needsBypass(reviewed, nodes)) return;
  requireRight(edit.right, "threads:bypass", thread);
  const { threadId } = thread;
  const change = { nodes, what: "edit" } as const;
  const hasOpen = thread.status === "interrupted";
  await noteBypassed(tx, { reviewed, change, hasOpen }, caller, { threadId, at, runId: null });
}

/**
 * An edit of a subgraph does not affect the pause of its parent: its questions stay open, their votes end, and
 * their rules count its author among those of the state.
 * @returns the interrupts whose rules changed
 */
async function noteAuthor(
  tx: ThreadTx & InterruptTx,
  thread: Thread,
  caller: Caller,
  at: number,
): Promise<readonly Interrupt[]> {
  const { threadId } = thread;
  await tx.updateThread(threadId, { startedBy: withStarter(thread, caller.name) });
  const open = await tx.interrupts(threadId, "open");
  const pairs = open.map((before) => ({
    before,
    after: excludeAuthors(withoutVotes(before) ?? before, [caller.name]),
  }));
  const changed = pairs.filter(({ before, after }) => before !== after);
  await tx.putInterrupts(changed.map(({ after }) => after));
  const cleared = changed.filter(({ before, after }) => lostVotes(before, after));
  await tx.audit(
    cleared.map(({ after: { interruptId, runId } }) => ({
      ...nameAuthor(caller),
      threadId,
      at,
      action: "votes_cleared" as const,
      interruptId,
      runId,
      value: null,
    })),
  );
  return changed.map(({ after }) => after);
}

/** Pruning may have deleted rows that the new ones refer to. @throws {ApiError} `thread_busy` */
async function requireOrigins(tx: CheckpointTx, { checkpoints }: WriteSet): Promise<void> {
  const own = new Set(checkpoints.map((row) => row.checkpointId));
  for (const { threadId, ns, body } of checkpoints) {
    const { from } = JSON.parse(body) as { readonly from: Readonly<Record<string, string>> };
    for (const origin of new Set(Object.values(from))) {
      if (origin === "" || origin.startsWith("#") || own.has(origin)) continue;
      if ((await tx.checkpoint(threadId, ns, origin)) === null) throw changedMeanwhile();
    }
  }
}

function changedMeanwhile(): ApiError {
  return new ApiError("thread_busy", "The thread changed in the meantime: try again.");
}

function refuseBusy(thread: Thread): void {
  if (thread.status === "busy") throw new ApiError("thread_busy", "The thread has a run in progress.");
}
