// Answer words: an answer as a person would say it, whatever client gave it: `approved`, `edited: amount 129.9 → 64.95`,
// `rejected: too late`. Pure, and runs in browsers.
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import { formatExcerpt } from "./payload-excerpt.ts";
import { readMember, readPayloadText } from "./payload-text.ts";
import { formatPlainText } from "./plain-text.ts";
import { visible } from "./visible-text.ts";

const UNITS_MAX = 300;
const CHANGES_MAX = 5;

interface Asked {
  readonly actions: readonly { readonly name: string | null; readonly args: Json }[];
}

/** One line of at most 300 units. @param asked null once the request is gone */
export function formatAnswer(answer: Json, asked: Asked | null): string {
  const list = Array.isArray(answer) ? (answer as readonly Json[]) : readMember(answer, "decisions");
  const decisions = Array.isArray(list) ? (list as readonly Json[]) : [];
  const words = decisions.map((one, at) => formatDecision(one, asked?.actions[at]?.args ?? null));
  const isKnown = words.length > 0 && words.every((one) => one !== null);
  return shorten(isKnown ? joinWords(words, asked) : formatValue(answer));
}

export type DecisionName = "approve" | "edit" | "reject" | "respond" | "ignore" | "answer" | "mixed";

const NAMES = new Map<Json, DecisionName>([
  ["approve", "approve"],
  ["accept", "approve"],
  ["edit", "edit"],
  ["reject", "reject"],
  ["respond", "respond"],
  ["response", "respond"],
  ["ignore", "ignore"],
]);

/** The decision of an answer in a word, for counts: `mixed` for several different ones, `answer` without any. */
export function nameDecision(answer: Json): DecisionName {
  const list = Array.isArray(answer) ? (answer as readonly Json[]) : readMember(answer, "decisions");
  const decisions = Array.isArray(list) ? (list as readonly Json[]) : [];
  const names = new Set(decisions.map((one) => NAMES.get(readMember(one, "type")) ?? "answer"));
  if (names.size > 1) return "mixed";
  return [...names][0] ?? (answer === true ? "approve" : answer === false ? "reject" : "answer");
}

/** `approved 3`, or each with its action. */
function joinWords(words: readonly string[], asked: Asked | null): string {
  const [first = ""] = words;
  if (words.length === 1) return first;
  if (words.every((one) => one === first)) return `${first} ${words.length}`;
  return words.map((one, at) => `${asked?.actions[at]?.name ?? at + 1} ${one}`).join("; ");
}

function formatDecision(decision: Json, before: Json): string | null {
  const message = readPayloadText(readMember(decision, "message"));
  const given = readMember(decision, "args");
  switch (readPayloadText(readMember(decision, "type")) ?? "") {
    case "approve":
    case "accept":
      return "approved";
    case "ignore":
      return "ignored";
    case "reject":
      return message === null ? "rejected" : `rejected: ${formatPlainText(message)}`;
    case "respond":
      return `answered: ${formatValue(readMember(decision, "message"))}`;
    case "response":
      return `answered: ${formatValue(given)}`;
    case "edit": {
      const edited = readMember(decision, "edited_action") ?? readMember(decision, "editedAction") ?? given;
      return `edited: ${formatChanges(before, readMember(edited, "args"))}`;
    }
    default:
      return null;
  }
}

/** `amount 129.9 → 64.95, note removed` */
function formatChanges(before: Json, after: Json): string {
  if (!isJsonObject(before) || !isJsonObject(after)) return formatValue(after);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (changed.length === 0) return "nothing";
  const parts = changed.slice(0, CHANGES_MAX).map((name) => {
    const [old, young] = [before[name], after[name]];
    if (young === undefined) return `${name} removed`;
    return old === undefined ? `${name} ${formatValue(young)}` : `${name} ${formatValue(old)} → ${formatValue(young)}`;
  });
  const more = changed.length - parts.length;
  return `${parts.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

function formatValue(value: Json): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  return formatExcerpt(value, { actions: [] }) || "an empty answer";
}

function shorten(text: string): string {
  const shown = visible(text.slice(0, UNITS_MAX + 1).toWellFormed());
  return shown.length <= UNITS_MAX ? shown : `${shown.slice(0, UNITS_MAX - 1).toWellFormed()}…`;
}
