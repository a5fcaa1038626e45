import type { AuditRecord } from "../../agent/ports/ports.ts";
import type { AuditRow } from "./columns.ts";

/** The entry of a row. Omitted fields stay absent, as in the original entry. */
export function recordOf({ via, origin, ...row }: AuditRow): AuditRecord {
  const { threadId, seq, at, action, by, interruptId, runId, value } = row;
  return {
    threadId,
    seq,
    at,
    action,
    by,
    interruptId,
    runId,
    value,
    ...(isAbsent(via) ? {} : { via }),
    ...(isAbsent(origin) ? {} : { origin }),
  };
}

const isAbsent = (cell: unknown): cell is null | undefined => cell === null || cell === undefined;
