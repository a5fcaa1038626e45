// LangChain: its messages in three writings, as plain messages.
//   {lc, type: "constructor", id: […, "HumanMessage"], kwargs}, {type: "human", data: {…}}, {type: "human", content}
// And those of LangChain4j: {type: "USER", contents}, {type: "AI", text, toolExecutionRequests}.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { withRest } from "./members.ts";
import { toRole } from "./roles.ts";
import { withoutEmpty } from "./tool-forms.ts";

/** The message itself when it is none of LangChain's. */
export function readLangChain(message: JsonObject): JsonObject {
  const { kwargs, data } = message;
  const isConstructor =
    message["lc"] !== undefined || message["type"] === "constructor" || Array.isArray(message["id"]);
  if (isObject(kwargs) && isConstructor) return readConstructor(message, kwargs);
  if (message["role"] !== undefined) return message;
  const role = toRole(textMember(message, "type"));
  if (role === "") return message;
  if (isObject(data) && data["content"] !== undefined) return readMembers(data, withRest({ role }, message, DATA));
  const { type: _type, ...members } = message;
  if (message["content"] !== undefined) return readMembers(members, { role });
  return OTHERS.some((name) => message[name] !== undefined) ? { role, ...members } : message;
}

/** LangChain4j has no `content`. */
const OTHERS = ["text", "contents", "toolExecutionRequests"];

const DATA: ReadonlySet<string> = new Set(["type", "data"]);

function readConstructor(message: JsonObject, kwargs: JsonObject): JsonObject {
  const { lc: _lc, type: _constructor, id, kwargs: _kwargs, ...beside } = message;
  const last = Array.isArray(id) ? (id as readonly Json[]).at(-1) : undefined;
  const name = typeof last === "string" ? last : textMember(kwargs, "type");
  const { type: _type, ...members } = kwargs;
  const role = name.startsWith("Chat") ? textMember(kwargs, "role") : toRole(name);
  return readMembers(members, role === "" ? beside : { role, ...beside });
}

function readMembers({ content, ...members }: JsonObject, made: JsonObject): JsonObject {
  const { tool_calls: calls, additional_kwargs: additional, tool_call_chunks: chunks, ...more } = withoutEmpty(members);
  const rest = chunks === undefined || calls !== undefined ? more : { ...more, tool_call_chunks: chunks }; // the calls as they came
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
