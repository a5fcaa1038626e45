// Audit: who did what to what waited for people, and from where. Written in the transaction of what it tells of.
// Invariants:
//   audit-trail.1. An answer and its entry are one commit: there are as many entries as accepted answers.
//   audit-trail.2. Entries are only ever added. They go with their thread, or by age (retention.ts).
import type { AgentContext } from "../context.ts";
import type { AuditRecord } from "../ports/ports.ts";
import { requireThread } from "../threads/find-thread.ts";

export interface AuditPage {
  readonly items: readonly AuditRecord[];
  /** Where the next page begins; null at the end. */
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
