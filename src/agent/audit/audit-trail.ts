// Audit trail: who acted on which interrupt, and from where. Each entry is part of the transaction it describes.
// Invariants:
//   audit-trail.1. An answer and its entry share a commit: there are as many entries as accepted answers.
//   audit-trail.2. Entries are append-only. They are deleted with their thread, or by age (retention.ts).
import type { AgentContext } from "../context.ts";
import type { AuditRecord } from "../ports/ports.ts";
import { requireThread } from "../threads/find-thread.ts";

export interface AuditPage {
  readonly items: readonly AuditRecord[];
  /** Start of the next page; null at the end. */
  readonly next: number | null;
}

/** Oldest first. @throws {ApiError} `thread_not_found` */
export async function readAudit(
  agent: AgentContext,
  threadId: string,
  page: { readonly after: number; readonly limit: number },
): Promise<AuditPage> {
  const records = await agent.storage.transaction(async (tx) => {
    await requireThread(tx, threadId);
    return tx.auditOf(threadId, { after: page.after, limit: page.limit + 1 });
  });
  const items = records.slice(0, page.limit);
  return { items, next: records.length > page.limit ? (items.at(-1)?.seq ?? null) : null };
}
