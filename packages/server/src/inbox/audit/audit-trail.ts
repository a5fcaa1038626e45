// Audit trail: who acted on which interrupt, and from where. Each entry is part of the transaction it describes.
// Invariants:
//   - An answer and its entry share a commit: there are as many entries as accepted answers.
//   - Entries are append-only. They are deleted with their thread, or by age (retention.ts).
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../../context/context.ts";
import type { AuditRecord, Tx } from "../../ports/ports.ts";
import type { Sight } from "../../auth/sight.ts";
import { serializeAuditEntry } from "../../wire/inbox-item.ts";
import { requireThread } from "../../threads/find-thread.ts";

export interface AuditPage {
  readonly items: readonly JsonObject[];
  /** Start of the next page; null at the end. */
  readonly next: number | null;
}

export interface TrailPage {
  readonly threadId: string;
  readonly after: number;
  readonly limit: number;
}

/** Oldest first. @throws {ApiError} `thread_not_found` */
export async function readAudit(
  agent: Pick<AgentContext, "storage">,
  { threadId, after, limit }: TrailPage,
  sight: Sight,
): Promise<AuditPage> {
  const { records, schemas } = await agent.storage.transaction(async (tx) => {
    await requireThread(tx, threadId);
    const found = await tx.listAudit(threadId, { after, limit: limit + 1 });
    return { records: found, schemas: await readSchemas(tx, found) };
  });
  const show = await sight(schemas.values());
  const items = records.slice(0, limit);
  return {
    items: items.map((entry) => serializeAuditEntry(entry, schemas.get(entry.interruptId ?? "") ?? null, show)),
    next: records.length > limit ? (items.at(-1)?.seq ?? null) : null,
  };
}

/** By interrupt, those of the answers in the trail. */
async function readSchemas(
  tx: Pick<Tx, "interrupt">,
  records: readonly AuditRecord[],
): Promise<ReadonlyMap<string, JsonObject | null>> {
  const schemas = new Map<string, JsonObject | null>();
  for (const { threadId, interruptId } of records) {
    if (interruptId === null || schemas.has(interruptId)) continue;
    schemas.set(interruptId, (await tx.interrupt(threadId, interruptId))?.responseSchema ?? null);
  }
  return schemas;
}
