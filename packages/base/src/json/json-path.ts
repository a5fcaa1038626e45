// JSON path: the texts that a path selects in an object, in the path syntax of LangGraph's stores.
// Invariant json-path.1: a path that matches nothing selects no text; an invalid path is an error.
import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/** A member by its name, or a list index: negative counts from the end, `*` selects every element. */
type PathStep = { readonly name: string } | { readonly place: number | "*" };

export interface IndexedText {
  /** The path, with the index of the text if it selects several. */
  readonly field: string;
  readonly text: string;
}

/** The path of the whole item. */
export const WHOLE_ITEM = "$";

const PART = /^([^.[\]]+)((?:\[(?:\*|-?\d{1,9})\])*)$/;

/**
 * `"a.b[*].c"` → a, b, every element, c.
 * @throws {Error} with the reason.
 */
export function parsePath(path: string): readonly PathStep[] {
  if (path === WHOLE_ITEM) return [];
  return path.split(".").flatMap((part) => {
    const [, name, places = ""] = PART.exec(part) ?? [];
    if (name === undefined) {
      throw new Error(
        `"${path}" is not a field: write "a", "a.b", "a[0]", "a[-1]", "a[*].b", or "$" for the whole item`,
      );
    }
    const steps = [...places.matchAll(/\[([^\]]+)\]/g)].map(([, place]) => ({
      place: place === "*" ? ("*" as const) : Number(place),
    }));
    return [{ name }, ...steps];
  });
}

/** The first value that a path selects; undefined if it selects none. */
export function valueAt(value: JsonObject, path: string): Json | undefined {
  let members: readonly Json[] = [value];
  for (const step of parsePath(path)) members = members.flatMap((member) => follow(member, step));
  return members[0];
}

/** Texts, numbers and booleans as text; objects and lists as JSON. */
export function textsAt(value: JsonObject, path: string): readonly IndexedText[] {
  let members: readonly Json[] = [value];
  for (const step of parsePath(path)) members = members.flatMap((member) => follow(member, step));
  const texts = members.filter((member) => member !== null && member !== "");
  return texts.map((member, at) => ({
    field: texts.length === 1 ? path : `${path}.${at}`,
    text: typeof member === "string" ? member : JSON.stringify(member),
  }));
}

function follow(member: Json, step: PathStep): readonly Json[] {
  if ("name" in step) {
    if (!isJsonObject(member) || !Object.hasOwn(member, step.name)) return []; // json-path.1
    return [member[step.name] as Json];
  }
  if (!Array.isArray(member)) return [];
  const items = member as readonly Json[];
  if (step.place === "*") return items;
  const item = items.at(step.place);
  return item === undefined ? [] : [item];
}
