// Redact JSON value: changes the attributes and values of one item of an OTLP request in JSON (redact-json.ts).
// Invariant: what the protocol does not have at a place is searched like JSON inside a text: members of other names,
// and values of another kind.
import { isObject, mapItems, mapMembers, REMOVED } from "./json-text.ts";
import { type Change, changeJson, changeName, changeText, changeWhole, type Redacting } from "./redact-value.ts";
import { type Place, placeBelow, type PlaceName } from "./rules-at.ts";

/** What no message knows. */
export const OTHER: PlaceName = { part: "other", path: [] };

/** A field of the protocol with a text. */
export function rewriteText(redacting: Redacting, value: unknown, place: Place): unknown {
  const rule = place.whole;
  if (rule === null && typeof value !== "string") return changeJson(redacting, place, value);
  const own = typeof value === "string" ? value : JSON.stringify(value);
  const change = rule === null ? changeText(redacting, place, own) : changeWhole(redacting, rule, place, own);
  return change === null ? value : change.kind === "drop" ? "" : change.text;
}

/** A list of KeyValue; some senders write an object of keys. */
export function rewriteAttributes(redacting: Redacting, value: unknown, above: Place): unknown {
  if (isObject(value))
    return mapMembers(value, (name, member) => rewritePair(redacting, name, member, above) ?? [name, REMOVED]);
  if (!Array.isArray(value)) return changeJson(redacting, above, value);
  return mapItems(value, (item) =>
    isObject(item) ? rewriteKeyValue(redacting, item, above) : changeJson(redacting, above, item),
  );
}

/** null: both go. */
function rewritePair(
  redacting: Redacting,
  key: string,
  value: unknown,
  above: Place,
): readonly [key: string, value: unknown] | null {
  const change = changeText(redacting, above, key);
  if (change?.kind === "drop") return null;
  const after = rewriteAnyValue(redacting, value, placeBelow(redacting.places, above, key));
  return after === REMOVED ? null : [change?.text ?? key, after];
}

function rewriteKeyValue(redacting: Redacting, item: Readonly<Record<string, unknown>>, above: Place): unknown {
  const key = typeof item["key"] === "string" ? item["key"] : "";
  const pair = rewritePair(redacting, key, item["value"], above);
  if (pair === null) return REMOVED;
  return mapMembers(item, (name, member) => {
    if (name === "value") return [name, pair[1]];
    if (name === "key" && typeof member === "string") return [name, pair[0]];
    return rewriteUnknown(redacting, name, member, above);
  });
}

function rewriteUnknown(
  redacting: Redacting,
  name: string,
  member: unknown,
  place: Place,
): readonly [name: string, member: unknown] {
  return [changeName(redacting, place, name), changeJson(redacting, place, member)];
}

const SCALARS: ReadonlySet<string> = new Set(["stringValue", "intValue", "doubleValue", "boolValue", "bytesValue"]);

/** AnyValue. REMOVED: it goes. */
export function rewriteAnyValue(redacting: Redacting, value: unknown, place: Place): unknown {
  const rule = place.whole;
  if (rule !== null) return asValue(changeWhole(redacting, rule, place, ownText(value)), value);
  if (!isObject(value)) return rewriteScalar(redacting, value, place, (text) => text);
  let whole: unknown = value;
  const after = mapMembers(value, (name, member) => {
    const kind = camelCase(name);
    if (kind === "arrayValue" || kind === "kvlistValue") return [name, rewriteInner(redacting, member, kind, place)];
    if (!SCALARS.has(kind)) return rewriteUnknown(redacting, name, member, place);
    if (kind === "bytesValue" && isBytes(member)) return [name, member];
    const scalar = rewriteScalar(redacting, member, place, stringValue);
    if (scalar === REMOVED || isObject(scalar)) whole = scalar; // nothing else stays of a value of several kinds
    return [name, scalar];
  });
  return whole === value ? after : whole;
}

/** A text or a number as a whole; the inside of anything else. */
function rewriteScalar(
  redacting: Redacting,
  value: unknown,
  place: Place,
  toValue: (text: string) => unknown,
): unknown {
  if (value === undefined || value === null) return value;
  if (isObject(value) || Array.isArray(value)) return changeJson(redacting, place, value);
  return asValue(changeText(redacting, place, ownText(value)), value, toValue);
}

function asValue(change: Change, value: unknown, toValue: (text: string) => unknown = stringValue): unknown {
  return change === null ? value : change.kind === "drop" ? REMOVED : toValue(change.text);
}

function stringValue(stringValue: string): unknown {
  return { stringValue };
}

/** Not searched; text that is no base64 is not such a value. */
function isBytes(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z0-9+/_=-]*$/.test(value);
}

/** ArrayValue or KeyValueList. */
function rewriteInner(redacting: Redacting, value: unknown, kind: "arrayValue" | "kvlistValue", place: Place): unknown {
  if (isObject(value) && Object.hasOwn(value, "values"))
    return mapMembers(value, (name, member) =>
      name === "values"
        ? [name, rewriteInner(redacting, member, kind, place)]
        : rewriteUnknown(redacting, name, member, place),
    );
  if (kind === "kvlistValue") return rewriteAttributes(redacting, value, place);
  if (!Array.isArray(value)) return changeJson(redacting, place, value);
  return mapItems(value, (item, index) => {
    const after = rewriteAnyValue(redacting, item, placeBelow(redacting.places, place, String(index)));
    return after === REMOVED ? {} : after; // the positions of the others stay
  });
}

/** Text itself; for an AnyValue with a text, that text, as in protobuf. */
function ownText(value: unknown): string {
  if (typeof value === "string") return value;
  const [only] = isObject(value) ? Object.values(value) : [];
  return typeof only === "string" ? only : JSON.stringify(value ?? null);
}

export function camelCase(name: string): string {
  return name.includes("_") ? name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name;
}
