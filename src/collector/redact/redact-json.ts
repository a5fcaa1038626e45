// Redact JSON: rewrites the text of an OTLP request in JSON. The messages are those of protobuf (otlp-messages.ts), with
// names in camel case or snake case; everything else stays as the sender wrote it.
// Invariants:
//   redact-json.1. A member that no message knows is searched like the value of an attribute.
//   redact-json.2. Between two slices of SLICE_CHARS the caller may yield to other requests.
import { DecodeError } from "../otlp/decoded.ts";
import {
  type Edit,
  type JsonMember,
  type JsonNode,
  jsonTree,
  skipSpace,
  stringEnd,
  textOfToken,
  withEdits,
} from "./json-tree.ts";
import type { Message, MessageField } from "./otlp-messages.ts";
import { type Change, changeText, changeWhole, type Place, type Redacting, wholeRule } from "./redact-value.ts";

const SLICE_CHARS = 128 * 1024;

interface Rewriting {
  readonly text: string;
  readonly redacting: Redacting;
  readonly edits: Edit[];
  at: number;
  sliceEnd: number;
}

/** Returns the new text, or null when nothing changes. @throws {DecodeError} */
export function* redactJson(text: string, message: Message, redacting: Redacting): Generator<undefined, string | null> {
  const rewriting: Rewriting = { text, redacting, edits: [], at: 0, sliceEnd: SLICE_CHARS };
  yield* rewriteMessage(rewriting, message);
  const { edits } = rewriting;
  edits.sort((one, other) => one.start - other.start); // a key may follow its value
  return edits.length === 0 ? null : withEdits(text, edits);
}

/** The object that begins here; anything else than an object is searched as a value. */
function* rewriteMessage(rewriting: Rewriting, message: Message): Generator<undefined, void> {
  const { text } = rewriting;
  skipSpace(rewriting);
  if (text[rewriting.at] === "[") yield* rewriteList(rewriting, message);
  else if (text[rewriting.at] === "{") yield* rewriteMembers(rewriting, message);
  else searchValue(rewriting, OTHER);
}

function* rewriteMembers(rewriting: Rewriting, message: Message): Generator<undefined, void> {
  const { text } = rewriting;
  rewriting.at++;
  for (;;) {
    skipSpace(rewriting);
    if (text[rewriting.at] === "}") break;
    const key = { start: rewriting.at, end: text[rewriting.at] === '"' ? stringEnd(text, rewriting.at) : -1 };
    if (key.end < 0) throw malformed();
    rewriting.at = key.end;
    skipSpace(rewriting);
    if (text[rewriting.at++] !== ":") throw malformed();
    const field = message.byName.get(camelCase(textOfToken(text, key)));
    if (field?.kind === "message") yield* rewriteMessage(rewriting, field.message);
    else rewriteField(rewriting, field);
    skipSpace(rewriting);
    if (text[rewriting.at] === ",") rewriting.at++;
    else if (text[rewriting.at] !== "}") throw malformed();
  }
  rewriting.at++;
  if (rewriting.at >= rewriting.sliceEnd) {
    rewriting.sliceEnd = rewriting.at + SLICE_CHARS;
    yield; // redact-json.2
  }
}

function* rewriteList(rewriting: Rewriting, message: Message): Generator<undefined, void> {
  const { text } = rewriting;
  rewriting.at++;
  skipSpace(rewriting);
  while (text[rewriting.at] !== "]") {
    yield* rewriteMessage(rewriting, message);
    skipSpace(rewriting);
    if (text[rewriting.at] === ",") rewriting.at++;
    else if (text[rewriting.at] !== "]") throw malformed();
    skipSpace(rewriting);
  }
  rewriting.at++;
}

const OTHER: Place = { part: "other", path: [] };

