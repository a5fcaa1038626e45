// Pending runs: which runs wait, known in memory, so that the end of a run asks the file only when one does.
// Invariants:
//   - Known runs are exactly the rows with the status `pending`; otherwise nothing is known, and the caller asks the
//     file.
//   - An undone write makes everything unknown (client/kept-rows.ts).
//   - Bounded: with more runs than KNOWN_MAX nothing is known, until LOOKS_APART further questions.
import type { Database } from "../client/database.ts";

export interface PendingRuns {
  /** Null if unknown. */
  readonly isQueuedOn: (threadId: string) => boolean | null;
  /** True if no run waits, delayed ones included. */
  readonly isEmpty: () => boolean;
  /** True if no delayed run waits. */
  readonly isNoneDelayed: () => boolean;
  added(runId: string, threadId: string, delayed: boolean): void;
  gone(runId: string): void;
  threadGone(threadId: string): void;
  forget(): void;
}

const READ_MAX = 1000;
const KNOWN_MAX = 10_000;
const LOOKS_APART = 1000;

interface Known {
  readonly runs: Map<string, { readonly threadId: string; readonly delayed: boolean }>;
  /** Queued and delayed runs of a thread. */
  readonly threads: Map<string, { queued: number; delayed: number }>;
  delayed: number;
}

export function createPendingRuns(db: Database): PendingRuns {
  let known: Known | null = null;
  let looksLeft = 0;
  const forget = (): void => void (known = null);
  db.kept.onDrop(forget);

  const look = (): Known | null => {
    if (known !== null) return known;
    if (looksLeft > 0) {
      looksLeft--;
      return null;
    }
    const sql = "SELECT run_id, thread_id, due_at FROM runs WHERE status = 'pending' LIMIT ?";
    const rows = db.all(sql, READ_MAX + 1);
    if (rows.length > READ_MAX) {
      looksLeft = LOOKS_APART;
      return null;
    }
    known = { runs: new Map(), threads: new Map(), delayed: 0 };
    for (const row of rows) add(known, String(row["run_id"]), String(row["thread_id"]), row["due_at"] !== null);
    return known;
  };
  return {
    isQueuedOn(threadId) {
      const found = look();
      return found === null ? null : (found.threads.get(threadId)?.queued ?? 0) > 0;
    },
    isEmpty: () => look()?.runs.size === 0,
    isNoneDelayed: () => look()?.delayed === 0,
    added(runId, threadId, delayed) {
      if (known === null) return;
      add(known, runId, threadId, delayed);
      if (known.runs.size <= KNOWN_MAX) return;
      forget();
      looksLeft = LOOKS_APART;
    },
    gone(runId) {
      if (known !== null) remove(known, runId);
    },
    threadGone(threadId) {
      if (known?.threads.has(threadId) === true) forget();
    },
    forget,
  };
}

function add(known: Known, runId: string, threadId: string, delayed: boolean): void {
  remove(known, runId);
  known.runs.set(runId, { threadId, delayed });
  const counts = known.threads.get(threadId) ?? { queued: 0, delayed: 0 };
  counts[delayed ? "delayed" : "queued"]++;
  known.threads.set(threadId, counts);
  if (delayed) known.delayed++;
}

function remove(known: Known, runId: string): void {
  const run = known.runs.get(runId);
  if (run === undefined) return;
  known.runs.delete(runId);
  if (run.delayed) known.delayed--;
  const counts = known.threads.get(run.threadId);
  if (counts === undefined) return;
  counts[run.delayed ? "delayed" : "queued"]--;
  if (counts.queued + counts.delayed === 0) known.threads.delete(run.threadId);
}
