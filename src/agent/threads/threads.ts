// Threads: create, read, search, copy and delete.
// Invariants:
//   threads.1. Deletion wins: it fences a run in progress on the thread, and no write restores the thread.
import { ApiError } from "../../base/api-error.ts";
import { type Json, type JsonObject, contains } from "../../base/json/json.ts";
import type { AgentContext } from "../context.ts";
import type { Interrupt, Run, Scope, Thread, TtlStrategy } from "../model/model.ts";
import type { StateUpdate, StateValues, StoredCheckpoint, ThreadQuery, Tx } from "../ports/ports.ts";
import { inScope, stamped } from "../auth/scope.ts";
import { buildThread } from "./initial-state.ts";
import { NO_TTL, type Ttl, newThread } from "./new-thread.ts";
import { openItems, requireThread, threadNotFound } from "./find-thread.ts";

export interface ThreadView {
  readonly thread: Thread;
  /** Null if the thread has no state, or the caller requests none. */
  readonly values: ThreadValues | null;
  readonly open: readonly Interrupt[];
}

interface ThreadValues extends StateValues {
  /** Approximate size of the data read. */
  readonly units: number;
}

/** @throws {ApiError} `thread_exists` */
export async function createThread(
  agent: AgentContext,
  request: {
    readonly threadId: string | null;
    readonly metadata: JsonObject;
    readonly ifExists: "raise" | "do_nothing";
    /** Null: the server's default. */
    readonly ttl: Ttl | null;
    readonly supersteps: readonly (readonly StateUpdate[])[];
    readonly scope: Scope;
    /** Scope for showing an existing thread to the caller. */
    readonly readable: Scope;
  },
): Promise<ThreadView> {
  const metadata = stamped(request.metadata, request.scope);
  checkMetadata(metadata);
  const threadId = request.threadId ?? agent.newId();
  const thread = newThread(threadId, metadata, request.ttl ?? agent.limits.threadTtl, agent.clock.now());
  const built = request.supersteps.length === 0 ? null : await buildThread(agent, thread, request.supersteps);
  const { view, waiting } = await agent.storage.transaction(async (tx) => {
    const existing = request.threadId === null ? null : await tx.thread(request.threadId);
    if (existing === null) {
      await tx.insertThread(built?.thread ?? thread);
      if (built === null) return { view: { thread, values: null, open: [] }, waiting: [] };
      await tx.putWriteSet(built.set);
      await tx.putInterrupts(built.waiting);
      return { view: await viewOf(agent, tx, built.thread), waiting: built.waiting };
    }
    const visible = inScope(existing.metadata, request.scope) && inScope(existing.metadata, request.readable);
    if (request.ifExists === "do_nothing" && visible) return { view: await viewOf(agent, tx, existing), waiting: [] };
    throw new ApiError("thread_exists", `Thread with ID ${existing.threadId} already exists`);
  });
  agent.inbox.added(waiting, metadata);
  return view;
}

const METADATA_MEMBERS_MAX = 1000;

/** Every member is an index row. @throws {ApiError} `invalid_request` */
function checkMetadata(metadata: JsonObject): void {
  if (Object.keys(metadata).length <= METADATA_MEMBERS_MAX) return;
  throw new ApiError("invalid_request", `metadata of a thread has at most ${METADATA_MEMBERS_MAX} members.`);
}

export async function getThread(agent: AgentContext, threadId: string): Promise<ThreadView> {
  return agent.storage.transaction(async (tx) => viewOf(agent, tx, await requireThread(tx, threadId)));
}

export async function patchThread(
  agent: AgentContext,
  threadId: string,
  patch: { readonly metadata: JsonObject | null; readonly ttl: Ttl | null | undefined; readonly scope: Scope },
): Promise<ThreadView> {
  const view = await agent.storage.transaction(async (tx) => {
    const thread = await requireThread(tx, threadId);
    const changed: Partial<Thread> = {
      updatedAt: agent.clock.now(),
      ...(patch.metadata === null ? {} : { metadata: stamped({ ...thread.metadata, ...patch.metadata }, patch.scope) }),
      ...(patch.ttl === undefined ? {} : (patch.ttl ?? NO_TTL)),
    };
    if (changed.metadata !== undefined) checkMetadata(changed.metadata);
    await tx.updateThread(threadId, changed);
    return viewOf(agent, tx, { ...thread, ...changed });
  });
  if (patch.metadata !== null) agent.events.wakes.wake(threadId); // its owner may have changed: readers look again
  return view;
}

