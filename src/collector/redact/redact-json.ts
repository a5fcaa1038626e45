// Redact JSON: rewrites the text of an OTLP request in JSON. The messages are those of protobuf (otlp-messages.ts), with
// names in camel case or snake case; everything else stays as the sender wrote it.
// The text is the bytes of the body, one character each, so that candidates are positions in it; only a text that is
// searched is read as UTF-8.
// Invariants:
//   redact-json.1. A member that no message knows is searched like the value of an attribute.
//   redact-json.3. An item or an attribute without a candidate is not read.
//   redact-json.2. Between two slices of SLICE_CHARS the caller may yield to other requests.
import { DecodeError } from "../otlp/decoded.ts";
import type { Candidates } from "./candidates.ts";
import {
  type Edit,
  type JsonMember,
  type JsonNode,
  jsonTree,
  skipSpace,
  stringEnd,
  textOfToken,
  valueEnd,
  withEdits,
} from "./json-tree.ts";
import type { Message, MessageField } from "./otlp-messages.ts";
import { type Change, changeText, changeWhole, type Place, type Redacting, wholeRule } from "./redact-value.ts";

const SLICE_CHARS = 128 * 1024;

/** Envelopes hold the whole body; an item and what is in it are skipped when they have no candidate. */
const ENVELOPE_DEPTH = 5;

interface Rewriting {
  /** The bytes, one character each. */
  readonly text: string;
  readonly candidates: Candidates;
  readonly redacting: Redacting;
  readonly edits: Edit[];
  at: number;
  sliceEnd: number;
}

/** Returns the new bytes, or null when nothing changes. `body` is valid UTF-8. @throws {DecodeError} */
export function* redactJson(
  body: Buffer,
  message: Message,
  candidates: Candidates,
  redacting: Redacting,
): Generator<undefined, Buffer | null> {
  const text = body.toString("latin1");
  const rewriting: Rewriting = { text, candidates, redacting, edits: [], at: 0, sliceEnd: SLICE_CHARS };
  yield* rewriteMessage(rewriting, message, 0);
  const { edits } = rewriting;
  if (edits.length === 0) return null;
  edits.sort((one, other) => one.start - other.start); // a key may follow its value
  const encoded = edits.map(({ text: own, ...range }) => ({ ...range, text: Buffer.from(own).toString("latin1") }));
  return Buffer.from(withEdits(text, encoded), "latin1");
}

/** The object that begins here; anything else than an object is searched as a value. */
function* rewriteMessage(rewriting: Rewriting, message: Message, depth: number): Generator<undefined, void> {
  const { text } = rewriting;
  skipSpace(rewriting);
  if (depth >= ENVELOPE_DEPTH && skipped(rewriting)) return;
  if (text[rewriting.at] === "[") yield* rewriteList(rewriting, message, depth + 1);
  else if (text[rewriting.at] === "{") yield* rewriteMembers(rewriting, message, depth + 1);
  else searchValue(rewriting, OTHER);
}

/** redact-json.3. Goes behind the value that begins here when it has no candidate. */
function skipped(rewriting: Rewriting): boolean {
  const end = valueEnd(rewriting.text, rewriting.at);
  if (end < 0 || rewriting.candidates.within(rewriting.at, end)) return false;
  rewriting.at = end;
  return true;
}

function* rewriteMembers(rewriting: Rewriting, message: Message, depth: number): Generator<undefined, void> {
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
    const field = message.byName.get(camelCase(utf8Of(text, key)));
    if (field?.kind === "message") yield* rewriteMessage(rewriting, field.message, depth);
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

function* rewriteList(rewriting: Rewriting, message: Message, depth: number): Generator<undefined, void> {
  const { text } = rewriting;
  rewriting.at++;
  skipSpace(rewriting);
  while (text[rewriting.at] !== "]") {
    yield* rewriteMessage(rewriting, message, depth);
    skipSpace(rewriting);
    if (text[rewriting.at] === ",") rewriting.at++;
    else if (text[rewriting.at] !== "]") throw malformed();
    skipSpace(rewriting);
  }
  rewriting.at++;
}

/** As textOfToken, of the bytes. */
function utf8Of(text: string, { end, start }: Pick<JsonNode, "start" | "end">): string {
  const token = decoded(text.slice(start, end));
  return textOfToken(token, { start: 0, end: token.length });
}

function decoded(bytes: string): string {
  return /[\x80-\xff]/.test(bytes) ? Buffer.from(bytes, "latin1").toString() : bytes;
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
  skipSpace(rewriting);
  const from = rewriting.at;
  const node = takeNode(rewriting);
  if (field.kind === "keep" || !rewriting.candidates.within(from, node.end)) return; // redact-json.3
  if (field.kind === "attributes") return rewriteAttributes(rewriting, node, { part: field.part, path: [] });
  if (field.kind === "value") return void rewriteAnyValue(rewriting, node, field);
  const { redacting, text } = rewriting;
  if (node.kind !== "string") return rewriteTree(rewriting, node, field);
  const own = utf8Of(text, node);
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
  skipSpace(rewriting);
  const node = takeNode(rewriting);
  if (rewriting.candidates.within(node.start, node.end)) rewriteTree(rewriting, node, place);
}

/** The node as JSON inside a text would be searched. */
function rewriteTree(rewriting: Rewriting, { end, start }: JsonNode, place: Place): void {
  const change = changeText(rewriting.redacting, place, decoded(rewriting.text.slice(start, end)));
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

function edit({ edits }: Rewriting, { end, start }: JsonNode, change: Change, empty: string): void {
  if (change !== null) edits.push({ start, end, text: change.kind === "drop" ? empty : JSON.stringify(change.text) });
}
