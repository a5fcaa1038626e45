// Flattened messages: one item of `gen_ai.prompt.N.*` or `llm.input_messages.N.*`, as a tree of names → message.
// Invariants:
//   - A list is a branch of numbers, JSON text, or both: exporters add `tool_calls.count` or a text to it. A name that
//     is no index of the list stays beside it.
//   - Wrappers (`message`, `tool_call`, `message_content`) may have siblings, which stay with the content.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { member } from "../attributes/indexed.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";
import { mergeContent } from "../forms/block-forms.ts";
import { take, unwrapped, withRest } from "../forms/members.ts";
import { listMessages } from "../forms/messages.ts";

export function flattenedMessages(item: Json, defaultRole: string): readonly Json[] {
  const inner = member(item, "message");
  const body = isObject(inner) && Object.keys(item as JsonObject).length === 1 ? inner : item;
  if (!isObject(body)) return [{ role: defaultRole, content: body }];
  const { role, content, contents, tool_calls: calls, ...rest } = body;
  const hasRole = typeof role === "string" && role !== "";
  const blocks = toListed(contents);
  const toolCalls = toListed(calls);
  const used = new Set<string>();
  const called = readFunctionCall(rest, used);
  const message = {
    role: hasRole ? role : defaultRole,
    content: joinContent(
      content,
      blocks.items.map((one) => unwrapped(one, "message_content")),
    ),
    ...(toolCalls.items.length > 0 ? { tool_calls: toolCalls.items.map((one) => unwrapped(one, "tool_call")) } : {}),
    ...called,
  };
  const beside = {
    ...(hasRole || role === undefined ? {} : { role }),
    ...(blocks.rest === undefined ? {} : { contents: blocks.rest }),
    ...(toolCalls.rest === undefined ? {} : { tool_calls: toolCalls.rest }),
  };
  return listMessages([withRest(withRest(message, beside, NONE), rest, used)]);
}

const NONE: ReadonlySet<string> = new Set();

function joinContent(content: Json | undefined, blocks: readonly Json[]): Json {
  if (blocks.length === 0) return content ?? "";
  const isRepeated = blocks.some((block) => member(block, "text") === content); // OpenInference for Anthropic
  return content === undefined || content === "" || isRepeated ? mergeContent(blocks) : [content, ...blocks];
}

interface Listed {
  readonly items: readonly Json[];
  /** Attributes without an index. */
  readonly rest?: Json;
}

const NOTHING: Listed = { items: [] };

function toListed(value: Json | undefined): Listed {
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

/** OpenAI's older call, in OpenInference's two names. */
function readFunctionCall(rest: JsonObject, used: Set<string>): JsonObject {
  if (rest["function_call"] !== undefined || rest["function_call_name"] === undefined) return {};
  const name = take(rest, used, ["function_call_name"]);
  return { function_call: { name, arguments: take(rest, used, ["function_call_arguments_json"]) ?? "" } };
}
