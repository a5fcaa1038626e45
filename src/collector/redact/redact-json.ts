// Redact JSON: rewrites the text of an OTLP request in JSON. The messages are those of protobuf (otlp-messages.ts), with
// names in camel case or snake case; everything else stays as the sender wrote it.
// The text is the bytes of the body, one character each, so that candidates are positions in it; only a text that is
// searched is read as UTF-8.
// Invariants:
//   redact-json.1. A member that no message knows is searched like the value of an attribute.
//   redact-json.3. An item or an attribute without a candidate is not read.
//   redact-json.6. A field for an id or a number keeps what looks like one; anything else in it is searched.
//   redact-json.2. Between two slices of SLICE_CHARS the caller may yield to other requests.
import { DecodeError } from "../otlp/decoded.ts";
import type { Candidates } from "./find/candidates.ts";
import { type JsonNode, jsonTree, skipSpace, stringEnd, valueEnd, withEdits } from "./json-tree.ts";
import type { Message, MessageField } from "./otlp-messages.ts";
import {
  camelCase,
  editText,
  rewriteAnyValue,
  rewriteAttributes,
  rewriteName,
  type Rewriting,
  rewriteTree,
  utf8Of,
} from "./redact-json-value.ts";
import { changeText, changeWhole, type Place, type Redacting, wholeRule } from "./redact-value.ts";

const SLICE_CHARS = 128 * 1024;

/** Envelopes hold the whole body; an item and what is in it are skipped when they have no candidate. */
const ENVELOPE_DEPTH = 5;

interface Walk extends Rewriting {
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
  const walk: Walk = { text, candidates, redacting, edits: [], at: 0, sliceEnd: SLICE_CHARS };
  yield* rewriteMessage(walk, message, 0);
  const { edits } = walk;
  if (edits.length === 0) return null;
  edits.sort((one, other) => one.start - other.start); // a key may follow its value
  const encoded = edits.map(({ text: own, ...range }) => ({ ...range, text: Buffer.from(own).toString("latin1") }));
  return Buffer.from(withEdits(text, encoded), "latin1");
}

/** The object that begins here; anything else than an object is searched as a value. */
function* rewriteMessage(walk: Walk, message: Message, depth: number): Generator<undefined, void> {
  const { text } = walk;
  skipSpace(walk);
  if (depth >= ENVELOPE_DEPTH && skipped(walk)) return;
  if (text[walk.at] === "[") yield* rewriteList(walk, message, depth + 1);
  else if (text[walk.at] === "{") yield* rewriteMembers(walk, message, depth + 1);
  else searchValue(walk, OTHER);
}

/** redact-json.3. Goes behind the value that begins here when it has no candidate. */
function skipped(walk: Walk): boolean {
  const end = valueEnd(walk.text, walk.at);
  if (end < 0 || walk.candidates.within(walk.at, end)) return false;
  walk.at = end;
  return true;
}

function* rewriteMembers(walk: Walk, message: Message, depth: number): Generator<undefined, void> {
  const { text } = walk;
  walk.at++;
  for (;;) {
    skipSpace(walk);
    if (text[walk.at] === "}") break;
    const key = { start: walk.at, end: text[walk.at] === '"' ? stringEnd(text, walk.at) : -1 };
    if (key.end < 0) throw malformed();
    walk.at = key.end;
    skipSpace(walk);
    if (text[walk.at++] !== ":") throw malformed();
    const field = message.byName.get(camelCase(utf8Of(text, key)));
    if (field === undefined && walk.candidates.within(key.start, key.end)) rewriteName(walk, key, OTHER);
    if (field?.kind === "message") yield* rewriteMessage(walk, field.message, depth);
    else rewriteField(walk, field);
    skipSpace(walk);
    if (text[walk.at] === ",") walk.at++;
    else if (text[walk.at] !== "}") throw malformed();
  }
  walk.at++;
  if (walk.at >= walk.sliceEnd) {
    walk.sliceEnd = walk.at + SLICE_CHARS;
    yield; // redact-json.2
  }
}

