// Redact value: applies the rules to one text, to JSON inside it, and to numbers.
// Invariants:
//   redact-value.1. Rules apply in their order; each sees the result of those before it.
//   redact-value.2. In JSON, a rule sees the text of a string without its escapes, at every level of nesting, and the
//        result is JSON again.
//   redact-value.3. Text that is not JSON is searched a second time with its JSON escapes decoded: a part of JSON, or JSON
//        that was cut off, hides nothing.
//   redact-value.4. Text that is not JSON, but has a quoted key that a path may name, is treated as one value: as the value
//        itself by a rule for whole values, and searched as a whole by the others.
import { type Edit, type JsonNode, jsonTree, skipSpace, textOfToken, withEdits } from "./json-tree.ts";
import { mayNameInside, namesPath } from "./path-pattern.ts";
import type { Part } from "./parts.ts";
import type { RedactionRule } from "./redaction-rule.ts";

/** The rules of one request, and the counts of their changes. */
export interface Redacting {
  readonly rules: readonly RedactionRule[];
  /** Findings by the rule's index. */
  readonly counts: number[];
  /** Reports each finding; for people (`--dry-run`). */
  readonly report: ((rule: RedactionRule, part: Part, path: readonly string[]) => void) | null;
}

/** The result for a value: unchanged, removed, or new. */
export type Change = { readonly kind: "drop" } | { readonly kind: "text"; readonly text: string } | null;

export interface Place {
  readonly part: Part;
  /** Attribute key and members inside its value. */
  readonly path: readonly string[];
}

const DROP: Change = { kind: "drop" };
const NESTED_JSON_MAX = 8;
const NO_RULES: readonly RedactionRule[] = Object.freeze([]);

/** The rule that takes the whole value at this place. */
export function wholeRule({ rules }: Redacting, { part, path }: Place): RedactionRule | null {
  return (
    rules.find(
      ({ find, parts, paths }) =>
        find === null && parts.has(part) && (paths ?? []).some((pattern) => namesPath(pattern, path, false)),
    ) ?? null
  );
}

export function count(redacting: Redacting, rule: RedactionRule, { part, path }: Place): void {
  redacting.counts[rule.index] = (redacting.counts[rule.index] ?? 0) + 1;
  redacting.report?.(rule, part, path);
}

/** The change that a rule makes to a whole value with this text. */
export function changeWhole(redacting: Redacting, rule: RedactionRule, place: Place, text: string): Change {
  count(redacting, rule, place);
  return rule.action === "drop" ? DROP : { kind: "text", text: rule.substitute(text) };
}

/** Of a text that is not JSON. */
function textRulesAt({ rules }: Redacting, { part, path }: Place, text: string): readonly RedactionRule[] {
  const found = rules.filter(
    ({ find, parts, paths }) =>
      find !== null &&
      parts.has(part) &&
      (paths === null || paths.some((pattern) => namesPath(pattern, path, true) || mayNameInside(pattern, path, text))),
  );
  return found.length === 0 ? NO_RULES : found;
}

/** A text at a place, without the rule for the whole of it. */
export function changeText(redacting: Redacting, place: Place, text: string, nested = 0): Change {
  const first = text.charCodeAt(0);
  const mayBeJson = first === 0x7b || first === 0x5b || first === 0x22 || first <= 0x20;
  if (mayBeJson && nested < NESTED_JSON_MAX) {
    const edits = editsInJson(redacting, place, text, nested);
    if (edits !== null) return edits.length === 0 ? null : { kind: "text", text: withEdits(text, edits) };
  }
  const rule = ruleInside(redacting, place, text);
  return rule === null ? changePlain(redacting, place, text) : changeWhole(redacting, rule, place, text);
}

