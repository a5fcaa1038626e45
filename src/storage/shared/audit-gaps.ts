// Gaps in the numbers of a thread's audit entries, the same query on both databases.
// Invariants:
//   audit-gaps.1. A deleted entry explains its number. A row of the chain FORMER explains every number up to its own:
//        older releases deleted those, and did not note their thread.
//   audit-gaps.2. Traces of an earlier thread with the same id explain numbers, but never make a gap: only numbers up to
//        the newest entry count.
import type { AuditGaps } from "../../agent/ports/ports.ts";

/** Not a chain: rows of audit_deleted for what older releases deleted (audit-gaps.1). */
const FORMER = -1;

/** @param place of the parameters: thread id, limit */
export const selectGaps = (schema: "" | "holdpoint.", place: readonly [string, string]): string => `
  WITH page AS (
    SELECT thread_id, max(seq) AS newest FROM ${schema}audit WHERE thread_id > ${place[0]}
    GROUP BY thread_id ORDER BY thread_id LIMIT ${place[1]}
  ), numbers AS (
    SELECT a.thread_id, a.seq, false AS former FROM ${schema}audit AS a JOIN page ON page.thread_id = a.thread_id
    UNION SELECT d.thread_id, d.seq, d.chain = ${FORMER} FROM ${schema}audit_deleted AS d
      JOIN page ON page.thread_id = d.thread_id AND d.seq BETWEEN 1 AND page.newest
  ), steps AS (
    SELECT thread_id, seq, former, lag(seq, 1, 0) OVER (PARTITION BY thread_id ORDER BY seq) AS known FROM numbers
  )
  SELECT page.thread_id, steps.known, steps.seq FROM page
    LEFT JOIN steps ON steps.thread_id = page.thread_id AND steps.seq > steps.known + 1 AND NOT steps.former
    ORDER BY page.thread_id, steps.seq`;

/** Notes what older releases deleted, in a migration or after the load of their dump. */
export const noteFormer = (schema: "" | "holdpoint."): string => `
  INSERT INTO ${schema}audit_deleted (chain, position, seq, digest, thread_id)
  SELECT ${FORMER}, row_number() OVER (ORDER BY thread_id), min(seq) - 1, '', thread_id FROM ${schema}audit
  WHERE NOT EXISTS (SELECT 1 FROM ${schema}audit WHERE length(digest) > 64)
  GROUP BY thread_id HAVING min(seq) > 1 ON CONFLICT DO NOTHING;`;

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
