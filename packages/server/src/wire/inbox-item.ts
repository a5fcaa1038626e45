// Inbox API objects: inbox items and audit entries → JSON objects for clients.
import { PRIORITIES } from "@holdpoint/api/inbox-filter.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { isActTrail, readEntryKind } from "../model/audit-actions.ts";
import { readableValue } from "../model/audit/readable-value.ts";
import type { AnswerFailure, AnswerRecord, Assignment, Interrupt, Thread } from "../model/model.ts";
import type { Show } from "../model/payload/mask-secrets.ts";
import { summarise } from "./interrupt-summary.ts";
import type { AuditRecord } from "../ports/ports.ts";
import { serializeReview } from "./review-object.ts";

const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

/** Item for a list: everything but its value. Short for any length of the value. */
export function itemSummary(item: Interrupt): JsonObject {
  const { kind, claim, expiresAt, onExpiry } = item;
  const summary = summarise(item.value, item.responseSchema);
  const breakpoint = kind === "breakpoint";
  return {
    id: item.interruptId,
    thread_id: item.threadId,
    graph_id: item.graphId,
    assistant_id: item.assistantId,
    run_id: item.runId === "" ? null : item.runId,
    node: item.node,
    ns: item.ns,
    kind,
    dialect: breakpoint ? null : summary.dialect,
    title: breakpoint ? `before ${item.node}` : summary.title,
    action: summary.action,
    actions: summary.actions,
    excerpt: breakpoint ? "" : summary.excerpt,
    decisions: breakpoint ? ["approve"] : summary.decisions,
    dangerous: summary.dangerous,
    priority: PRIORITIES[item.priority] ?? "normal",
    created_at: isoTime(item.createdAt),
    claim: claim === null ? null : claimObject(claim),
    ...(item.review === null ? {} : { review: serializeReview(item, null) }),
    ...(item.snoozedUntil === null ? {} : { snoozed_until: isoTime(item.snoozedUntil) }),
    deadline:
      expiresAt === null
        ? null
        : { expires_at: isoTime(expiresAt), on_expiry: typeof onExpiry === "string" ? onExpiry : onExpiry && "answer" },
  };
}

function failureObject({ runId, error, message, at, times }: AnswerFailure): JsonObject {
  return { run_id: runId, error, message, at: isoTime(at), times };
}

function claimObject({ by, at, until, assignedBy }: Assignment): JsonObject {
  return {
    by,
    at: isoTime(at),
    until: time(until),
    ...(assignedBy === undefined ? {} : { assigned_by: assignedBy }),
  };
}

/** @param now hides expired assignments and marks passed deadlines */
export function serializeInboxItem(
  item: Interrupt,
  { status, metadata }: Pick<Thread, "status" | "metadata">,
  now: number,
  show: Show,
): JsonObject {
  const { claim, answer, expiresAt, failure, responseSchema } = item;
  const holds = claim !== null && (claim.until === null || claim.until > now);
  return {
    ...itemSummary(holds ? item : { ...item, claim: null }),
    ...(item.review === null ? {} : { review: serializeReview(item, show) }),
    state: item.state,
    overdue: item.state === "open" && expiresAt !== null && expiresAt <= now,
    thread_status: status,
    metadata,
    value: item.value,
    ...(responseSchema === null ? {} : { response_schema: responseSchema }),
    ...(answer === null ? {} : { answered: answerObject(answer, show(answer.value, responseSchema)) }),
    ...(failure === null ? {} : { failed_answer: failureObject(failure) }),
  };
}

function answerObject({ by, at, runId }: AnswerRecord, value: Json): JsonObject {
  return { by, at: isoTime(at), run_id: runId, value };
}

/** @param schema of the answers to its interrupt; null without one */
export function serializeAuditEntry(entry: AuditRecord, schema: JsonObject | null, show: Show): JsonObject {
  return {
    seq: entry.seq,
    at: isoTime(entry.at),
    action: entry.action,
    entry_kind: readEntryKind(entry.action),
    by: entry.by,
    via: entry.via ?? "api",
    address: entry.origin?.address ?? null,
    user_agent: entry.origin?.userAgent ?? null,
    ...(entry.origin?.policyId === undefined ? {} : { policy_id: entry.origin.policyId }),
    thread_id: isActTrail(entry.threadId) ? null : entry.threadId,
    interrupt_id: entry.interruptId,
    run_id: entry.runId,
    value: readableValue(entry, schema, show),
  };
}
