// Payload text: a one-line summary of an interrupt. Pure, and runs in browsers.
// Invariants:
//   - A line has at most TITLE_UNITS_MAX units, is well-formed, and needs only part of a long payload.
//   - A line is never blank, and hides no character (visible-text.1).
//   - Items that differ in their arguments differ in their titles, unless the graph describes them.
//   - A title has no marks of Markdown (plain-text.1). A description that only repeats the name and the arguments, as
//     LangChain generates it, is none; one that says anything else is shown whole.
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import { formatPlainLines, formatPlainText } from "./plain-text.ts";
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

/** LangChain's middleware describes every call like this, after its prefix. */
const GENERATED = /^([^\n]*)\n\nTool: ([^\n]*)\nArgs: (\{[\s\S]*\})\s*$/;
const DEFAULT_PREFIX = "Tool execution requires approval";

/** What a description says beyond the name and the arguments: all of it, or the prefix of a generated one. */
export function readDescription({ name, description }: Described): string | null {
  const generated = readGenerated(description, name);
  if (generated === null) return description;
  return generated === "" || generated === DEFAULT_PREFIX ? null : generated;
}

/** The prefix of a generated description; null for one with words of its own. */
function readGenerated(description: string | null, name: string | null): string | null {
  const [, prefix = "", tool, args = ""] = GENERATED.exec(description ?? "") ?? [];
  return tool === undefined || tool !== name || !isOneObject(args) ? null : prefix.trim();
}

/** Text behind the arguments is not part of them. */
function isOneObject(text: string): boolean {
  let depth = 0;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const unit = text[at] as string;
    if (quote !== "") {
      if (unit === "\\") at++;
      else if (unit === quote) quote = "";
    } else if (unit === '"' || unit === "'") quote = unit;
    else if (unit === "{") depth++;
    else if (unit === "}" && --depth === 0) return text.slice(at + 1).trim() === "";
  }
  return false;
}

/** `refund: A customer asks.`, `refund(order_id: 4711)`, `refund ×2, mail` */
export function actionTitle(actions: readonly Described[]): string {
  const [first] = actions;
  if (first === undefined) return "an action";
  if (actions.length > 1) {
    const names = Map.groupBy(actions, nameAction);
    return short([...names].map(([name, { length }]) => (length === 1 ? name : `${name} ×${length}`)).join(", "));
  }
  const { description } = first;
  if (description === null || readGenerated(description, first.name) !== null) return callText(first);
  return short(`${first.name === null ? "" : `${nameAction(first)}: `}${firstLine(description)}`);
}

const nameAction = ({ name }: Pick<Described, "name">): string =>
  name === null
    ? "an action"
    : (name
        .slice(0, 10 * TITLE_UNITS_MAX)
        .trim()
        .split(/[\r\n]/, 1)[0] ?? "");

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

export function short(text: string): string {
  const shown = visible(text.slice(0, TITLE_UNITS_MAX + 1).toWellFormed());
  return shown.length <= TITLE_UNITS_MAX ? shown : `${shown.slice(0, TITLE_UNITS_MAX - 1).toWellFormed()}…`;
}

/** JSON text of a value, truncated at the limit. */
function glance(value: Json, depth = 0): string {
  if (typeof value === "string") return short(JSON.stringify(formatPlainText(value.slice(0, 2 * TITLE_UNITS_MAX))));
  if (typeof value !== "object" || value === null) return String(value);
  if (depth > 4) return "…";
  if (Array.isArray(value)) {
    const shown = (value as readonly Json[]).slice(0, 5).map((one) => glance(one, depth + 1));
    return short(`[${shown.join(", ")}]`);
  }
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (members.length === 5) break;
    members.push(`${short(key)}: ${typeof member === "object" && member !== null ? "…" : glance(member)}`);
  }
  return short(members.join(", "));
}

/** The first line with words; marks, where there is nothing else. */
function firstLine(text: string): string {
  const part = text.slice(0, 10 * TITLE_UNITS_MAX).trim();
  return formatPlainLines(part)[0] ?? part.split(/[\r\n]/, 1)[0] ?? "";
}
