// Framework inputs: requests in the form of one framework or SDK.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { conversation, found, wrapped, type Found, type Subject } from "../messages/content.ts";
import { member } from "../attributes/indexed.ts";
import { sources } from "../attributes/known-keys.ts";
import { callOf, contentOf, partOf } from "../messages/message-parts.ts";
import { haystackMessages } from "../messages/haystack.ts";
import { withRest } from "../messages/members.ts";
import { messagesOf } from "../messages/messages.ts";
import { isObject, jsonOf } from "../attributes/plain-values.ts";
import { withSystem } from "../messages/conversation.ts";

export const GENKIT_INPUT = sources("genkit:input");
export const AI_MESSAGES = sources("ai.prompt.messages");
export const AI_PROMPT = sources("ai.prompt");
export const HAYSTACK_INPUT = sources("haystack.agent.step.llm.input", "haystack.component.input");
export const LK_CONTEXT = sources("lk.pii.chat_ctx", "lk.chat_ctx");
export const ADK_REQUEST = sources("gcp.vertex.agent.llm_request");

/** Genkit's request: {messages: [{role, content: parts}], config, tools, …}. */
export function genkitRequest(request: Json): Found | null {
  if (!isObject(request) || !Array.isArray(request["messages"])) return null;
  const { messages, ...rest } = request;
  return found({ ...rest, messages: messagesOf(messages as Json) });
}

/** {messages: [ChatMessage], …}. */
export function haystackRequest(request: Json): Found | null {
  const list = member(request, "messages");
  if (!isObject(request) || !Array.isArray(list)) return null;
  const { messages: _messages, ...rest } = request;
  return found({ ...rest, messages: haystackMessages(list as readonly Json[]) });
}

/** {items: [{type: "message", role, content} | {type: "function_call"} | {type: "function_call_output"}]}. */
export function livekitContext(context: Json): Found | null {
  const items = member(context, "items");
  if (!isObject(context) || !Array.isArray(items)) return null;
  const messages = (items as readonly Json[]).map(livekitItem);
  return messages.length === 0 ? null : found(withRest({ messages }, context, new Set(["items"])));
}

function livekitItem(item: Json): Json {
  if (!isObject(item)) return item;
  const { type, ...body } = item;
  const { content, ...message } = body;
  if (type === "message" && Array.isArray(content))
    return { ...message, content: contentOf((content as readonly Json[]).map((part) => partOf(part).value)) };
  const { call_id: id, ...call } = body;
  if (type === "function_call") {
    const { id: item_id, ...named } = call;
    const called = callOf({ id: id ?? null, ...named, ...(item_id === undefined ? {} : { item_id }) });
    return { role: "assistant", content: "", tool_calls: [called] };
  }
  if (type !== "function_call_output") return item;
  const result = { role: "tool", ...(id === undefined ? {} : { tool_call_id: id }), content: body["output"] ?? "" };
  return withRest(result, body, OUTPUT_MEMBERS);
}

const OUTPUT_MEMBERS: ReadonlySet<string> = new Set(["call_id", "output"]);

export function vercelPrompt({ facts }: Subject): Found | null {
  if (facts.has(AI_MESSAGES)) {
    const mark = facts.mark();
    const list = jsonOf(facts.value(AI_MESSAGES));
    if (Array.isArray(list) && list.length > 0) return conversation(messagesOf(list));
    facts.release(mark);
  }
  const prompt = facts.value(AI_PROMPT);
  if (prompt === undefined) return null;
  const value = jsonOf(prompt);
  if (!isObject(value)) return wrapped({ value, source: null }, "input");
  const { system, prompt: text, messages: list } = value;
  const used = new Set(["system", Array.isArray(list) ? "messages" : "prompt"]);
  const conversationOf = Array.isArray(list)
    ? list
    : text === undefined
      ? []
      : Array.isArray(text)
        ? text
        : [{ role: "user", content: text }];
  const made = withSystem(conversationOf as Json, system ?? null);
  return made === null ? wrapped({ value, source: null }, "input") : found(withRest(made.value, value, used));
}

/** Gemini's request: {model, config: {system_instruction}, contents: [{role, parts}]}. */
export function adkRequest(request: Json): Found | null {
  if (!isObject(request) || Object.keys(request).length === 0) return null;
  const { contents, config } = request;
  if (!Array.isArray(contents)) return found(request);
  const made = withSystem(contents as Json, member(config, "system_instruction") ?? null);
  const settings = isObject(config) ? withoutSystem(config) : {};
  const used = new Set(isObject(config) ? ["contents", "config"] : ["contents"]);
  return found(withRest({ ...settings, ...(made === null ? { messages: [] } : made.value) }, request, used));
}

function withoutSystem(config: JsonObject): JsonObject {
  const { system_instruction: _system, ...rest } = config;
  return Object.keys(rest).length === 0 ? {} : { config: rest };
}