export async function deleteThread(agent: AgentContext, threadId: string): Promise<void> {
  const gone = await agent.storage.transaction(async (tx) => takeAway(tx, await requireThread(tx, threadId)));
  announceDeleted(agent, gone);
}

interface Gone {
  readonly thread: Thread;
  readonly active: readonly Run[];
  readonly waited: readonly Interrupt[];
}

async function takeAway(tx: Tx, thread: Thread): Promise<Gone> {
  const active = await tx.activeRuns(thread.threadId);
  const waited = await openItems(tx, thread);
  await tx.deleteThread(thread.threadId);
  return { thread, active, waited };
}

function announceDeleted(agent: AgentContext, { thread, active, waited }: Gone): void {
  agent.inbox.deleted(waited, thread.metadata);
  agent.events.wakes.wake(thread.threadId); // ends the streams of the thread
  for (const run of active) {
    if (!agent.worker.abort(run.runId, "deleted")) agent.worker.ends.gone(run.runId, "deleted"); // threads.1
  }
}

/** Threads per transaction. */
const PRUNE_STEP = 50;

/** Skips missing threads and threads outside the scope; `keep_latest` also skips busy ones. */
export async function pruneThreads(
  agent: AgentContext,
  scope: Scope,
  threadIds: readonly string[],
  strategy: TtlStrategy,
): Promise<number> {
  const ids = [...new Set(threadIds)];
  let pruned = 0;
  for (let from = 0; from < ids.length; from += PRUNE_STEP) {
    const threads = await agent.storage.transaction(async (tx) => {
      const found: Thread[] = [];
      for (const threadId of ids.slice(from, from + PRUNE_STEP)) {
        const thread = await tx.thread(threadId);
        if (thread !== null && inScope(thread.metadata, scope)) found.push(thread);
      }
      return found;
    });
    pruned += await pruneEach(agent, threads, () => strategy);
  }
  return pruned;
}

/** In one transaction. @returns the number of pruned threads */
export async function pruneEach(
  agent: AgentContext,
  threads: readonly Thread[],
  strategyOf: (thread: Thread) => TtlStrategy,
): Promise<number> {
  const { gone, pruned } = await agent.storage.transaction(async (tx) => {
    const taken: Gone[] = [];
    let kept = 0;
    for (const { threadId } of threads) {
      const thread = await tx.thread(threadId);
      if (thread === null) continue;
      if (strategyOf(thread) === "delete") taken.push(await takeAway(tx, thread));
      else if (thread.status !== "busy") {
        // not while busy: a run needs the rows that its checkpoints refer to
        await tx.pruneThread(threadId, agent.clock.now());
        kept++;
      }
    }
    return { gone: taken, pruned: kept + taken.length };
  });
  for (const one of gone) announceDeleted(agent, one);
  return pruned;
}

/** Maximum number of threads whose states a filter on values reads. */
const VALUES_SCAN_MAX = 10_000;

/** Maximum count beyond the end of a page. */
const COUNT_PAST_PAGE = 100;

export interface ThreadList {
  /** Bounded count (COUNT_PAST_PAGE). */
  readonly total: number;
  /** Number of threads in the page. */
  readonly count: number;
  readonly threads: AsyncIterable<ThreadView>;
}

/**
 * Finds the threads of a page at once, and reads each state on demand. Each thread appears in its state at that moment;
 * deleted threads are omitted.
 * @param withValues false omits the states
 */
export async function searchThreads(agent: AgentContext, query: ThreadQuery, withValues: boolean): Promise<ThreadList> {
  const { total, found, first } = await agent.storage.transaction(async (tx) => {
    const threads = await tx.searchThreads(query);
    const complete = threads.length < query.limit && (threads.length > 0 || query.offset === 0);
    const counted = complete
      ? query.offset + threads.length
      : await tx.countThreads(query, query.offset + COUNT_PAST_PAGE);
    const views: ThreadView[] = [];
    for (let units = 0; views.length < threads.length && units <= READ_UNITS_MAX;) {
      const view = await viewOf(agent, tx, threads[views.length] as Thread, withValues);
      views.push(view);
      units += view.values?.units ?? 0;
    }
    return { total: counted, found: threads, first: views };
  });
  const later = found.slice(first.length).map(({ threadId }) => threadId);
  async function* threads(): AsyncGenerator<ThreadView> {
    yield* first.splice(0);
    yield* viewsOf(agent, later, query.scope);
  }
  return { total, count: found.length, threads: threads() };
}

/** Bound for the states in memory per list, beyond a single larger one. */
const READ_UNITS_MAX = 256 * 1024;

