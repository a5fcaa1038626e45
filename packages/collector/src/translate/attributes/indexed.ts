// Indexed: attributes of the form `family.N.some.path` → a list of items by N, each a tree of names. Gaps in N are
// skipped: exporters cut spans at 128 attributes, and the remaining ones still count. Invariants:
//   - Until the item is complete, names are keys of maps, so `__proto__` in a path is only a name.
//   - A value and longer names below it (`content`, `content.0.text`) both stay.
//   - Paths end after PATH_PARTS_MAX parts.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { FamilyEntry } from "./span-facts.ts";
import { INDEX_MAX } from "./known-keys.ts";
import { plain } from "./plain-values.ts";

const PATH_PARTS_MAX = 16;

/** Value of a name that has a value, and longer names below it. */
const OWN = Symbol("own value");

type Branch = Map<string | typeof OWN, Branch | Json>;

/** Items in the order of their index. An entry without path (`family.N`) makes the item that value. */
export function joinItems(entries: readonly FamilyEntry[]): readonly Json[] {
  const items = new Map<number, Branch | Json>();
  for (const { index, rest, value } of entries) {
    const known = items.get(index);
    if (rest === "") {
      if (known instanceof Map) known.set(OWN, plain(value));
      else items.set(index, plain(value));
      continue;
    }
    const branch = toBranch(known);
    items.set(index, branch);
    put(branch, rest.split(".", PATH_PARTS_MAX), plain(value));
  }
  return [...items.keys()].sort((a, b) => a - b).map((index) => grown(items.get(index) ?? null));
}

function put(root: Branch, path: readonly string[], value: Json): void {
  let branch = root;
  for (const name of path.slice(0, -1)) {
    const next = branch.get(name);
    if (next instanceof Map) {
      branch = next;
      continue;
    }
    const made = toBranch(next);
    branch.set(name, made);
    branch = made;
  }
  const last = path.at(-1) ?? "";
  const known = branch.get(last);
  if (known instanceof Map) known.set(OWN, value);
  else branch.set(last, value);
}

function toBranch(known: Branch | Json | undefined): Branch {
  if (known instanceof Map) return known;
  return new Map(known === undefined ? [] : [[OWN, known]]);
}

/** A branch whose names are all numbers is a list, any other an object. */
function grown(branch: Branch | Json): Json {
  if (!(branch instanceof Map)) return branch;
  const names = [...branch.keys()].filter((name) => name !== OWN);
  const own = branch.get(OWN);
  if (own === undefined && names.length > 0 && names.every(isIndex))
    return names.sort((a, b) => Number(a) - Number(b)).map((name) => grown(branch.get(name) ?? null));
  const members = names.map((name): [string, Json] => [name, grown(branch.get(name) ?? null)]);
  if (own !== undefined) members.unshift([freeName(branch), grown(own)]);
  return Object.fromEntries(members);
}

function isIndex(name: string): boolean {
  return /^\d{1,4}$/.test(name) && Number(name) <= INDEX_MAX;
}

/** For the value of the branch itself: `value`, unless a longer name ends like that. */
function freeName(branch: Branch): string {
  let name = "value";
  while (branch.has(name)) name = `own_${name}`;
  return name;
}

/** Member of a JSON value by path; undefined when there is none. Own members only. */
export function member(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const name of path) {
    if (typeof at !== "object" || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as JsonObject)[name];
  }
  return at;
}

export function textMember(value: Json | undefined, ...path: readonly string[]): string {
  const found = member(value, ...path);
  return typeof found === "string" ? found : "";
}
