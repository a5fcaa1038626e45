// Flattened messages: one item of `gen_ai.prompt.N.*` or `llm.input_messages.N.*`, as a tree of names → message.
// Invariants:
//   flattened.1. A list is a branch of numbers, JSON text, or both: exporters add `tool_calls.count` or a text to it.
//        A name that is no index of the list stays beside it (members.2).
//   flattened.2. Wrappers (`message`, `tool_call`, `message_content`) may have siblings, which stay with the content.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { member } from "../attributes/indexed.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";
import { take, unwrapped, withRest } from "./members.ts";
import { callOf, contentOf, partOf } from "./message-parts.ts";

export function flattenedMessage(item: Json, defaultRole: string): Json {
  const inner = member(item, "message");
  const body = isObject(inner) && Object.keys(item as JsonObject).length === 1 ? inner : item;
  if (!isObject(body)) return { role: defaultRole, content: body };
  const { role, content, contents, tool_calls: calls, ...rest } = body;
  const hasRole = typeof role === "string" && role !== "";
  const blocks = listOf(contents);
  const toolCalls = listOf(calls);
  const used = new Set<string>();
  const called = toolCalls.items.length > 0 ? [] : functionCall(rest, used);
  const callList = [...toolCalls.items.map((one) => unwrapped(one, "tool_call", callOf)), ...called];
  const message = {
    role: hasRole ? role : defaultRole,
    content: contentWith(content, blocks.items.map(blockOf)),
    ...(callList.length > 0 ? { tool_calls: callList } : {}),
  };
  const beside = {
    ...(hasRole || role === undefined ? {} : { role }),
    ...(blocks.rest === undefined ? {} : { contents: blocks.rest }),
    ...(toolCalls.rest === undefined ? {} : { tool_calls: toolCalls.rest }),
  };
  return withRest(withRest(message, beside, used), rest, used);
}

interface Listed {
  readonly items: readonly Json[];
  /** Attributes without an index. */
  readonly rest?: Json;
}

const NOTHING: Listed = { items: [] };

/** flattened.1 */
function listOf(value: Json | undefined): Listed {
  if (value === undefined) return NOTHING;
  const list = jsonWithin(value);
  if (Array.isArray(list)) return { items: list as readonly Json[] };
  if (!isObject(value)) return { items: [], rest: value };
  const names = Object.keys(value).filter((name) => /^\d{1,4}$/.test(name));
  if (names.length === 0) return { items: [], rest: value };
  names.sort((a, b) => Number(a) - Number(b));
  const rest = withRest({}, value, new Set(names));
  return {
    items: names.map((name) => value[name] ?? null),
    ...(Object.keys(rest).length > 0 ? { rest } : {}),
  };
}

/** OpenAI's older call, as a branch or JSON text, and OpenInference's in two names. */
function functionCall(rest: JsonObject, used: Set<string>): readonly Json[] {
  const whole = jsonWithin(rest["function_call"]);
  if (isObject(whole)) {
    used.add("function_call");
    return [callOf(whole)];
  }
  if (rest["function_call_name"] === undefined) return [];
  const name = take(rest, used, ["function_call_name"]);
  return [callOf({ name, arguments: take(rest, used, ["function_call_arguments_json"]) ?? "" })];
}

function contentWith(content: Json | undefined, blocks: readonly Json[]): Json {
  if (blocks.length === 0) return contentFrom(content);
  return contentOf(content === undefined ? blocks : [partOf(content).value, ...blocks]);
}

/** JSON text of blocks becomes blocks; any other text stays text. */
function contentFrom(content: Json | undefined): Json {
  if (content === undefined) return "";
  if (typeof content !== "string" || !content.startsWith("[{")) return content;
  const blocks = jsonWithin(content);
  if (!Array.isArray(blocks) || !(blocks as readonly Json[]).every((block) => member(block, "type") !== undefined))
    return content;
  return contentOf((blocks as readonly Json[]).map((block) => partOf(block).value));
}

/** OpenInference: {message_content: {type, text, image: {image: {url}}}} → block. */
function blockOf(item: Json): Json {
  return unwrapped(item, "message_content", (content) => {
    const image = member(content, "image");
    const url = member(image, "image", "url");
    if (!isObject(content) || url === undefined) return content;
    const { url: _url, ...details } = member(image, "image") as JsonObject;
    const whole = withRest({ url, ...details }, image as JsonObject, IMAGE);
    const isTyped = content["type"] === "image";
    return withRest({ type: "image_url", image_url: whole }, content, isTyped ? TYPED_IMAGE : IMAGE);
  });
}

const IMAGE: ReadonlySet<string> = new Set(["image"]);
const TYPED_IMAGE: ReadonlySet<string> = new Set(["image", "type"]);