function* rewriteList(walk: Walk, message: Message, depth: number): Generator<undefined, void> {
  const { text } = walk;
  walk.at++;
  skipSpace(walk);
  while (text[walk.at] !== "]") {
    yield* rewriteMessage(walk, message, depth);
    skipSpace(walk);
    if (text[walk.at] === ",") walk.at++;
    else if (text[walk.at] !== "]") throw malformed();
    skipSpace(walk);
  }
  walk.at++;
}

const OTHER: Place = { part: "other", path: [] };

function malformed(): DecodeError {
  return new DecodeError("the JSON is malformed");
}

function rewriteField(walk: Walk, field: MessageField | undefined): void {
  if (field === undefined || field.kind === "message") return searchValue(walk, OTHER); // redact-json.1
  skipSpace(walk);
  const from = walk.at;
  const node = takeNode(walk);
  if (!walk.candidates.within(from, node.end)) return; // redact-json.3
  if (field.kind === "keep") {
    if (!isPlain(walk.text, node, field.isId)) rewriteTree(walk, node, OTHER); // redact-json.6
    return;
  }
  if (field.kind === "attributes") return rewriteAttributes(walk, node, { part: field.part, path: [] });
  const { edits, redacting, text } = walk;
  if (field.kind === "value") {
    const before = edits.length;
    if (!rewriteAnyValue(walk, node, field)) return;
    edits.length = before;
    edits.push({ start: node.start, end: node.end, text: "{}" });
    return;
  }
  const rule = wholeRule(redacting, field);
  if (rule === null && node.kind !== "string") return rewriteTree(walk, node, field);
  const own = node.kind === "string" ? utf8Of(text, node) : text.slice(node.start, node.end);
  const change = rule === null ? changeText(redacting, field, own) : changeWhole(redacting, rule, field, own);
  editText(walk, node, change, '""');
}

const NUMBER =
  /^"(?:-?[\d.]+(?:[eE][+-]?\d+)?|-?Infinity|NaN|(?:SPAN_KIND|STATUS_CODE|AGGREGATION_TEMPORALITY)_[A-Z]+)?"$/;
const ID = /^"[0-9A-Za-z+/_-]*={0,2}"$/;
/** In hex; a UUID; in base64, also of hex. */
const ID_CHARACTERS: ReadonlySet<number> = new Set([0, 16, 32, 36, 11, 12, 22, 24, 43, 44]);
/** Of byte arrays, of numbers of 64 bits in two halves. */
const PLAIN_NAME = /^"(?:\d+|type|data|low|high|unsigned)"$/;

/** redact-json.6: an id; a number, the name of an enum, or lists of them. */
function isPlain(text: string, node: JsonNode, isId: boolean): boolean {
  const own = (): string => text.slice(node.start, node.end);
  if (node.kind === "object")
    return node.members.every(
      ({ key, value }) =>
        PLAIN_NAME.test(text.slice(key.start, key.end)) &&
        (isPlain(text, value, false) || text.slice(value.start, value.end) === '"Buffer"'),
    );
  if (node.kind === "array") return node.items.every((item) => isPlain(text, item, false));
  if (node.kind !== "string") return true;
  return isId
    ? ID_CHARACTERS.has(own().replaceAll("\\/", "/").length - 2) && ID.test(own().replaceAll("\\/", "/"))
    : NUMBER.test(own());
}

function takeNode(walk: Walk): JsonNode {
  const node = jsonTree(walk.text, walk.at);
  if (node === null) throw malformed();
  walk.at = node.end;
  return node;
}

/** A value of an unknown form. */
function searchValue(walk: Walk, place: Place): void {
  skipSpace(walk);
  const node = takeNode(walk);
  if (walk.candidates.within(node.start, node.end)) rewriteTree(walk, node, place);
}