async function* viewsOf(agent: AgentContext, threadIds: readonly string[], scope: Scope): AsyncGenerator<ThreadView> {
  for (let from = 0; from < threadIds.length;) {
    const { views, next } = await agent.storage.read(async (tx) => {
      const read: ThreadView[] = [];
      let at = from;
      for (let units = 0; at < threadIds.length && units <= READ_UNITS_MAX; at++) {
        const thread = await tx.thread(threadIds[at] as string);
        if (thread === null || !inScope(thread.metadata, scope)) continue;
        const view = await viewOf(agent, tx, thread);
        read.push(view);
        units += view.values?.units ?? 0;
      }
      return { views: read, next: at };
    });
    from = next;
    yield* views;
  }
}

function unitsOf({ checkpoint, values }: StoredCheckpoint): number {
  let units = checkpoint.small.length;
  for (const { text } of values.values()) units += text?.length ?? 0;
  return units;
}

/** Reads the state of every thread that matches the other filters, in slices, so that other calls run in between. */
export async function searchByValues(agent: AgentContext, query: ThreadQuery, values: JsonObject): Promise<ThreadList> {
  const found = await agent.storage.transaction((tx) =>
    tx.searchThreads({ ...query, limit: VALUES_SCAN_MAX, offset: 0 }),
  );
  const ids = found.map(({ threadId }) => threadId);
  const page: string[] = [];
  let total = 0;
  for await (const view of viewsOf(agent, ids, query.scope)) {
    if (!contains(await view.values?.jsonInSlices(), values)) continue;
    if (total >= query.offset && page.length < query.limit) page.push(view.thread.threadId);
    total++;
  }
  return { total, count: page.length, threads: viewsOf(agent, page, query.scope) };
}

export async function countThreads(
  agent: AgentContext,
  query: ThreadQuery,
  values: JsonObject | null,
): Promise<number> {
  if (values !== null && Object.keys(values).length > 0) return (await searchByValues(agent, query, values)).total;
  return agent.storage.transaction((tx) => tx.countThreads(query, null));
}

/** The copy of a paused thread has the same open interrupts. An answer to one thread does not affect the other. */
export async function copyThread(agent: AgentContext, threadId: string, readable: Scope): Promise<ThreadView> {
  const at = agent.clock.now();
  const copyId = agent.newId();
  const { view, waiting } = await agent.storage.transaction(async (tx) => {
    const thread = await requireThread(tx, threadId);
    if (!inScope(thread.metadata, readable)) throw threadNotFound(threadId);
    const busy = thread.status === "busy";
    const copy: Thread = {
      ...thread,
      threadId: copyId,
      createdAt: at,
      updatedAt: at,
      onCompletion: "keep",
      status: busy ? "idle" : thread.status,
      checkpointId: busy
        ? ((await tx.checkpoint(threadId, "", null))?.checkpoint.checkpointId ?? null)
        : thread.checkpointId,
    };
    await tx.insertThread(copy);
    await tx.copyThreadData(threadId, copyId);
    if (busy) {
      const open = await tx.interrupts(copyId, "open");
      await tx.putInterrupts(open.map((interrupt) => ({ ...interrupt, state: "abandoned" as const })));
    }
    return { view: await viewOf(agent, tx, copy), waiting: await openItems(tx, copy) };
  });
  agent.inbox.added(waiting, view.thread.metadata);
  return view;
}

async function viewOf(agent: AgentContext, tx: Tx, thread: Thread, withValues = true): Promise<ThreadView> {
  const open = thread.status === "interrupted" ? await tx.interrupts(thread.threadId, "open") : [];
  return { thread, open, values: withValues ? await valuesOf(agent, tx, thread) : null };
}

async function valuesOf(agent: AgentContext, tx: Tx, thread: Thread): Promise<ThreadValues | null> {
  const { overlay } = thread;
  if (overlay !== null) {
    const json = (): Json => agent.graphs.toClientJson(overlay);
    const text = (): string => JSON.stringify(json());
    return { units: overlay.length, json, text, jsonInSlices: async () => json(), textInSlices: async () => text() };
  }
  if (thread.checkpointId === null) return null;
  const stored = await tx.checkpoint(thread.threadId, "", thread.checkpointId);
  const fingerprint = stored === null ? null : await tx.fingerprint(stored.checkpoint.fingerprint);
  if (stored === null || fingerprint === null) return null;
  return { units: unitsOf(stored), ...(await agent.graphs.valuesOf(tx, stored, fingerprint)) };
}
