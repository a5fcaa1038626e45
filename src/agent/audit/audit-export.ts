// Audit export: a whole audit trail as lines, streamed in pages, with constant memory.
// Invariants:
//   audit-export.1. No CSV cell is a spreadsheet formula: a cell that begins like one gets an apostrophe.
import type { AgentContext } from "../context.ts";
import { readAudit } from "./audit-trail.ts";
import { serializeAuditEntry } from "../serializers/inbox-item.ts";
import type { AuditRecord } from "../ports/ports.ts";

const PAGE_ENTRIES = 200;

async function* pages(agent: AgentContext, threadId: string, after: number): AsyncGenerator<readonly AuditRecord[]> {
  let from: number | null = after;
  while (from !== null) {
    const { items, next } = await readAudit(agent, threadId, { after: from, limit: PAGE_ENTRIES });
    if (items.length > 0) yield items;
    from = next;
  }
}

/** One JSON object per line. */
export async function* auditNdjson(agent: AgentContext, threadId: string, after: number): AsyncGenerator<string> {
  for await (const items of pages(agent, threadId, after)) {
    yield items.map((entry) => `${JSON.stringify(serializeAuditEntry(entry))}\n`).join("");
  }
}

const CSV_COLUMNS = [
  "seq",
  "at",
  "action",
  "by",
  "via",
  "address",
  "user_agent",
  "thread_id",
  "interrupt_id",
  "run_id",
  "value",
] as const;

/** RFC 4180 with a header line; values are JSON. */
export async function* auditCsv(agent: AgentContext, threadId: string, after: number): AsyncGenerator<string> {
  yield `${CSV_COLUMNS.join(",")}\r\n`;
  for await (const items of pages(agent, threadId, after)) {
    yield items.map((entry) => `${csvLine(entry)}\r\n`).join("");
  }
}

function csvLine(entry: AuditRecord): string {
  const wire = serializeAuditEntry(entry);
  return CSV_COLUMNS.map((column) => {
    const value = wire[column];
    if (column === "value") return csvCell(JSON.stringify(value));
    return typeof value === "number" ? String(value) : csvCell(typeof value === "string" ? value : "");
  }).join(",");
}

function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text; // audit-export.1
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
