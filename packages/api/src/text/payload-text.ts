// Payload text: a one-line summary of an interrupt. Pure, and runs in browsers.
// Invariants:
//   payload-text.1. A line has at most TITLE_UNITS_MAX units, is well-formed, and needs only part of a long payload.
//   payload-text.2. A line is never blank, and hides no character (visible-text.1).
//   payload-text.3. Items that differ in their arguments differ in their titles, unless the graph describes them.
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import { visible } from "./visible-text.ts";

const TITLE_UNITS_MAX = 200;

/** Members that usually hold the question in words, best first. */
const TITLE_KEYS = ["question", "title", "message", "prompt", "description", "text", "task", "action"] as const;

/** Title of an interrupt without an action. */
export function chooseTitle(value: Json): string {
  if (typeof value === "string") return short(firstLine(value) || "empty text");
  for (const key of TITLE_KEYS) {
    const text = readPayloadText(readMember(value, key));
    if (text !== null) return short(firstLine(text));
  }
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) {
    return Array.isArray(value) ? "empty list" : "empty object";
  }
  return short(glance(value));
}

interface Described {
  readonly name: string | null;
  readonly args: Json;
  readonly description: string | null;
}

/** LangChain's middleware writes this after its prefix, which is the same for every call of a tool. */
const GENERATED = /^[^\n]*\n\nTool: /;

/** `refund: A customer asks.`, `refund(order_id: 4711)`, `refund ×2, mail` */
export function actionTitle(actions: readonly Described[]): string {
  const [first] = actions;
  if (first === undefined) return "an action";
  if (actions.length > 1) {
    const names = Map.groupBy(actions, nameAction);
    return short([...names].map(([name, { length }]) => (length === 1 ? name : `${name} ×${length}`)).join(", "));
  }
  const { description } = first;
  if (description === null || GENERATED.test(description)) return callText(first); // payload-text.3
  return short(`${first.name === null ? "" : `${nameAction(first)}: `}${firstLine(description)}`);
}

const nameAction = ({ name }: Pick<Described, "name">): string => (name === null ? "an action" : firstLine(name));

/** `refund(order_id: 4711, reason: "broken")` */
export function callText({ name, args }: Pick<Described, "name" | "args">): string {
  const called = nameAction({ name });
  const isEmpty = args === null || (typeof args === "object" && Object.keys(args).length === 0);
  return short(isEmpty ? called : `${called}(${glance(args)})`);
}

/** A member of a known dialect, or null. */
export function readMember(value: Json, key: string): Json {
  return isJsonObject(value) ? (value[key] ?? null) : null;
}

/** Non-empty text, or null. */
export function readPayloadText(value: Json | undefined): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** payload-text.1, payload-text.2 */
export function short(text: string): string {
  const shown = visible(text.slice(0, TITLE_UNITS_MAX + 1).toWellFormed());
  return shown.length <= TITLE_UNITS_MAX ? shown : `${shown.slice(0, TITLE_UNITS_MAX - 1).toWellFormed()}…`;
}

/** JSON text of a value, truncated at the limit (payload-text.1). */
function glance(value: Json): string {
  if (typeof value === "string") return short(JSON.stringify(value.slice(0, TITLE_UNITS_MAX)));
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return short(`[${(value as readonly Json[]).slice(0, 5).map(glance).join(", ")}]`);
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (members.length === 5) break;
    members.push(`${short(key)}: ${typeof member === "object" && member !== null ? "…" : glance(member)}`);
  }
  return short(members.join(", "));
}

function firstLine(text: string): string {
  return (
    text
      .slice(0, 10 * TITLE_UNITS_MAX)
      .trim()
      .split(/[\r\n]/, 1)[0] ?? ""
  );
}
