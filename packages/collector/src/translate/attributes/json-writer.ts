// JSON writer: an object's text, member by member. The first value of a name stays, so callers write in order of rank.
// A name never becomes a property of an object.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

export interface ObjectWriter {
  put(name: string, value: Json): void;
  /** `value` is JSON text already. */
  putText(name: string, value: string): void;
  has(name: string): boolean;
  /** Keeps a name for `putReserved`: nothing else can take it. */
  reserve(name: string): void;
  putReserved(name: string, value: string): void;
  /** Members as JSON text. The caller guarantees that all names are new, and does not look them up later. */
  putMembers(members: string): void;
  /** `{…}` */
  text(): string;
}

export function createObjectWriter(): ObjectWriter {
  const names: string[] = [];
  let many: Set<string> | null = null;
  let body = "";
  const has = (name: string): boolean => (many === null ? names.includes(name) : many.has(name));
  const reserve = (name: string): void => {
    if (many !== null) many.add(name);
    else if (names.push(name) > LISTED_MAX) many = new Set(names);
  };
  const write = (name: string, value: string): void => {
    body += `${body === "" ? "" : ","}${nameText(name)}:${value}`;
  };
  const putText = (name: string, value: string): void => {
    if (has(name)) return;
    reserve(name);
    write(name, value);
  };
  return {
    put: (name, value) => putText(name, jsonText(value)),
    putText,
    has,
    reserve,
    putReserved: write,
    putMembers: (members) => {
      body += body === "" || members === "" ? members : `,${members}`;
    },
    text: () => `{${body}}`,
  };
}

function jsonText(value: Json): string {
  return typeof value === "number" && Number.isFinite(value) ? String(value) : JSON.stringify(value);
}

/** Members of an object: JSON text of `name: value` by name. */
export function membersText(members: readonly (readonly [string, string])[]): string {
  return members.map(([name, value]) => `${nameText(name)}:${value}`).join();
}

/** Up to this size a list is faster to search than a set is to create. */
const LISTED_MAX = 32;

const REMEMBERED_MAX = 4096;
const REMEMBERED_CHARS_MAX = 128;
const nameTexts = new Map<string, string>();

/** Names repeat from span to span: a bounded cache keeps their JSON text. */
function nameText(name: string): string {
  const known = nameTexts.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name.toWellFormed());
  if (name.length <= REMEMBERED_CHARS_MAX) {
    if (nameTexts.size >= REMEMBERED_MAX) nameTexts.clear();
    nameTexts.set(name, text);
  }
  return text;
}

/** Adds new members to the text of `object` without rewriting the rest. */
export function extended(text: string, object: JsonObject, name: string, value: Json): string {
  if (Object.hasOwn(object, name)) return text;
  const open = text.trimEnd().slice(0, -1);
  return `${open}${Object.keys(object).length === 0 ? "" : ","}${nameText(name)}:${JSON.stringify(value)}}`;
}
