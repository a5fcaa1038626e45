// Redact value: applies the rules to one text, to JSON inside it, and to numbers.
// Invariants:
//   - Rules apply in their order; each sees the result of those before it.
//   - In JSON, a rule sees the text of a string without its escapes, at every level of nesting, and the result is JSON
//     again, written anew. Of members with one name, the last counts; the others go.
//   - Text that is not JSON is searched a second time with its JSON escapes decoded: a part of JSON, or JSON that was
//     cut off, hides nothing.
//   - Text that is not JSON, but has a quoted key that a path may name, is treated as one value: as the value itself by
//     a rule for whole values, and searched as a whole by the others.
import { isGroupMark } from "../otlp/json-scan.ts";
import { isObject, mapItems, mapMembers, numberText, parseJson } from "./json-text.ts";
import type { Part } from "./parts.ts";
import type { RedactionRule } from "./redaction-rule.ts";
import { appliesToText, noteClean, type Place, placeBelow, type Places } from "./rules-at.ts";

/** The rules of one request, and the counts of their changes. */
export interface Redacting {
  readonly places: Places;
  /** Findings by the rule's index. */
  readonly counts: number[];
  /** Reports each finding; for people (`--dry-run`). */
  readonly report: ((rule: RedactionRule, part: Part, path: readonly string[]) => void) | null;
}

/** The result for a value: unchanged, removed, or new. */
export type Change = { readonly kind: "drop" } | { readonly kind: "text"; readonly text: string } | null;

const DROP: Change = { kind: "drop" };
const NESTED_JSON_MAX = 8;
/** Names, roles and models come again in every span. */
const SHORT_TEXT = 64;

export function count(redacting: Redacting, rule: RedactionRule, { part, path }: Place): void {
  redacting.counts[rule.index] = (redacting.counts[rule.index] ?? 0) + 1;
  redacting.report?.(rule, part, path);
}

/** The change that a rule makes to a whole value with this text. */
export function changeWhole(redacting: Redacting, rule: RedactionRule, place: Place, text: string): Change {
  count(redacting, rule, place);
  return rule.action === "drop" ? DROP : { kind: "text", text: rule.substitute(text) };
}

/** A text at a place, without the rule for the whole of it. */
export function changeText(redacting: Redacting, place: Place, text: string, nested = 0): Change {
  const first = text.charCodeAt(0);
  const mayBeJson = first === 0x7b || first === 0x5b || first === 0x22 || first <= 0x20;
  if (mayBeJson && nested < NESTED_JSON_MAX) {
    const json = parseJson(text);
    if (json !== null && (isObject(json.value) || Array.isArray(json.value) || typeof json.value === "string")) {
      const after = changeJson(redacting, place, json.value, nested + 1);
      return after === json.value && !json.hasRepeats ? null : { kind: "text", text: JSON.stringify(after) };
    }
  }
  const inside = place.wholeInside.find((one) => appliesToText(one, text));
  return inside === undefined ? changePlain(redacting, place, text) : changeWhole(redacting, inside.rule, place, text);
}

function changePlain(redacting: Redacting, place: Place, text: string): Change {
  const isShort = text.length <= SHORT_TEXT;
  if (isShort && place.clean.has(text)) return null;
  let current = text;
  for (const one of place.search) {
    if (!appliesToText(one, text)) continue;
    const { rule } = one;
    const plain = changeView(redacting, { rule, place, view: PLAIN, source: current }, current);
    if (plain === null) return DROP;
    const view = unescaped(plain);
    const next = view === null ? plain : changeView(redacting, { rule, place, view, source: view.text }, plain);
    if (next === null) return DROP;
    current = next;
  }
  if (current !== text) return { kind: "text", text: current };
  if (isShort) noteClean(redacting.places, place, text);
  return null;
}

interface Search {
  readonly rule: RedactionRule;
  readonly place: Place;
  readonly view: View;
  /** The text of the view. */
  readonly source: string;
}

