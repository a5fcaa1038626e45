// Search of the audit trail over all threads: author, decision, place and time, and the end of the run that followed.
// Invariant: a page reads at most SCAN_MAX entries; it may have fewer than its limit, or none, and a next page all the
// same.
import { recognise, type Question } from "@holdpoint/api/dialects.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import { formatAnswer, nameDecision } from "@holdpoint/api/text/answer-words.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../../context/context.ts";
import type { AuditQuery, AuditRows, FoundAudit } from "../../ports/ports.ts";
import { serializeAuditEntry } from "../../wire/inbox-item.ts";
import { summarise } from "../../wire/interrupt-summary.ts";
import type { Sight } from "../../auth/sight.ts";
import type { Show } from "../../model/payload/mask-secrets.ts";
import { auditLines, type ExportForm } from "./audit-export.ts";

const SCAN_MAX = 5000;
const EXPORT_PAGE = 200;

export type AuditSearch = Omit<AuditQuery, "scanMax">;

export function searchAudit({ storage }: Pick<AgentContext, "storage">, query: AuditSearch): Promise<AuditRows> {
  return storage.longReads.searchAudit({ ...query, scanMax: SCAN_MAX });
}

/** All matches as lines, streamed in pages. */
export async function* exportAudit(
  agent: AgentContext,
  query: AuditSearch,
  { format, sight }: ExportForm,
): AsyncGenerator<string> {
  yield auditLines.head(format, COLUMNS);
  let { after } = query;
  do {
    const { rows, next } = await searchAudit(agent, { ...query, after, limit: EXPORT_PAGE });
    const found = await foundObjects(rows, sight);
    if (found.length > 0) yield found.map((object) => auditLines.line(format, COLUMNS, object)).join("");
    after = next;
  } while (after !== null);
}

/** The head of the CSV. */
const COLUMNS = `at action by via title answer decision tool asked_at kind graph_id assistant_id node thread_id seq
  interrupt_id run_id run_status run_ended_by address user_agent value entry_kind`.split(/\s+/);

/** Entries with their items and the ends of their runs. */
export async function foundObjects(rows: readonly FoundAudit[], sight: Sight): Promise<readonly JsonObject[]> {
  const show = await sight(rows.map(({ item }) => item?.responseSchema ?? null));
  return rows.map((row) => foundObject(row, show));
}

function foundObject({ entry, item, run }: FoundAudit, show: Show): JsonObject {
  const isAnswer = entry.action.startsWith("answered");
  const said = serializeAuditEntry(entry, item?.responseSchema ?? null, show);
  return {
    ...said,
    answer: isAnswer ? formatAnswer(said["value"] ?? null, readAsked(item)) : null,
    decision: isAnswer ? nameDecision(said["value"] ?? null) : null,
    tool: readAsked(item)?.actions[0]?.name ?? null,
    asked_at: item === null ? null : isoTime(item.createdAt),
    graph_id: item?.graphId ?? null,
    assistant_id: item?.assistantId ?? null,
    node: item?.node ?? null,
    kind: item?.kind ?? null,
    title: item === null ? readSubject(entry.value) : formatTitle(item),
    run_status: run?.status ?? null,
    run_ended_by: run?.endedBy ?? null,
  };
}

/** The arguments that an edit changed; null without the request. */
function readAsked(item: FoundAudit["item"]): Question | null {
  return item === null || item.isLong || item.kind === "breakpoint" ? null : recognise(item.value, item.responseSchema);
}

/** What an act is about. */
function readSubject(value: Json): string | null {
  const subject = isJsonObject(value) ? value["subject"] : null;
  return typeof subject === "string" ? subject : null;
}

function formatTitle({ kind, node, value, responseSchema, isLong }: NonNullable<FoundAudit["item"]>): string {
  if (kind === "breakpoint") return `before ${node}`;
  return isLong ? `a long request of ${node}` : summarise(value, responseSchema).title;
}
