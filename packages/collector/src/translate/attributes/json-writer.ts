// JSON writer: an object's text, member by member. The first value of a name stays, so callers write in order of rank.
// A name never becomes a property of an object.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

/** A class: a writer of closures costs five times the memory, and every span has three of them. */
export class ObjectWriter {
  readonly #names: string[] = [];
  #many: Set<string> | null = null;
  #body = "";

  put(name: string, value: Json): void {
    this.putText(name, jsonText(value));
  }

  /** `value` is JSON text already. */
  putText(name: string, value: string): void {
    if (this.has(name)) return;
    this.reserve(name);
    this.putReserved(name, value);
  }

  has(name: string): boolean {
    return this.#many === null ? this.#names.includes(name) : this.#many.has(name);
  }

  /** Keeps a name for `putReserved`: nothing else can take it. */
  reserve(name: string): void {
    if (this.#many !== null) this.#many.add(name);
    else if (this.#names.push(name) > LISTED_MAX) this.#many = new Set(this.#names);
  }

  putReserved(name: string, value: string): void {
    this.putMembers(`${nameText(name)}:${value}`);
  }

  /** Members as JSON text. The caller guarantees that all names are new, and does not look them up later. */
  putMembers(members: string): void {
    this.#body += this.#body === "" || members === "" ? members : `,${members}`;
  }

  /** `{…}` */
  text(): string {
    return `{${this.#body}}`;
  }
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
