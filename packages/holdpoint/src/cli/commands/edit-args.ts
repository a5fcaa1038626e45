// Edit of arguments: `amount=5` and the arguments of an action → its new arguments. Values keep their types.
// Invariants:
//   edit-args.1. A value keeps its type: text stays text even if it looks like a number; a value of another type is an
//        error.
//   edit-args.2. Unnamed arguments stay unchanged.
import { type Json, type JsonObject, isJsonObject, parseJson } from "@holdpoint/base/json/json.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { jsonText } from "../output/sanitize.ts";

/** @param changes each `name=value`; `a.b=value` for a nested member. @throws {CliError} */
export function editArgs(args: Json, changes: readonly string[]): JsonObject {
  if (!isJsonObject(args))
    throw new CliError("the arguments are not an object: pass all of them with --args", EXIT.usage);
  return changes.reduce((edited, change) => {
    const equals = change.indexOf("=");
    if (equals < 1) throw new CliError(`--set ${change}: write name=value`, EXIT.usage);
    return set(edited, change.slice(0, equals), change.slice(equals + 1));
  }, args);
}

function set(args: JsonObject, path: string, text: string): JsonObject {
  const dot = path.indexOf(".");
  const head = path.slice(0, Math.max(0, dot));
  const inner = dot > 0 && !Object.hasOwn(args, path) ? args[head] : undefined;
  if (inner === undefined)
    return { ...args, [path]: valueLike(Object.hasOwn(args, path) ? args[path] : undefined, text, path) };
  if (!isJsonObject(inner)) throw new CliError(`--set ${path}: ${head} has no members`, EXIT.usage);
  return { ...args, [head]: set(inner, path.slice(dot + 1), text) }; // edit-args.2
}

/** edit-args.1. */
function valueLike(before: Json | undefined, text: string, path: string): Json {
  if (typeof before === "string") return text;
  const value = parseJson(text);
  if (before === undefined || before === null) return value === undefined ? text : value;
  if (value === undefined || nameKind(value) !== nameKind(before)) {
    const hint = nameKind(before) === "number" ? "5" : nameKind(before) === "boolean" ? "true or false" : "JSON";
    throw new CliError(
      `--set ${path}: the value is of type ${nameKind(before)}: write ${hint}; to change the type, use --args`,
      EXIT.usage,
    );
  }
  return value;
}

function nameKind(value: Json): string {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}

/** One line per changed member: `amount: 129.9 → 100`. */
export function listChanges(before: Json, after: Json, path = ""): readonly string[] {
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) =>
      listChanges(before[name] ?? null, after[name] ?? null, path === "" ? name : `${path}.${name}`),
    );
  }
  const [from, to] = [jsonText(before), jsonText(after)];
  return from === to ? [] : [`${path === "" ? "arguments" : path}: ${from} → ${to}`];
}