/** Returns the new text; null when the rule drops it. */
function changeView(redacting: Redacting, { place, rule, source, view }: Search, text: string): string | null {
  const ranges = rule.find?.(source) ?? [];
  if (ranges.length === 0) return text;
  const edits: Edit[] = [];
  for (let at = 0; at < ranges.length; at += 2) {
    const [start = 0, end = 0] = [ranges[at], ranges[at + 1]];
    count(redacting, rule, place);
    if (rule.action === "drop") return null;
    edits.push({ start: view.at(start), end: view.at(end), text: rule.substitute(source.slice(start, end)) });
  }
  return withEdits(text, edits);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** `edits` in ascending order. */
function withEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const edit of edits) {
    pieces.push(text.slice(from, edit.start), edit.text);
    from = edit.end;
  }
  pieces.push(text.slice(from));
  return pieces.join("");
}

interface View {
  readonly text: string;
  /** Position in the original text. */
  readonly at: (position: number) => number;
}

const PLAIN: View = { text: "", at: (position) => position };
/** An ASCII character; a line break or tab, which stands between words like any space; a slash. */
const ESCAPE = /\\+(?:u00([2-7][0-9a-fA-F])|([bfnrt])|\/)/g;

/** null: nothing is escaped. */
function unescaped(text: string): View | null {
  if (!text.includes("\\")) return null;
  const parts: string[] = [];
  /** After each escape: position in the view, position in the text. */
  const marks: (readonly [view: number, text: number])[] = [];
  let length = 0;
  let from = 0;
  for (const { index, 0: whole, 1: code, 2: space } of text.matchAll(ESCAPE)) {
    const character = code === undefined ? "/" : String.fromCharCode(Number.parseInt(code, 16));
    parts.push(text.slice(from, index), space === undefined ? character : "\n");
    length += index - from + 1;
    from = index + whole.length;
    marks.push([length, from]);
  }
  if (marks.length === 0) return null;
  parts.push(text.slice(from));
  return {
    text: parts.join(""),
    at(position) {
      let low = 0;
      for (let high = marks.length; low < high;) {
        const middle = (low + high) >> 1;
        if ((marks[middle]?.[0] ?? 0) <= position) low = middle + 1;
        else high = middle;
      }
      const [view, original] = marks[low - 1] ?? [0, 0];
      return original + position - view;
    },
  };
}

/**
 * A value of JSON, after the rules; the same value when nothing changes. The rule for the whole of it was asked before. A
 * value that goes leaves null.
 */
export function changeJson(redacting: Redacting, place: Place, value: unknown, nested = 0): unknown {
  if (typeof value === "string")
    return isGroupMark(value) ? value : changed(value, changeText(redacting, place, value, nested));
  if (Array.isArray(value))
    return mapItems(value, (item, index) =>
      changeInner(redacting, placeBelow(redacting.places, place, String(index)), item, nested),
    );
  if (isObject(value))
    return mapMembers(value, (name, member) => [
      changeName(redacting, place, name),
      changeInner(redacting, placeBelow(redacting.places, place, name), member, nested),
    ]);
  const digits = numberText(value);
  return digits === null ? value : changed(value, changePlain(redacting, place, digits));
}

function changeInner(redacting: Redacting, place: Place, value: unknown, nested: number): unknown {
  const rule = place.whole;
  if (rule === null) return changeJson(redacting, place, value, nested);
  const own = typeof value === "string" ? value : JSON.stringify(value);
  return changed(value, changeWhole(redacting, rule, place, own));
}

function changed(value: unknown, change: Change): unknown {
  return change === null ? value : change.kind === "drop" ? null : change.text;
}

/** A name can hold an address or a token as well as a value can. */
export function changeName(redacting: Redacting, place: Place, name: string): string {
  const change = changePlain(redacting, place, name);
  return change === null ? name : change.kind === "drop" ? "" : change.text;
}
