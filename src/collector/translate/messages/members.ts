// Members: what a rule took of an object, and what stays beside it.
// Invariants:
//   members.1. Of several names for one thing the first with a value counts. Another one is used only when it says the
//        same; with a value of its own it stays under its own name.
//   members.2. A member whose name the target has with another value stays as `original_<name>`.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { member } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";

/** The value of the first name that has one, else `known`; records in `used` the names that say no more (members.1). */
export function take(from: JsonObject, used: Set<string>, names: readonly string[], known: Json = null): Json {
  let found = known;
  for (const name of names) {
    const value = from[name];
    if (value === undefined) continue;
    if (found === null) found = value;
    if (value === null || isSame(value, found)) used.add(name);
  }
  return found;
}

/** `made`, and beside it the members of `from` that are not in `used` (members.2). */
export function withRest(made: JsonObject, from: JsonObject, used: ReadonlySet<string>): JsonObject {
  let whole: Map<string, Json> | null = null;
  for (const name of Object.keys(from)) {
    if (used.has(name)) continue;
    whole ??= new Map(Object.entries(made));
    put(whole, name, from[name] ?? null);
  }
  return whole === null ? made : Object.fromEntries(whole); // `__proto__` is only a name here
}

function put(whole: Map<string, Json>, name: string, value: Json): void {
  let free = name;
  for (let known = whole.get(free); known !== undefined; known = whole.get(free)) {
    if (value === null || value === "" || isSame(known, value)) return;
    free = `original_${free}`;
  }
  whole.set(free, value);
}

/** {[name]: inner, …siblings} → what `read` makes of the inner value, with the siblings beside it. */
export function unwrapped(item: Json, name: string, read: (inner: Json) => Json = (inner) => inner): Json {
  const inner = member(item, name);
  if (inner === undefined || !isObject(item)) return read(item);
  const value = read(inner);
  if (Object.keys(item).length === 1) return value;
  return isObject(value) ? withRest(value, item, new Set([name])) : item;
}

function isSame(one: Json, other: Json): boolean {
  return one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));
}
