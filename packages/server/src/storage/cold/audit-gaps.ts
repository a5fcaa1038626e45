// Gaps in the numbers of a thread's audit entries.
// Invariants:
//   - A deleted entry explains its number.
//   - Traces of an earlier thread with the same id explain numbers, but never make a gap: only numbers up to
//     the newest entry count.
import type { AuditGaps } from "../../ports/ports.ts";

/** Values: thread id, limit. */
export const selectGaps = (schema: "" | "holdpoint."): string => `
  WITH page AS (
    SELECT thread_id, max(seq) AS newest FROM ${schema}audit WHERE thread_id > ?
    GROUP BY thread_id ORDER BY thread_id LIMIT ?
  ), numbers AS (
    SELECT a.thread_id, a.seq FROM ${schema}audit AS a JOIN page ON page.thread_id = a.thread_id
    UNION SELECT d.thread_id, d.seq FROM ${schema}audit_deleted AS d
      JOIN page ON page.thread_id = d.thread_id AND d.seq BETWEEN 1 AND page.newest
  ), steps AS (
    SELECT thread_id, seq, lag(seq, 1, 0) OVER (PARTITION BY thread_id ORDER BY seq) AS known FROM numbers
  )
  SELECT page.thread_id, steps.known, steps.seq FROM page
    LEFT JOIN steps ON steps.thread_id = page.thread_id AND steps.seq > steps.known + 1
    ORDER BY page.thread_id, steps.seq`;

/** @param rows of selectGaps */
export function gapsIn(rows: readonly Readonly<Record<string, unknown>>[], limit: number): AuditGaps {
  const threads = new Set(rows.map((row) => String(row["thread_id"])));
  const gaps = rows
    .filter((row) => row["seq"] !== null)
    .map((row) => ({
      threadId: String(row["thread_id"]),
      first: Number(row["known"]) + 1,
      last: Number(row["seq"]) - 1,
    }));
  return { gaps, next: threads.size < limit ? null : ([...threads].at(-1) ?? null) };
}
