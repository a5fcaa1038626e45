// LangChain: its messages in three writings, as plain messages.
//   {lc, type: "constructor", id: […, "HumanMessage"], kwargs}, {type: "human", data: {…}}, {type: "human", content}
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { withRest } from "./members.ts";
import { withoutEmpty } from "./tool-forms.ts";

const ROLES: Readonly<Record<string, string>> = {
  human: "user",
  ai: "assistant",
  system: "system",
  developer: "developer",
  tool: "tool",
  function: "tool",
};

/** The message itself when it is none of LangChain's. */
export function readLangChain(message: JsonObject): JsonObject {
  const { kwargs, data } = message;
  const isConstructor =
    message["lc"] !== undefined || message["type"] === "constructor" || Array.isArray(message["id"]);
  if (isObject(kwargs) && isConstructor) return readConstructor(message, kwargs);
  if (message["role"] !== undefined) return message;
  const role = toRole(textMember(message, "type"));
  if (role === "") return message;
  if (isObject(data)) return readMembers(data, withRest({ role }, message, DATA));
  if (message["content"] === undefined) return message;
  const { type: _type, ...members } = message;
  return readMembers(members, { role });
}

const DATA: ReadonlySet<string> = new Set(["type", "data"]);

function toRole(type: string): string {
  const kind = type.replace(/Message(?:Chunk)?$/, "").toLowerCase();
  return Object.hasOwn(ROLES, kind) ? (ROLES[kind] ?? "") : "";
}

function readConstructor(message: JsonObject, kwargs: JsonObject): JsonObject {
  const { lc: _lc, type: _constructor, id, kwargs: _kwargs, ...beside } = message;
  const last = Array.isArray(id) ? (id as readonly Json[]).at(-1) : undefined;
  const name = typeof last === "string" ? last : textMember(kwargs, "type");
  const { type: _type, ...members } = kwargs;
  const role = name.startsWith("Chat") ? textMember(kwargs, "role") : toRole(name);
  return readMembers(members, role === "" ? beside : { role, ...beside });
}

function readMembers({ content, ...members }: JsonObject, made: JsonObject): JsonObject {
  const { tool_calls: calls, additional_kwargs: additional, ...rest } = withoutEmpty(members);
  const own = isObject(additional) && calls !== undefined ? withoutCalls(additional) : additional;
  return withRest(
    { ...made, content: content ?? "", ...(calls === undefined ? {} : { tool_calls: calls }) },
    own === undefined ? rest : { ...rest, additional_kwargs: own },
    NONE,
  );
}

const NONE: ReadonlySet<string> = new Set();

/** The calls once more, as the model's API wrote them. */
function withoutCalls({ tool_calls: _calls, ...additional }: JsonObject): Json | undefined {
  return Object.keys(additional).length === 0 ? undefined : additional;
}
