// Search indexer: keeps the search index up to date, in batches apart from the transactions of runs and answers.
// Invariants:
//   - A search finds what was stored before it began: it indexes recent changes first, up to CATCH_UP_BATCHES batches.
//   search-indexer.2. Without searches, changes are indexed while no run has executed for IDLE_MS, or after BUSY_MS.
//     One look at the worker is not enough: the runs of a full load may all pause in the same commit.
//   - Switched off, it deletes the index, and refuses searches. Notes of changes are still taken away.
//   - A failed batch is tried again. No batch holds the event loop for long: each thread is read in a transaction of
//     its own.
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../../context/context.ts";
import type { AuditRecord, AuditTx, SearchTx, UnindexedThread } from "../../ports/ports.ts";
import type { SearchIndex } from "../../context/services.ts";
import { readValues } from "../../threads/thread-view.ts";
import { buildDocuments, type SearchSource } from "./search-document.ts";

export interface SearchIndexer extends SearchIndex, Service {}

const BATCH_THREADS = 32;
const SWEEP_THREADS = 500;
const CATCH_UP_BATCHES = 30;
const IDLE_MS = 5000;
const BUSY_MS = 60_000;
/** Another server takes a batch over after this time. */
const TAKEN_MS = 60_000;

const ITEMS_MAX = 200;
const TRAIL_MAX = 1000;
const STATE_UNITS_MAX = 1_000_000;

const OFF =
  "The server keeps no words of threads and items (HOLDPOINT_SEARCH): use filters, or metadata, instead of a search.";

/** @param isOn */
export function createSearchIndexer(agent: AgentContext, isOn = true): SearchIndexer {
  const { clock, log, storage } = agent;
  let cancel: () => void = () => undefined;
  const state = { stopped: false };
  /** One batch at a time. */
  let working: Promise<unknown> = Promise.resolve();
  let failed: readonly UnindexedThread[] = [];
  let lastAt = clock.monotonic();
  let begunBefore = 0;

  const batch = async (found: readonly UnindexedThread[] | null): Promise<boolean> => {
    const at = { now: clock.now(), claimedUntil: clock.now() + TAKEN_MS };
    const again = failed;
    failed = [];
    const claimed = found ?? [...again, ...(await storage.transaction((tx) => tx.unindexedThreads(BATCH_THREADS, at)))];
    if (claimed.length === 0) return false;
    try {
      if (isOn) await indexThreads(agent, claimed);
      else await storage.transaction((tx) => tx.indexed(claimed));
    } catch (error) {
      failed = [...failed, ...claimed];
      log.warning("search_index_failed", { threads: claimed.length, reason: describeError(error).message });
      return false;
    }
    return true;
  };
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    const result = working.then(work);
    working = result.catch(() => undefined);
    return result;
  };
  /** search-indexer.2 */
  const pass = async (): Promise<void> => {
    const isDue = clock.monotonic() - lastAt >= BUSY_MS;
    const isIdle = (): boolean => agent.worker.running() === 0 && agent.worker.begun() === begunBefore;
    const goesOn = (): boolean => !state.stopped && (isDue || isIdle());
    while (goesOn()) {
      if (await next(() => batch(null))) continue;
      lastAt = clock.monotonic();
      return;
    }
  };
  const tick = async (): Promise<void> => {
    try {
      await pass();
    } catch (error) {
      log.warning("search_index_failed", { threads: 0, reason: describeError(error).message });
    }
    begunBefore = agent.worker.begun();
    if (!state.stopped) cancel = clock.after(IDLE_MS, () => void tick());
  };
  return {
    name: "search index",
    async start() {
      await storage.transaction((tx) => tx.switchSearch(isOn));
      cancel = clock.after(IDLE_MS, () => {
        const swept = isOn ? sweep(agent, state, (found) => next(() => batch(found))) : Promise.resolve();
        void swept.catch((error: unknown) => {
          log.warning("search_index_failed", { threads: 0, reason: describeError(error).message });
        });
        void tick();
      });
    },
    async stop() {
      state.stopped = true;
      cancel();
      await working;
    },
    async catchUp() {
      if (!isOn) throw new ApiError("search_off", OFF);
      for (let at = 0; at < CATCH_UP_BATCHES && !state.stopped; at++) {
        if (!(await next(() => batch(null)))) return;
      }
    },
  };
}

