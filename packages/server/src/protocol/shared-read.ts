// Shared read: the rows of a thread that follow a place, read once for all readers that wait at that place.
// Invariants:
//   - A wake reaches all readers of a thread in one turn: those at the same place share one query and one copy of its
//     rows. A read that has begun takes no further readers: they may be woken by a later commit.
//   - A shared read decides nothing for a reader: scope, filter and replay rules come after it.
import type { AgentContext } from "../context/context.ts";
import type { Thread } from "../model/model.ts";
import type { StoredEvents } from "../ports/ports.ts";

export interface RowsAfter {
  /** Null if the thread does not exist. */
  readonly thread: Thread | null;
  readonly rows: readonly StoredEvents[];
}

/** Rows that are read together: one transaction for all of them. */
const PAGE = { limit: 64, bytesMax: 128 * 1024 };

const inFlight = new WeakMap<AgentContext, Map<string, Promise<RowsAfter>>>();

/** @param after number of the last row that the reader has */
export function rowsAfter(agent: AgentContext, threadId: string, after: number): Promise<RowsAfter> {
  const reads = inFlight.get(agent) ?? new Map<string, Promise<RowsAfter>>();
  inFlight.set(agent, reads);
  const key = `${threadId}/${after}`;
  const shared = reads.get(key);
  if (shared !== undefined) return shared;
  // A storage may begin the work at once: the others that one wake reaches ask in the same turn.
  const own = Promise.resolve().then(() =>
    agent.storage.read(async (tx) => {
      reads.delete(key);
      const thread = await tx.thread(threadId);
      const place = { runId: null, afterSeq: after, fromId: 0 };
      const rows = thread === null ? [] : await tx.events(threadId, { ...place, ...PAGE });
      return { thread, rows };
    }),
  );
  reads.set(key, own);
  own.catch(() => void (reads.get(key) === own && reads.delete(key)));
  return own;
}
