// Audit export: entries as lines, streamed in pages, with constant memory.
// Invariants:
//   - No CSV cell is a spreadsheet formula: a cell that begins like one gets an apostrophe.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../../context/context.ts";
import type { Sight } from "../../auth/sight.ts";
import { readAudit, type TrailPage } from "./audit-trail.ts";

export type AuditFormat = "csv" | "ndjson";

export interface ExportForm {
  readonly format: AuditFormat;
  readonly sight: Sight;
}

const PAGE_ENTRIES = 200;

/** The head of the CSV. */
const COLUMNS = `seq at action by via address user_agent thread_id interrupt_id run_id value entry_kind`.split(/\s+/);

/** The trail of a thread. */
export async function* exportTrail(
  agent: AgentContext,
  { threadId, after }: Omit<TrailPage, "limit">,
  { format, sight }: ExportForm,
): AsyncGenerator<string> {
  yield auditLines.head(format, COLUMNS);
  let from: number | null = after;
  while (from !== null) {
    const { items, next } = await readAudit(agent, { threadId, after: from, limit: PAGE_ENTRIES }, sight);
    if (items.length > 0) yield items.map((entry) => auditLines.line(format, COLUMNS, entry)).join("");
    from = next;
  }
}

/** RFC 4180 with a header line, or one JSON object per line. Values in CSV are JSON. */
export const auditLines = {
  head: (format: AuditFormat, columns: readonly string[]): string =>
    format === "csv" ? `${columns.join(",")}\r\n` : "",
  line(format: AuditFormat, columns: readonly string[], entry: JsonObject): string {
    if (format === "ndjson") return `${JSON.stringify(entry)}\n`;
    const cells = columns.map((column) => {
      const value = entry[column];
      if (column === "value") return csvCell(JSON.stringify(value));
      return typeof value === "number" ? String(value) : csvCell(typeof value === "string" ? value : "");
    });
    return `${cells.join(",")}\r\n`;
  },
};

function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