/** Threads from before the index, and of a crash. */
async function sweep(
  { storage, log }: AgentContext,
  state: { readonly stopped: boolean },
  index: (found: readonly UnindexedThread[]) => Promise<unknown>,
): Promise<void> {
  let threads = 0;
  while (!state.stopped) {
    const found = await storage.read(async (tx) => tx.sweepUnindexed(SWEEP_THREADS));
    if (found === null) break;
    for (let from = 0; from < found.length && !state.stopped; from += BATCH_THREADS) {
      await index(found.slice(from, from + BATCH_THREADS));
    }
    threads += found.length;
  }
  if (threads > 0) log.info("search_index_complete", { threads });
}

async function indexThreads(agent: AgentContext, threads: readonly UnindexedThread[]): Promise<void> {
  const read: { readonly source: SearchSource; readonly seq: number }[] = [];
  for (const { threadId } of threads) {
    for (let isComplete = false; !isComplete;) {
      const found = await readSource(agent, threadId);
      if (found === null) break;
      isComplete = found.isComplete;
      if (isComplete) read.push(found);
      else await put(agent, [found], []); // more items than one document list should have
    }
  }
  await put(agent, read, threads);
}

function put(
  { storage }: AgentContext,
  read: readonly { readonly source: SearchSource; readonly seq: number }[],
  threads: readonly UnindexedThread[],
): Promise<void> {
  const rows = read.map(({ source, seq }) => {
    const { threadId, updatedAt } = source.thread;
    return { thread: { threadId, updatedAt, seq }, documents: buildDocuments(source) };
  });
  return storage.transaction(async (tx) => {
    for (const { thread, documents } of rows) await tx.putSearchDocuments(thread, documents);
    await tx.indexed(threads);
  });
}

/** Null for a deleted thread. */
async function readSource(
  agent: AgentContext,
  threadId: string,
): Promise<{ readonly source: SearchSource; readonly seq: number; readonly isComplete: boolean } | null> {
  const found = await agent.storage.read(async (tx) => {
    const thread = await tx.thread(threadId);
    if (thread === null) return null;
    const values = await readValues(agent, tx, thread);
    return { thread, values, ...(await readItems(tx, threadId)) };
  });
  if (found === null) return null;
  const { thread, values, items, trail, seq, isComplete } = found;
  const isLong = values === null || values.units > STATE_UNITS_MAX;
  const json: Json = isLong ? null : values.json();
  return { source: { thread, values: json, items, trail }, seq, isComplete };
}

/** Items that changed, with the newest part of the trail. */
async function readItems(
  tx: SearchTx & AuditTx,
  threadId: string,
): Promise<Pick<SearchSource, "items" | "trail"> & { readonly seq: number; readonly isComplete: boolean }> {
  const from = await tx.indexedSeq(threadId);
  const fresh = await tx.listAudit(threadId, { after: from, limit: TRAIL_MAX });
  const ids = [...new Set(fresh.flatMap(({ interruptId }) => interruptId ?? []))];
  const { items, missing } = await tx.unindexedItems(threadId, { ids, limit: ITEMS_MAX });
  const older: readonly AuditRecord[] =
    from === 0
      ? []
      : await tx.listAudit(threadId, { after: Math.max(0, from - TRAIL_MAX), limit: Math.min(from, TRAIL_MAX) });
  return {
    items,
    trail: [...older, ...fresh],
    seq: fresh.at(-1)?.seq ?? from,
    isComplete: fresh.length < TRAIL_MAX && missing < ITEMS_MAX,
  };
}
