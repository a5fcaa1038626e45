// Redact JSON: an OTLP request in JSON, read item by item and written again where something changed. The messages are those
// of protobuf (otlp-messages.ts), with names in camel case or snake case.
// Invariants:
//   - A member that no message knows is searched like JSON inside a text.
//   - An item, and the rest of the request around the items, keep their text when nothing in them changes.
//   - Of members with one name, the last counts; the others go.
//   - A field for an id or a number keeps what looks like one; anything else in it is searched.
//   - Between two slices of SLICE_BYTES the caller may yield to other requests.
import { DecodeError } from "../otlp/decoded.ts";
import { groupOfMark, type JsonScan, scanJson, withGroups } from "../otlp/json-scan.ts";
import { isObject, mapItems, mapMembers, parseJson, REMOVED } from "./json-text.ts";
import { type Message, type MessageField, REQUESTS } from "./otlp-messages.ts";
import { camelCase, OTHER, rewriteAnyValue, rewriteAttributes, rewriteText } from "./redact-json-value.ts";
import { changeJson, changeName, type Redacting } from "./redact-value.ts";
import { findPlace } from "./rules-at.ts";

const SLICE_BYTES = 128 * 1024;

interface Walk {
  readonly redacting: Redacting;
  /** The message that the items of a group are, by the number of the group. */
  readonly messages: Map<number, Message>;
}

/** Returns the new bytes, or null when nothing changes. `body` is valid UTF-8. @throws {DecodeError} */
export function* redactJson(
  body: Buffer,
  signal: keyof typeof REQUESTS,
  redacting: Redacting,
): Generator<undefined, Buffer | null> {
  const scan = yield* scanJson(body, signal, "as it is");
  const walk: Walk = { redacting, messages: new Map() };
  const envelope = rewriteJson(scan.skeleton, (value) => rewriteMessage(walk, value, REQUESTS[signal]));
  const items = yield* rewriteItems(walk, scan);
  if (envelope === null && items === null) return null;
  return Buffer.from(
    withGroups(envelope ?? scan.skeleton, items ?? scan.groups.map((group) => group.map(scan.decodeText))),
  );
}

/** The texts of all items, by group; null when none changes. */
function* rewriteItems(walk: Walk, scan: JsonScan): Generator<undefined, string[][] | null> {
  let isChanged = false;
  let bytes = 0;
  const groups: string[][] = [];
  for (const [number, group] of scan.groups.entries()) {
    const texts: string[] = [];
    groups.push(texts);
    const message = walk.messages.get(number);
    for (const range of group) {
      const text = scan.decodeText(range);
      const changed = rewriteJson(text, (value) =>
        message === undefined
          ? changeJson(walk.redacting, findPlace(walk.redacting.places, OTHER), value)
          : rewriteMessage(walk, value, message),
      );
      isChanged ||= changed !== null;
      texts.push(changed ?? text);
      bytes += range.end - range.start;
      if (bytes < SLICE_BYTES) continue;
      bytes = 0;
      yield;
    }
  }
  return isChanged ? groups : null;
}

/** null: the text stays as it is. @throws {DecodeError} */
function rewriteJson(text: string, rewrite: (value: unknown) => unknown): string | null {
  const json = parseJson(text);
  if (json === null) throw new DecodeError("the JSON is malformed");
  const after = rewrite(json.value);
  return after === json.value && !json.hasRepeats ? null : JSON.stringify(after);
}

function rewriteMessage(walk: Walk, value: unknown, message: Message): unknown {
  if (Array.isArray(value)) return mapItems(value, (item) => rewriteMessage(walk, item, message));
  if (!isObject(value)) {
    const group = groupOfMark(value);
    if (group === null) return changeJson(walk.redacting, findPlace(walk.redacting.places, OTHER), value);
    walk.messages.set(group, message);
    return value;
  }
  return mapMembers(value, (name, member) => {
    const field = message.byName.get(camelCase(name));
    return [
      field === undefined ? changeName(walk.redacting, findPlace(walk.redacting.places, OTHER), name) : name,
      field?.kind === "message" ? rewriteMessage(walk, member, field.message) : rewriteField(walk, member, field),
    ];
  });
}

function rewriteField(
  { redacting }: Walk,
  value: unknown,
  field: Exclude<MessageField, { kind: "message" }> | undefined,
): unknown {
  if (field === undefined) return changeJson(redacting, findPlace(redacting.places, OTHER), value);
  if (field.kind === "keep")
    return isPlain(value, field.isId) ? value : changeJson(redacting, findPlace(redacting.places, OTHER), value);
  if (field.kind === "attributes")
    return rewriteAttributes(redacting, value, findPlace(redacting.places, { part: field.part, path: [] }));
  if (field.kind === "text") return rewriteText(redacting, value, findPlace(redacting.places, field));
  const after = rewriteAnyValue(redacting, value, findPlace(redacting.places, field));
  return after === REMOVED ? {} : after;
}

const NUMBER =
  /^(?:-?[\d.]+(?:[eE][+-]?\d+)?|-?Infinity|NaN|(?:SPAN_KIND|STATUS_CODE|AGGREGATION_TEMPORALITY)_[A-Z]+)?$/;
const ID = /^[0-9A-Za-z+/_-]*={0,2}$/;
/** In hex; a UUID; in base64, also of hex. */
const ID_CHARACTERS: ReadonlySet<number> = new Set([0, 16, 32, 36, 11, 12, 22, 24, 43, 44]);
/** Member names of byte arrays, of numbers of 64 bits in two halves. */
const PLAIN_NAME = /^(?:\d+|type|data|low|high|unsigned)$/;

/** An id; a number, the name of an enum, or lists of them. */
function isPlain(value: unknown, isId: boolean): boolean {
  if (Array.isArray(value)) return value.every((item) => isPlain(item, false));
  if (isObject(value))
    return Object.entries(value).every(
      ([name, member]) => PLAIN_NAME.test(name) && (isPlain(member, false) || member === "Buffer"),
    );
  if (typeof value !== "string") return true;
  return isId ? ID_CHARACTERS.has(value.length) && ID.test(value) : NUMBER.test(value);
}
