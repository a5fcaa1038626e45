// Readable value: what a reader sees of an audit entry's value, which has an answer or a vote for some actions.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { AuditEntry } from "../interrupt.ts";
import type { Show } from "../payload/mask-secrets.ts";

/** @param schema of the answers to the entry's interrupt; null if any fits, or if the entry is about none */
export function readableValue(
  { action, value }: Pick<AuditEntry, "action" | "value">,
  schema: JsonObject | null,
  show: Show,
): Json {
  if (action === "voted" && isJsonObject(value)) return { ...value, answer: show(value["answer"] ?? null, schema) };
  return ANSWERS.has(action) ? show(value, schema) : value;
}

const ANSWERS: ReadonlySet<AuditEntry["action"]> = new Set(["answered", "answered_as_fork", "voted"]);
