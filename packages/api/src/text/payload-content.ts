// Payload content: what a payload asks a person, without the members that say how to answer. Pure, and runs in browsers.
// Invariants:
//   payload-content.1. Everything that a person decides on is there: only members of known names and forms are left out.
//   payload-content.2. A message that cannot draw images names them instead of writing their bytes (plain-text.2).
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import { nameData } from "./plain-text.ts";

/** Members that carry the JSON Schema of the answer. */
export const SCHEMA_KEYS = [
  "response_schema",
  "responseSchema",
  "args_schema",
  "argsSchema",
  "json_schema",
  "schema",
] as const;

const OPTIONS = new Set(["review_rules", "dangerous", "expires_at", "expires_in_seconds", "on_expiry"]);

/** A schema that is none is content: `schema: "public"`. */
export function readContent(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const schemas: readonly string[] = SCHEMA_KEYS;
  const isContent = ([name, member]: readonly [string, Json]): boolean =>
    !OPTIONS.has(name) && !(schemas.includes(name) && isJsonObject(member));
  return Object.fromEntries(Object.entries(value).filter(isContent));
}

interface Asked {
  readonly actions: readonly {
    readonly name: string | null;
    readonly description: string | null;
    readonly args: Json;
  }[];
}

/** The request as lines of a message: a text, or `name: value` for each argument or member, nested ones as JSON. */
export function formatRequest(value: Json, { actions }: Asked): string {
  if (actions.length === 0) return formatMembers(readContent(value));
  const parts = actions.map(({ name, description, args }, at) => {
    const place = actions.length === 1 ? "" : `${at + 1}. `;
    return [`${place}${name ?? "an action"}`, formatAction({ description, args })];
  });
  return parts.map((lines) => lines.join("\n").trimEnd()).join("\n\n");
}

/** The lines below the name of an action: its description, then its arguments. */
export function formatAction({ description, args }: Pick<Asked["actions"][number], "description" | "args">): string {
  return [...(description === null ? [] : [nameData(description), ""]), formatMembers(args)].join("\n");
}

function formatMembers(value: Json): string {
  if (!isJsonObject(value)) return nameData(formatValue(value));
  const lines = Object.entries(value).map(([name, member]) => {
    const text = formatValue(member);
    return text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`;
  });
  return nameData(lines.join("\n"));
}

function formatValue(value: Json): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null");
}
