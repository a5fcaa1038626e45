// Payload: an interaction of Slack, a click on a button or a submitted form. Pure.
// Any JSON is accepted. A payload of another type, or with other members, asks for nothing.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Choice } from "../items/item-view.ts";
import { LABELS } from "./messages.ts";
import { CALLBACK, INPUT } from "./modal.ts";

interface Common {
  readonly member: string;
  readonly threadId: string;
  readonly interruptId: string;
  readonly choice: Choice;
  /** Channel for notes to the member. */
  readonly channel: string;
}

export type Interaction =
  | (Common & { readonly kind: "click"; readonly ts: string; readonly trigger: string })
  | (Common & {
      readonly kind: "form";
      readonly text: string;
      /** The text is the JSON of an option of the form. */
      readonly picked: boolean;
    });

/** @returns null for an interaction without an effect, such as a click on a link */
export function readInteraction(payload: Json): Interaction | null {
  const member = findText(at(payload, "user", "id"));
  if (member === null) return null;
  const type = at(payload, "type");
  if (type === "block_actions") return readClick(payload, member);
  return type === "view_submission" ? readForm(payload, member) : null;
}

function readClick(payload: Json, member: string): Interaction | null {
  const actions = at(payload, "actions");
  const action = Array.isArray(actions) ? ((actions as readonly Json[])[0] ?? null) : null;
  const [threadId = "", interruptId = ""] = findText(at(action, "value"))?.split(" ") ?? [];
  const choice = parseChoice(at(action, "action_id"));
  const [trigger, channel, ts] = [
    findText(at(payload, "trigger_id")),
    findText(at(payload, "container", "channel_id")),
    findText(at(payload, "container", "message_ts")),
  ];
  if (choice === null || trigger === null || channel === null || ts === null) return null;
  if (!isAddress(threadId, interruptId)) return null;
  return { kind: "click", member, threadId, interruptId, choice, channel, ts, trigger };
}

function readForm(payload: Json, member: string): Interaction | null {
  if (at(payload, "view", "callback_id") !== CALLBACK) return null;
  const state = parseObject(findText(at(payload, "view", "private_metadata")) ?? "");
  const choice = parseChoice(at(state, "choice"));
  const [threadId, interruptId] = [findText(at(state, "thread_id")) ?? "", findText(at(state, "interrupt_id")) ?? ""];
  const channel = findText(at(state, "channel"));
  if (choice === null || channel === null || !isAddress(threadId, interruptId)) return null;
  const input = at(payload, "view", "state", "values", INPUT, INPUT);
  const option = findText(at(input, "selected_option", "value"));
  const value = option ?? findText(at(input, "value")) ?? "";
  return { kind: "form", member, threadId, interruptId, choice, channel, text: value, picked: option !== null };
}

function isAddress(threadId: string, interruptId: string): boolean {
  return /^[\da-f-]{36}$/.test(threadId) && /^[\da-f]{32}$/.test(interruptId);
}

function parseChoice(value: Json): Choice | null {
  return typeof value === "string" && Object.hasOwn(LABELS, value) ? (value as Choice) : null;
}

function at(value: Json, ...path: readonly string[]): Json {
  let found = value;
  for (const name of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return null;
    found = found[name] ?? null;
  }
  return found;
}

function findText(value: Json): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function parseObject(value: string): JsonObject {
  try {
    const json = JSON.parse(value) as Json;
    return isJsonObject(json) ? json : {};
  } catch {
    return {};
  }
}
