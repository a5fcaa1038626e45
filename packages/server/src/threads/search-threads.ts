// Thread search: pages of threads. The states of a page are read on demand, in bounded portions.
import { type JsonObject, contains } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import type { Scope } from "../model/model.ts";
import type { ThreadQuery } from "../ports/ports.ts";
import { inScope } from "../auth/scope.ts";
import { type ThreadView, readView } from "./thread-view.ts";

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
 * Finds the threads of a page at once, and reads each thread on demand, in its state at that moment; deleted threads are
 * omitted.
 * @param withValues false omits the states
 */
export async function searchThreads(agent: AgentContext, query: ThreadQuery, withValues: boolean): Promise<ThreadList> {
  const { longReads } = agent.storage;
  const ids = await longReads.searchThreadIds(query);
  const isComplete = ids.length < query.limit && (ids.length > 0 || query.offset === 0);
  const total = isComplete
    ? query.offset + ids.length
    : await longReads.countThreads(query, query.offset + COUNT_PAST_PAGE);
  return { total, count: ids.length, threads: readViews(agent, ids, query.scope, withValues) };
}

/** Bound for the states in memory per list, beyond a single larger one. */
const READ_UNITS_MAX = 256 * 1024;

/** Threads of one transaction: it holds the event loop. */
const READ_THREADS_MAX = 50;

async function* readViews(
  agent: AgentContext,
  threadIds: readonly string[],
  scope: Scope,
  withValues = true,
): AsyncGenerator<ThreadView> {
  for (let from = 0; from < threadIds.length;) {
    const { views, next } = await agent.storage.read(async (tx) => {
      const read: ThreadView[] = [];
      let at = from;
      const end = Math.min(from + READ_THREADS_MAX, threadIds.length);
      for (let units = 0; at < end && units <= READ_UNITS_MAX; at++) {
        const thread = await tx.thread(threadIds[at] as string);
        if (thread === null || !inScope(thread.metadata, scope)) continue;
        const view = await readView(agent, tx, thread, withValues);
        read.push(view);
        units += view.values?.units ?? 0;
      }
      return { views: read, next: at };
    });
    from = next;
    yield* views;
  }
}

/** Reads the state of every thread that matches the other filters, in slices, so that other calls run in between. */
export async function searchByValues(agent: AgentContext, query: ThreadQuery, values: JsonObject): Promise<ThreadList> {
  const ids = await agent.storage.longReads.searchThreadIds({ ...query, limit: VALUES_SCAN_MAX, offset: 0 });
  const page: string[] = [];
  let total = 0;
  for await (const view of readViews(agent, ids, query.scope)) {
    if (!contains(view.values?.json(), values)) continue;
    if (total >= query.offset && page.length < query.limit) page.push(view.thread.threadId);
    total++;
  }
  return { total, count: page.length, threads: readViews(agent, page, query.scope) };
}

export async function countThreads(
  agent: AgentContext,
  query: ThreadQuery,
  values: JsonObject | null,
): Promise<number> {
  if (values !== null && Object.keys(values).length > 0) return (await searchByValues(agent, query, values)).total;
  return agent.storage.longReads.countThreads(query, null);
}