function malformed(): DecodeError {
  return new DecodeError("the JSON is malformed");
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function rewriteField(rewriting: Rewriting, field: MessageField | undefined): void {
  if (field === undefined || field.kind === "message") return searchValue(rewriting, OTHER); // redact-json.1
  const node = takeNode(rewriting);
  if (field.kind === "keep") return;
  if (field.kind === "attributes") return rewriteAttributes(rewriting, node, { part: field.part, path: [] });
  if (field.kind === "value") return void rewriteAnyValue(rewriting, node, field);
  const { redacting, text } = rewriting;
  if (node.kind !== "string") return rewriteTree(rewriting, node, field);
  const own = textOfToken(text, node);
  const rule = wholeRule(redacting, field);
  const change = rule === null ? changeText(redacting, field, own) : changeWhole(redacting, rule, field, own);
  edit(rewriting, node, change, '""');
}

function takeNode(rewriting: Rewriting): JsonNode {
  const node = jsonTree(rewriting.text, rewriting.at);
  if (node === null) throw malformed();
  rewriting.at = node.end;
  return node;
}

/** A value of an unknown form. */
function searchValue(rewriting: Rewriting, place: Place): void {
  rewriteTree(rewriting, takeNode(rewriting), place);
}

/** The node as JSON inside a text would be searched. */
function rewriteTree(rewriting: Rewriting, { end, start }: JsonNode, place: Place): void {
  const change = changeText(rewriting.redacting, place, rewriting.text.slice(start, end));
  if (change === null) return;
  rewriting.edits.push({ start, end, text: change.kind === "drop" ? "null" : asJson(change.text) });
}

/** A number in which a rule found something becomes a text. */
function asJson(text: string): string {
  return jsonTree(text) === null ? JSON.stringify(text) : text;
}

/** A list of KeyValue; some senders write an object of keys. */
function rewriteAttributes(rewriting: Rewriting, node: JsonNode, above: Place): void {
  const { edits, text } = rewriting;
  const entries =
    node.kind === "object" ? node.members.map(entryOfMember) : node.items.map((item) => entryOf(text, item));
  let kept = 0;
  entries.forEach((entry, index) => {
    const before = edits.length;
    if (!rewriteEntry(rewriting, entry, above)) {
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
  const members = new Map(item.members.map(({ key, value }) => [textOfToken(text, key), value]));
  const key = members.get("key");
  return { range: item, key: key?.kind === "string" ? key : null, value: members.get("value") ?? null };
}

/** Returns true when the entry goes. */
function rewriteEntry(rewriting: Rewriting, { key, value }: Entry, above: Place): boolean {
  const { redacting, text } = rewriting;
  const name = key === null ? "" : textOfToken(text, key);
  const change = key === null ? null : changeText(redacting, above, name);
  if (change?.kind === "drop") return true;
  if (key !== null) edit(rewriting, key, change, '""');
  return value !== null && rewriteAnyValue(rewriting, value, { part: above.part, path: [...above.path, name] });
}

const INNER = { arrayValue: "array", kvlistValue: "map" } as const;

/** AnyValue. Returns true when it goes. */
function rewriteAnyValue(rewriting: Rewriting, node: JsonNode, place: Place): boolean {
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
    const kind = camelCase(textOfToken(text, key));
    const inner = kind === "arrayValue" || kind === "kvlistValue" ? INNER[kind] : null;
    if (kind === "bytesValue") continue;
    if (inner === null) {
      if (rewriteScalar(rewriting, value, node, place)) return true;
      continue;
    }
    const list = value.members.find((member) => textOfToken(text, member.key) === "values")?.value ?? value;
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
  if (node.kind === "string") return textOfToken(text, node);
  const [only] = node.members;
  return only?.value.kind === "string" ? textOfToken(text, only.value) : text.slice(node.start, node.end);
}

function stringValue(text: string): string {
  return JSON.stringify({ stringValue: text });
}

function edit({ edits }: Rewriting, { end, start }: JsonNode, change: Change, empty: string): void {
  if (change !== null) edits.push({ start, end, text: change.kind === "drop" ? empty : JSON.stringify(change.text) });
}
