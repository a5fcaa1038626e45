// Rows of the audit trail as the model has them.
import type { AuditLink } from "../../model/audit/audit-chain.ts";
import type { AuditedThread, AuditRecord } from "../../ports/ports.ts";
import type { AuditRow } from "../shared/columns.ts";

/** The entry of a row. Omitted fields stay absent, as in the original entry. */
export function toAuditRecord({ via, origin, ...row }: AuditRow): AuditRecord {
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

/** A row of audit_deleted. One that was changed in the database may name no thread. */
export function readTrace(row: Readonly<Record<string, unknown>>): AuditLink {
  const { position, seq, digest, thread_id: threadId, at } = row;
  const gone = typeof threadId === "string" ? { threadId, at: Number(at) } : null;
  return { position: Number(position), seq: Number(seq), digest: String(digest), entry: null, gone };
}

export function readAuditedThread(row: Readonly<Record<string, unknown>>): AuditedThread {
  const cutOff = row["cut_off"];
  return {
    threadId: String(row["thread_id"]),
    createdAt: Number(row["created_at"]),
    cutOff: isAbsent(cutOff) ? null : Number(cutOff),
  };
}

const isAbsent = (cell: unknown): cell is null | undefined => cell === null || cell === undefined;