/** redact-value.4. The rule that may take a value inside this text, which is not JSON. */
function ruleInside({ rules }: Redacting, { part, path }: Place, text: string): RedactionRule | null {
  return (
    rules.find(
      ({ find, parts, paths }) =>
        find === null && parts.has(part) && (paths ?? []).some((pattern) => mayNameInside(pattern, path, text)),
    ) ?? null
  );
}

function changePlain(redacting: Redacting, place: Place, text: string): Change {
  let current = text;
  for (const rule of textRulesAt(redacting, place, text)) {
    const plain = changeView(redacting, { rule, place, view: PLAIN, source: current }, current);
    if (plain === null) return DROP;
    const view = unescaped(plain);
    const next = view === null ? plain : changeView(redacting, { rule, place, view, source: view.text }, plain);
    if (next === null) return DROP;
    current = next; // redact-value.1
  }
  return current === text ? null : { kind: "text", text: current };
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

interface View {
  readonly text: string;
  /** Position in the original text. */
  readonly at: (position: number) => number;
}

const PLAIN: View = { text: "", at: (position) => position };
/** An ASCII character; a line break or tab, which stands between words like any space; a slash. */
const ESCAPE = /\\+(?:u00([2-7][0-9a-fA-F])|([bfnrt])|\/)/g;

/** redact-value.3. null: nothing is escaped. */
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

/** null: the text is not JSON. */
function editsInJson(redacting: Redacting, place: Place, text: string, nested: number): readonly Edit[] | null {
  const tree = jsonTree(text);
  if (tree === null || tree.kind === "other" || tree.kind === "number") return null;
  const after = { text, at: tree.end };
  skipSpace(after);
  if (after.at < text.length) return null;
  const edits: Edit[] = [];
  visit({ redacting, part: place.part, text, nested: nested + 1, edits }, tree, place.path);
  return edits;
}

interface Visiting {
  readonly redacting: Redacting;
  readonly part: Part;
  readonly text: string;
  readonly nested: number;
  readonly edits: Edit[];
}

/** A value of JSON, at the path of the text that contains it: the rule for the whole of that text was asked before. */
function visit(visiting: Visiting, node: JsonNode, path: readonly string[]): void {
  if (node.kind === "object")
    for (const { key, value } of node.members) {
      const name = textOfToken(visiting.text, key);
      visitKey(visiting, key, path, name);
      visitInner(visiting, value, [...path, name]);
    }
  else if (node.kind === "array")
    node.items.forEach((item, index) => visitInner(visiting, item, [...path, String(index)]));
  else if (node.kind !== "other") visitScalar(visiting, node, path);
}

function visitInner(visiting: Visiting, node: JsonNode, path: readonly string[]): void {
  const { part, redacting, text } = visiting;
  const rule = wholeRule(redacting, { part, path });
  if (rule === null) return visit(visiting, node, path);
  const own = node.kind === "string" ? textOfToken(text, node) : text.slice(node.start, node.end);
  edit(visiting, node, changeWhole(redacting, rule, { part, path }, own));
}

/** A key can hold an address or a token as well as a value can. */
function visitKey(visiting: Visiting, key: JsonNode, path: readonly string[], name: string): void {
  const change = changePlain(visiting.redacting, { part: visiting.part, path }, name);
  if (change !== null) edit(visiting, key, change.kind === "drop" ? { kind: "text", text: "" } : change);
}

function visitScalar(visiting: Visiting, node: JsonNode, path: readonly string[]): void {
  const { nested, part, redacting, text } = visiting;
  const own = node.kind === "string" ? textOfToken(text, node) : text.slice(node.start, node.end);
  const place: Place = { part, path };
  edit(
    visiting,
    node,
    node.kind === "string" ? changeText(redacting, place, own, nested) : changePlain(redacting, place, own),
  );
}

/** redact-value.2: a value that goes leaves `null`. */
function edit({ edits }: Visiting, { end, start }: JsonNode, change: Change): void {
  if (change === null) return;
  edits.push({ start, end, text: change.kind === "drop" ? "null" : JSON.stringify(change.text) });
}
