// API fields: `key=value` options of `holdpoint api` → the members of a request body, or of a query.
// Invariants:
//   api-fields.1. A raw field is text. A typed one is true, false, null or a number if it looks like one, the content
//        of a file after `@`, and text otherwise.
//   api-fields.2. `a[b]=1` sets a member of an object, `a[]=1` adds to a list, `a[][b]=1` a member of its last object
//        or of a new one; `a[]` alone is an empty list.
//   api-fields.3. A key that contradicts an earlier one is an error, as are two values of one key.
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";

export interface Field {
  /** `a[b]=1`, as typed. */
  readonly text: string;
  /** api-fields.1. */
  readonly typed: boolean;
}

type Members = { [name: string]: Json };

/** @param read the content of a file, or of standard input for `-` @throws {CliError} */
export async function readFields(
  fields: readonly Field[],
  read: (file: string) => Promise<string>,
): Promise<Readonly<Members>> {
  const root: Members = {};
  for (const { text, typed } of fields) {
    const equals = text.indexOf("=");
    const key = equals < 0 ? text : text.slice(0, equals);
    const path = splitKey(key);
    if (equals >= 0) {
      const value = text.slice(equals + 1);
      place(root, path, typed ? await readTyped(value, read) : value, key);
    } else if (path.length > 1 && path.at(-1) === "") place(root, path.slice(0, -1), [], key);
    else throw new CliError(`field ${text}: write key=value`, EXIT.usage);
  }
  return root;
}

/** api-fields.2, api-fields.3. @throws {CliError} */
function place(root: Members, path: readonly string[], value: Json, key: string): void {
  const [name = "", ...rest] = path;
  const before = Object.hasOwn(root, name) ? root[name] : undefined;
  if (rest.length === 0) {
    if (before !== undefined) throw new CliError(`field ${key}: it has a value already`, EXIT.usage);
    root[name] = value;
    return;
  }
  if (rest[0] === "") root[name] = extendList(before ?? [], rest.slice(1), value, key);
  else {
    const inner = before ?? {};
    if (!isJsonObject(inner)) throw new CliError(`field ${key}: ${name} is no object`, EXIT.usage);
    const members: Members = { ...inner };
    place(members, rest, value, key);
    root[name] = members;
  }
}

/** A member that the last object has begins the next object. */
function extendList(before: Json, rest: readonly string[], value: Json, key: string): Json {
  if (!Array.isArray(before)) throw new CliError(`field ${key}: it is no list`, EXIT.usage);
  const list = before as readonly Json[];
  if (rest.length === 0) return [...list, value];
  const last = list.at(-1);
  const isOpen = last !== undefined && isJsonObject(last) && !Object.hasOwn(last, rest[0] ?? "");
  const members: Members = isOpen ? { ...last } : {};
  place(members, rest, value, key);
  return [...(isOpen ? list.slice(0, -1) : list), members];
}

const KEY = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;

/** `a[b][]` → `["a", "b", ""]`. @throws {CliError} */
function splitKey(key: string): readonly string[] {
  const [, head = "", rest = ""] = KEY.exec(key) ?? [];
  const path = [head, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, name = ""]) => name)];
  if (head === "" || path.includes("__proto__"))
    throw new CliError(`field ${key}: write name, name[member] or name[]`, EXIT.usage);
  return path;
}

async function readTyped(value: string, read: (file: string) => Promise<string>): Promise<Json> {
  if (value.startsWith("@")) return read(value.slice(1));
  if (value === "true" || value === "false") return value === "true";
  if (value === "null") return null;
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value) && Number.isFinite(Number(value))
    ? Number(value)
    : value;
}
