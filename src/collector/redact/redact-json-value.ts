// Redact JSON value: changes the attributes and values of one item of an OTLP request in JSON (redact-json.ts).
// Invariants:
//   redact-json.4. What the protocol does not have at a place is searched like JSON inside a text: members of other names,
//        and values of another kind.
//   redact-json.5. Of members with one name, the last counts; in an attribute and its value the others go.
import type { Candidates } from "./find/candidates.ts";
import { type Edit, type JsonMember, type JsonNode, jsonTree, textOfToken } from "./json-tree.ts";
import { type Change, changeText, changeWhole, type Place, type Redacting, wholeRule } from "./redact-value.ts";

export interface Rewriting {
  /** The bytes, one character each. */
  readonly text: string;
  readonly candidates: Candidates;
  readonly redacting: Redacting;
  readonly edits: Edit[];
}

type Range = Pick<JsonNode, "start" | "end">;

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
  if (node.kind !== "object" && node.kind !== "array") return rewriteTree(rewriting, node, above); // redact-json.4
  const { edits } = rewriting;
  const entries: readonly Entry[] =
    node.kind === "object" ? node.members.map(entryOfMember) : node.items.map((item) => ({ range: item, item }));
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
  readonly range: Range;
  /** A KeyValue, or a member of an object of keys. */
  readonly item: JsonNode | JsonMember;
}

function entryOfMember(member: JsonMember): Entry {
  return { range: { start: member.key.start, end: member.value.end }, item: member };
}

/** Returns true when the entry goes. */
function rewriteEntry(rewriting: Rewriting, { item }: Entry, above: Place): boolean {
  if ("key" in item) return rewriteKeyValue(rewriting, item, above);
  if (item.kind !== "object") {
    rewriteTree(rewriting, item, above); // redact-json.4
    return false;
  }
  let key: JsonNode | null = null;
  let value: JsonNode | null = null;
  for (const member of withoutRepeats(rewriting, item)) {
    const name = utf8Of(rewriting.text, member.key);
    if (name === "key" && member.value.kind === "string") key = member.value;
    else if (name === "value") ({ value } = member);
    else rewriteUnknown(rewriting, member, above);
  }
  return rewriteKeyValue(rewriting, { key, value }, above);
}

interface KeyValue {
  readonly key: JsonNode | null;
  readonly value: JsonNode | null;
}

/** Returns true when it goes. */
function rewriteKeyValue(rewriting: Rewriting, { key, value }: KeyValue, above: Place): boolean {
  const { redacting, text } = rewriting;
  const name = key === null ? "" : utf8Of(text, key);
  const change = key === null ? null : changeText(redacting, above, name);
  if (change?.kind === "drop") return true;
  if (key !== null) editText(rewriting, key, change, '""');
  return value !== null && rewriteAnyValue(rewriting, value, { part: above.part, path: [...above.path, name] });
}

/** redact-json.5. The members that count; those before them with the same name go. */
function withoutRepeats({ edits, text }: Rewriting, { members }: JsonNode): readonly JsonMember[] {
  const names = members.map(({ key }) => camelCase(utf8Of(text, key)));
  return members.filter(({ key }, index) => {
    const next = members[index + 1];
    if (next === undefined || !names.includes(names[index] ?? "", index + 1)) return true;
    edits.push({ start: key.start, end: next.key.start, text: "" });
    return false;
  });
}

/** redact-json.4. */
function rewriteUnknown(rewriting: Rewriting, { key, value }: JsonMember, place: Place): void {
  rewriteName(rewriting, key, place);
  rewriteTree(rewriting, value, place);
}

/** The name of a member that no message knows. */
export function rewriteName(rewriting: Rewriting, key: Range, place: Place): void {
  editText(rewriting, key, changeText(rewriting.redacting, place, utf8Of(rewriting.text, key)), '""');
}

const SCALARS: ReadonlySet<string> = new Set(["stringValue", "intValue", "doubleValue", "boolValue", "bytesValue"]);

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
  const before = edits.length;
  const members = node.kind === "object" ? withoutRepeats(rewriting, node) : [];
  if (node.kind !== "object") {
    const change = rewriteScalar(rewriting, node, place);
    if (change?.kind === "text") edits.push({ start: node.start, end: node.end, text: JSON.stringify(change.text) });
    return change?.kind === "drop";
  }
  for (const member of members) {
    const kind = camelCase(utf8Of(text, member.key));
    if (kind === "arrayValue" || kind === "kvlistValue") rewriteInner(rewriting, member.value, kind, place);
    else if (!SCALARS.has(kind)) rewriteUnknown(rewriting, member, place);
    else if (kind !== "bytesValue" || !isBytes(text, member.value)) {
      const change = rewriteScalar(rewriting, member.value, place);
      if (change === null) continue;
      if (change.kind === "drop") return true;
      edits.length = before; // nothing else stays of a value of several kinds
      edits.push({ start: node.start, end: node.end, text: stringValue(change.text) });
      return false;
    }
  }
  return false;
}

/** Not searched; text that is no base64 is not such a value. */
function isBytes(text: string, { end, kind, start }: JsonNode): boolean {
  return kind === "string" && /^"[A-Za-z0-9+/_=-]*"$/.test(text.slice(start, end).replaceAll("\\/", "/"));
}

/** ArrayValue or KeyValueList. */
function rewriteInner(rewriting: Rewriting, node: JsonNode, kind: "arrayValue" | "kvlistValue", place: Place): void {
  const { edits, text } = rewriting;
  let list = node;
  if (node.kind === "object" && node.members.some(({ key }) => utf8Of(text, key) === "values"))
    for (const member of withoutRepeats(rewriting, node))
      if (utf8Of(text, member.key) === "values") list = member.value;
      else rewriteUnknown(rewriting, member, place);
  if (kind === "kvlistValue") return rewriteAttributes(rewriting, list, place);
  if (list.kind !== "array") return rewriteTree(rewriting, list, place);
  list.items.forEach((item, index) => {
    const before = edits.length;
    if (!rewriteAnyValue(rewriting, item, { part: place.part, path: [...place.path, String(index)] })) return;
    edits.length = before;
    edits.push({ start: item.start, end: item.end, text: "{}" });
  });
}

/** The change of a text or a number; the inside of anything else is changed at once. */
function rewriteScalar(rewriting: Rewriting, node: JsonNode, place: Place): Change {
  if (node.kind !== "object" && node.kind !== "array")
    return changeText(rewriting.redacting, place, ownText(rewriting.text, node));
  rewriteTree(rewriting, node, place);
  return null;
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

export function editText({ edits }: Rewriting, { end, start }: Range, change: Change, empty: string): void {
  if (change !== null) edits.push({ start, end, text: change.kind === "drop" ? empty : JSON.stringify(change.text) });
}

export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** As textOfToken, of the bytes. */
export function utf8Of(text: string, { end, start }: Range): string {
  const token = decoded(text.slice(start, end));
  return textOfToken(token, { start: 0, end: token.length });
}

function decoded(bytes: string): string {
  return /[\x80-\xff]/.test(bytes) ? Buffer.from(bytes, "latin1").toString() : bytes;
}
