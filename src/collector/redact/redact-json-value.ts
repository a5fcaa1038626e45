// Redact JSON value: changes the attributes and values of one item of an OTLP request in JSON (redact-json.ts).
// Invariant redact-json.3: an attribute without a candidate is not read.
import type { Candidates } from "./candidates.ts";
import { type Edit, type JsonMember, type JsonNode, jsonTree, textOfToken } from "./json-tree.ts";
import { type Change, changeText, changeWhole, type Place, type Redacting, wholeRule } from "./redact-value.ts";

export interface Rewriting {
  /** The bytes, one character each. */
  readonly text: string;
  readonly candidates: Candidates;
  readonly redacting: Redacting;
  readonly edits: Edit[];
}

/** The node as JSON inside a text would be searched. */
export function rewriteTree(rewriting: Rewriting, { end, start }: JsonNode, place: Place): void {
  const change = changeText(rewriting.redacting, place, decoded(rewriting.text.slice(start, end)));
  if (change === null) return;
  rewriting.edits.push({ start, end, text: change.kind === "drop" ? "null" : asJson(change.text) });
}

/** A number in which a rule found something becomes a text. */
function asJson(text: string): string {
  return jsonTree(text) === null ? JSON.stringify(text) : text;
}

/** A list of KeyValue; some senders write an object of keys. */
export function rewriteAttributes(rewriting: Rewriting, node: JsonNode, above: Place): void {
  const { edits, text } = rewriting;
  const entries =
    node.kind === "object" ? node.members.map(entryOfMember) : node.items.map((item) => entryOf(text, item));
  let kept = 0;
  const isInner = above.path.length > 0; // the candidate of a path may be the key above
  entries.forEach((entry, index) => {
    const before = edits.length;
    const mayHave = isInner || rewriting.candidates.within(entry.range.start, entry.range.end); // redact-json.3
    if (!mayHave || !rewriteEntry(rewriting, entry, above)) {
      kept++;
      return;
    }
    edits.length = before;
    // With the comma before it, or after it while nothing stands before.
    const { end, start } = entry.range;
    const next = entries[index + 1]?.range.start ?? end;
    const range = kept > 0 ? { start: entries[index - 1]?.range.end ?? start, end } : { start, end: next };
    edits.push({ ...range, text: "" });
  });
}

interface Entry {
  readonly range: { readonly start: number; readonly end: number };
  readonly key: JsonNode | null;
  readonly value: JsonNode | null;
}

function entryOfMember({ key, value }: JsonMember): Entry {
  return { range: { start: key.start, end: value.end }, key, value };
}

function entryOf(text: string, item: JsonNode): Entry {
  const members = new Map(item.members.map(({ key, value }) => [utf8Of(text, key), value]));
  const key = members.get("key");
  return { range: item, key: key?.kind === "string" ? key : null, value: members.get("value") ?? null };
}

/** Returns true when the entry goes. */
function rewriteEntry(rewriting: Rewriting, { key, value }: Entry, above: Place): boolean {
  const { redacting, text } = rewriting;
  const name = key === null ? "" : utf8Of(text, key);
  const change = key === null ? null : changeText(redacting, above, name);
  if (change?.kind === "drop") return true;
  if (key !== null) editText(rewriting, key, change, '""');
  return value !== null && rewriteAnyValue(rewriting, value, { part: above.part, path: [...above.path, name] });
}

const INNER = { arrayValue: "array", kvlistValue: "map" } as const;

/** AnyValue. Returns true when it goes. */
export function rewriteAnyValue(rewriting: Rewriting, node: JsonNode, place: Place): boolean {
  const { edits, redacting, text } = rewriting;
  const rule = wholeRule(redacting, place);
  if (rule !== null) {
    const change = changeWhole(redacting, rule, place, ownText(text, node));
    if (change === null || change.kind === "drop") return true;
    edits.push({ start: node.start, end: node.end, text: stringValue(change.text) });
    return false;
  }
  if (node.kind !== "object") return rewriteScalar(rewriting, node, node, place);
  for (const { key, value } of node.members) {
    const kind = camelCase(utf8Of(text, key));
    const inner = kind === "arrayValue" || kind === "kvlistValue" ? INNER[kind] : null;
    if (kind === "bytesValue") continue;
    if (inner === null) {
      if (rewriteScalar(rewriting, value, node, place)) return true;
      continue;
    }
    const list = value.members.find((member) => utf8Of(text, member.key) === "values")?.value ?? value;
    if (inner === "map") rewriteAttributes(rewriting, list, place);
    else
      list.items.forEach((item, index) => {
        const before = edits.length;
        if (!rewriteAnyValue(rewriting, item, { part: place.part, path: [...place.path, String(index)] })) return;
        edits.length = before;
        edits.push({ start: item.start, end: item.end, text: "{}" });
      });
  }
  return false;
}

/** stringValue, intValue, doubleValue. Returns true when it goes. */
function rewriteScalar(rewriting: Rewriting, node: JsonNode, whole: JsonNode, place: Place): boolean {
  const { edits, redacting, text } = rewriting;
  if (node.kind === "object" || node.kind === "array") {
    rewriteTree(rewriting, node, place);
    return false;
  }
  const change = changeText(redacting, place, ownText(text, node));
  if (change === null) return false;
  if (change.kind === "drop") return true;
  const isOwn = whole === node;
  edits.push({
    start: whole.start,
    end: whole.end,
    text: isOwn ? JSON.stringify(change.text) : stringValue(change.text),
  });
  return false;
}

/** Of a text: itself. Of an AnyValue with a text: the text, as in protobuf. */
function ownText(text: string, node: JsonNode): string {
  if (node.kind === "string") return utf8Of(text, node);
  const [only] = node.members;
  return only?.value.kind === "string" ? utf8Of(text, only.value) : decoded(text.slice(node.start, node.end));
}

function stringValue(text: string): string {
  return JSON.stringify({ stringValue: text });
}

export function editText({ edits }: Rewriting, { end, start }: JsonNode, change: Change, empty: string): void {
  if (change !== null) edits.push({ start, end, text: change.kind === "drop" ? empty : JSON.stringify(change.text) });
}

export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** As textOfToken, of the bytes. */
export function utf8Of(text: string, { end, start }: Pick<JsonNode, "start" | "end">): string {
  const token = decoded(text.slice(start, end));
  return textOfToken(token, { start: 0, end: token.length });
}

function decoded(bytes: string): string {
  return /[\x80-\xff]/.test(bytes) ? Buffer.from(bytes, "latin1").toString() : bytes;
}
