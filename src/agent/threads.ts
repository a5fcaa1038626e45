// Threads: creating, reading, searching, copying and deleting them.
// Invariant TD1: deleting wins: a run in progress on the thread is fenced out, and nothing brings the thread back.
import { ApiError } from "../base/errors.ts";
import { contains, type Json, type JsonObject } from "../base/json.ts";
import type { Agent } from "./agent.ts";
import type { Interrupt, Run, Scope, Thread } from "./model.ts";
import type { ThreadQuery, Tx } from "./ports.ts";
import { inScope, stamped } from "./scope.ts";
import { openItems, requireThread, threadNotFound } from "./waiting.ts";

export interface ThreadView {
  readonly thread: Thread;
  /** Undefined when the thread has no state yet, or none was asked for. */
  readonly values: Json | undefined;
  readonly open: readonly Interrupt[];
}

export function newThread(threadId: string, metadata: JsonObject, ttlMs: number | null, at: number): Thread {
  return {
    threadId,
    createdAt: at,
    updatedAt: at,
    metadata,
    config: {},
    status: "idle",
    pause: null,
    graphId: null,
    assistantId: null,
    checkpointId: null,
    overlay: null,
    error: null,
    stateUpdatedAt: at,
    ttlMs,
    onCompletion: "keep",
    ttlStrategy: "delete",
  };
}

/** @throws {ApiError} `thread_exists` */
export async function createThread(
  agent: Agent,
  request: {
    readonly threadId: string | null;
    readonly metadata: JsonObject;
    readonly ifExists: "raise" | "do_nothing";
    readonly ttlMs: number | null;
    readonly scope: Scope;
    /** What the caller may be shown of a thread that is there already. */
    readonly readable: Scope;
  },
): Promise<ThreadView> {
  const metadata = stamped(request.metadata, request.scope);
  const thread = newThread(request.threadId ?? agent.newId(), metadata, request.ttlMs, agent.clock.now());
  return agent.storage.transaction(async (tx) => {
    const existing = request.threadId === null ? null : await tx.thread(request.threadId);
    if (existing === null) {
      await tx.insertThread(thread);
      return { thread, values: undefined, open: [] };
    }
    const visible = inScope(existing.metadata, request.scope) && inScope(existing.metadata, request.readable);
    if (request.ifExists === "do_nothing" && visible) return viewOf(agent, tx, existing);
    throw new ApiError("thread_exists", `Thread with ID ${existing.threadId} already exists`);
  });
}

export async function getThread(agent: Agent, threadId: string): Promise<ThreadView> {
  return agent.storage.transaction(async (tx) => viewOf(agent, tx, await requireThread(tx, threadId)));
}

export async function patchThread(
  agent: Agent,
  threadId: string,
  patch: { readonly metadata: JsonObject | null; readonly ttlMs: number | null | undefined; readonly scope: Scope },
): Promise<ThreadView> {
  return agent.storage.transaction(async (tx) => {
    const thread = await requireThread(tx, threadId);
    const changed: Partial<Thread> = {
      updatedAt: agent.clock.now(),
      ...(patch.metadata === null ? {} : { metadata: stamped({ ...thread.metadata, ...patch.metadata }, patch.scope) }),
      ...(patch.ttlMs === undefined ? {} : { ttlMs: patch.ttlMs }),
    };
    await tx.updateThread(threadId, changed);
    return viewOf(agent, tx, { ...thread, ...changed });
  });
}

export async function deleteThread(agent: Agent, threadId: string): Promise<void> {
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

function announceDeleted(agent: Agent, { thread, active, waited }: Gone): void {
  agent.inbox.deleted(waited, thread.metadata);
  for (const run of active) {
    if (!agent.worker.abort(run.runId, "deleted")) agent.worker.ends.gone(run.runId, "deleted"); // TD1
  }
}

/** A filter on values reads every state that the other filters leave; it looks at this many threads and no further. */
const VALUES_SCAN_MAX = 10_000;

/** How far past a page its total counts on. */
const COUNT_PAST_PAGE = 100;

export async function searchThreads(
  agent: Agent,
  query: ThreadQuery,
  values: JsonObject | null,
): Promise<{ readonly total: number; readonly threads: readonly ThreadView[] }> {
  return agent.storage.transaction(async (tx) => {
    if (values === null || Object.keys(values).length === 0) {
      const threads = await tx.searchThreads(query);
      const views = [];
      for (const thread of threads) views.push(await viewOf(agent, tx, thread));
      const complete = views.length < query.limit && (views.length > 0 || query.offset === 0);
      return {
        total: complete ? query.offset + views.length : await tx.countThreads(query, query.offset + COUNT_PAST_PAGE),
        threads: views,
      };
    }
    const matching: ThreadView[] = [];
    let total = 0;
    for (const thread of await tx.searchThreads({ ...query, limit: VALUES_SCAN_MAX, offset: 0 })) {
      const view = await viewOf(agent, tx, thread);
      if (!contains(view.values, values)) continue;
      if (total >= query.offset && matching.length < query.limit) matching.push(view);
      total++;
    }
    return { total, threads: matching };
  });
}

/** A copy of a paused thread is paused at the same questions; answering one leaves the other alone. */
export async function copyThread(agent: Agent, threadId: string, readable: Scope): Promise<ThreadView> {
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

/** Threads deleted in one sweep: more wait for the next. */
const SWEEP_MAX = 500;

/** Deletes threads whose time to live has passed. @returns how many. */
export async function sweepThreads(agent: Agent): Promise<number> {
  const expired = await agent.storage.transaction(async (tx) => {
    const gone: Gone[] = [];
    for (const id of await tx.expiredThreads(agent.clock.now(), SWEEP_MAX)) {
      gone.push(await takeAway(tx, await requireThread(tx, id)));
    }
    return gone;
  });
  for (const gone of expired) announceDeleted(agent, gone);
  if (expired.length > 0) agent.log.info("threads_expired", { threads: expired.length });
  return expired.length;
}

async function viewOf(agent: Agent, tx: Tx, thread: Thread): Promise<ThreadView> {
  const open = thread.status === "interrupted" ? await tx.interrupts(thread.threadId, "open") : [];
  return { thread, open, values: await valuesOf(agent, tx, thread) };
}

async function valuesOf(agent: Agent, tx: Tx, thread: Thread): Promise<Json | undefined> {
  if (thread.overlay !== null) return agent.graphs.toWire(thread.overlay);
  if (thread.checkpointId === null) return undefined;
  const stored = await tx.checkpoint(thread.threadId, "", thread.checkpointId);
  const fingerprint = stored === null ? null : await tx.fingerprint(stored.checkpoint.fingerprint);
  return stored === null || fingerprint === null ? undefined : agent.graphs.valuesOf(stored, fingerprint);
}
