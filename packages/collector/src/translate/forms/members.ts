// Members: what a rule took of an object, and what stays beside it.
// Invariants:
//   - Of several names for one thing the first with a value counts. Another one is used only when it says the same;
//     with a value of its own it stays under its own name.
//   - A member whose name the target has with another value stays as `original_<name>`.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { member } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";

/** The value of the first name that has one, else `known`; records in `used` the names that say no more. */
export function take(
  from: JsonObject,
  used: Set<string>,
  names: readonly string[],
  known: Json | undefined = null,
): Json {
  let found = known ?? null;
  for (const name of names) {
    const value = from[name];
    if (value === undefined) continue;
    if (found === null) found = value;
    if (value === null || isSame(value, found)) used.add(name);
  }
  return found;
}

/** `made`, and beside it the members of `from` that are not in `used`. Without any it is the same object. */
export function withRest(made: JsonObject, from: JsonObject, used: ReadonlySet<string>): JsonObject {
  let whole: Record<string, Json> | null = null;
  for (const name of Object.keys(from)) {
    if (used.has(name)) continue;
    const value = from[name] ?? null;
    const free = freeName(whole ?? made, name, value);
    if (free === null) continue;
    whole ??= { ...made };
    if (free === "__proto__") Object.defineProperty(whole, free, { value, ...PLAIN }); // only a name here
    else whole[free] = value;
  }
  return whole ?? made;
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;

/** null: the value is there already, or says nothing under a name that is taken. */
function freeName(whole: JsonObject, name: string, value: Json): string | null {
  let free = name;
  while (Object.hasOwn(whole, free)) {
    if (value === null || value === "" || isSame(whole[free] ?? null, value)) return null;
    free = `original_${free}`;
  }
  return free;
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
