// Messages: every convention's way of writing a chat message → {role, content, tool_calls?, tool_call_id?, name?, …}.
// Content is a string when it is one piece of text, else a list of blocks. Unknown parts stay unchanged. Invariants:
//   fields/messages.1. Every part stays: text, calls and results in their fields, all others in `content`.
//   fields/messages.2. A message that already has the target form comes back as the same object.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";

/** True for a list in which every item has a role (or parts): a conversation. */
export function looksLikeMessages(value: Json | undefined): value is readonly JsonObject[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    (value as readonly Json[]).every(
      (item) => isObject(item) && (typeof item["role"] === "string" || Array.isArray(item["parts"])),
    )
  );
}

/** A list of messages, a single one, or text → messages in the target form. */
export function messagesOf(value: Json, role = "user"): readonly Json[] {
  const list = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return list.flatMap((item) => messageOf(item, role));
}

function messageOf(item: Json, role: string): readonly Json[] {
  if (!isObject(item)) return item === null ? [] : [{ role, content: item }];
  const parts = Array.isArray(item["parts"]) ? item["parts"] : listOf(item["content"]);
  if (parts === null || !(Array.isArray(item["parts"]) || parts.some(isForeignPart))) {
    const calls = item["tool_calls"];
    const same = typeof item["role"] === "string" && (calls === undefined || !Array.isArray(calls));
    if (same) return [item]; // fields/messages.2
    return [
      {
        role: typeof item["role"] === "string" ? item["role"] : role,
        ...item,
        ...(Array.isArray(calls) ? { tool_calls: (calls as readonly Json[]).map(callOf) } : {}),
      },
    ];
  }
  return assembleParts(item, parts as readonly Json[], role);
}

function listOf(content: Json | undefined): readonly Json[] | null {
  return Array.isArray(content) ? (content as readonly Json[]) : null;
}

/** Parts with a field in the target form. OpenAI's and Anthropic's blocks stay unchanged. */
function isForeignPart(part: Json): boolean {
  if (!isObject(part)) return false;
  switch (textMember(part, "type")) {
    case "tool_call":
    case "tool-call":
    case "tool_call_response":
    case "tool-result":
    case "blob":
      return true;
    case "text":
      return typeof part["content"] === "string";
    case "":
      return [
        "text",
        "toolUse",
        "toolResult",
        "function_call",
        "function_response",
        "toolRequest",
        "toolResponse",
        "media",
      ].some((name) => part[name] !== undefined);
    default:
      return false;
  }
}

function assembleParts(item: JsonObject, parts: readonly Json[], defaultRole: string): readonly Json[] {
  const blocks: Json[] = [];
  const calls: Json[] = [];
  const results: Json[] = [];
  for (const part of parts) {
    const kind = partOf(part);
    if (kind.kind === "call") calls.push(kind.value);
    else if (kind.kind === "result") results.push(kind.value);
    else blocks.push(kind.value);
  }
  const { parts: _parts, content, ...rest } = item;
  const role = typeof item["role"] === "string" ? (item["role"] === "model" ? "assistant" : item["role"]) : defaultRole;
  if (Array.isArray(item["parts"]) && content !== undefined && content !== "") blocks.unshift(partOf(content).value); // fields/messages.1
  if (blocks.length === 0 && calls.length === 0 && results.length > 0) return results;
  const message: JsonObject = {
    ...rest,
    role,
    content: contentOf(blocks),
    ...(calls.length > 0 ? { tool_calls: [...(listOf(item["tool_calls"]) ?? []), ...calls] } : {}),
  };
  return results.length > 0 ? [message, ...results] : [message];
}

function contentOf(blocks: readonly Json[]): Json {
  if (blocks.length === 0) return "";
  const only = blocks[0];
  return blocks.length === 1 && textMember(only, "type") === "text" ? (member(only, "text") ?? "") : blocks;
}

type Part = { readonly kind: "block" | "call" | "result"; readonly value: Json };

function partOf(part: Json): Part {
  if (typeof part === "string") return { kind: "block", value: { type: "text", text: part } };
  if (!isObject(part)) return { kind: "block", value: part };
  switch (textMember(part, "type")) {
    case "text":
      return { kind: "block", value: { type: "text", text: part["content"] ?? part["text"] ?? "" } };
    case "reasoning":
    case "thinking":
      return { kind: "block", value: reasoningOf(part) };
    case "tool_call":
    case "tool-call":
      return { kind: "call", value: callOf(part) };
    case "tool_call_response":
    case "tool-result":
      return {
        kind: "result",
        value: resultOf(
          part["id"] ?? part["toolCallId"] ?? null,
          part["response"] ?? part["result"] ?? outputOf(part["output"]) ?? null,
          part["name"] ?? part["toolName"],
        ),
      };
    case "blob":
      return { kind: "block", value: blobOf(part) };
    default:
      return cloudPart(part);
  }
}

/** Parts that a member identifies instead of a type: Gemini's and Bedrock's. */
function cloudPart(part: JsonObject): Part {
  const call = member(part, "function_call") ?? member(part, "functionCall");
  if (isObject(call)) return { kind: "call", value: callOf(call) };
  const response = member(part, "function_response") ?? member(part, "functionResponse");
  if (isObject(response))
    return { kind: "result", value: resultOf(response["id"] ?? null, response["response"] ?? null, response["name"]) };
  const use = member(part, "toolUse");
  if (isObject(use))
    return {
      kind: "call",
      value: callOf({ id: use["toolUseId"] ?? null, name: use["name"] ?? null, arguments: use["input"] ?? null }),
    };
  const result = member(part, "toolResult");
  if (isObject(result))
    return { kind: "result", value: resultOf(result["toolUseId"] ?? null, result["content"] ?? null, undefined) };
  const request = member(part, "toolRequest"); // Genkit
  if (isObject(request))
    return {
      kind: "call",
      value: callOf({ id: request["ref"] ?? null, name: request["name"] ?? null, arguments: request["input"] ?? null }),
    };
  const reply = member(part, "toolResponse");
  if (isObject(reply))
    return { kind: "result", value: resultOf(reply["ref"] ?? null, reply["output"] ?? null, reply["name"]) };
  const url = member(part, "media", "url");
  const isImage = /^(?:$|image\/)/.test(textMember(part, "media", "contentType"));
  if (typeof url === "string" && isImage && !/^data:(?!image\/)/.test(url))
    return { kind: "block", value: { type: "image_url", image_url: { url } } };
  if (typeof part["text"] === "string" && part["type"] === undefined)
    return { kind: "block", value: { type: "text", ...part } };
  return { kind: "block", value: part };
}

/** AI SDK 5 wraps a result as {type: "text" | "json", value}. */
function outputOf(output: Json | undefined): Json | undefined {
  return isObject(output) && output["value"] !== undefined && output["type"] !== undefined ? output["value"] : output;
}

function reasoningOf(part: JsonObject): JsonObject {
  const { content, type: _type, ...rest } = part;
  return content === undefined ? { ...part, type: "reasoning" } : { type: "reasoning", reasoning: content, ...rest };
}

function blobOf(part: JsonObject): JsonObject {
  const mime = textMember(part, "mime_type") || "application/octet-stream";
  const data = textMember(part, "content") || textMember(part, "data");
  const modality = textMember(part, "modality") || (mime.split("/")[0] ?? "");
  if (modality === "image") return { type: "image_url", image_url: { url: `data:${mime};base64,${data}` } };
  return { type: modality === "audio" ? "audio" : "file", source_type: "base64", mime_type: mime, data };
}

/** A tool call in any spelling → {id, type: "function", function: {name, arguments: "<JSON>"}}; other members stay. */
export function callOf(call: Json): Json {
  if (!isObject(call)) return call;
  const inner = member(call, "function");
  const name = member(inner, "name") ?? call["name"] ?? call["toolName"] ?? null;
  const given = member(inner, "arguments") ?? call["arguments"] ?? call["args"] ?? call["input"] ?? null;
  if (name === null && given === null) return call;
  const id = call["id"] ?? call["toolCallId"] ?? call["tool_call_id"] ?? null;
  const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
  const rest = Object.entries(call).filter(([key]) => !CALL_MEMBERS.has(key));
  return {
    ...(id === null ? {} : { id }),
    type: "function",
    function: { name, arguments: text },
    ...Object.fromEntries(rest),
  };
}

const CALL_MEMBERS: ReadonlySet<string> = new Set([
  "id",
  "toolCallId",
  "tool_call_id",
  "type",
  "function",
  "name",
  "toolName",
  "arguments",
  "args",
  "input",
]);

function resultOf(id: Json, response: Json, name: Json | undefined): JsonObject {
  return {
    role: "tool",
    ...(id === null ? {} : { tool_call_id: id }),
    ...(name === undefined ? {} : { name }),
    content: resultContent(response),
  };
}

function resultContent(response: Json): Json {
  if (Array.isArray(response)) return contentOf((response as readonly Json[]).map((part) => partOf(part).value));
  return typeof response === "string" ? response : JSON.stringify(response);
}

/** One item of a flattened list (`gen_ai.prompt.N.*`, `llm.input_messages.N.*`) → message. */
export function flattenedMessage(item: Json, defaultRole: string): Json {
  const wrapped = member(item, "message");
  const body = isObject(wrapped) && Object.keys(item as JsonObject).length === 1 ? wrapped : item;
  if (!isObject(body)) return { role: defaultRole, content: body };
  const { role, content, contents, tool_calls: calls, function_call: call, ...rest } = body;
  const blocks = Array.isArray(contents) ? (contents as readonly Json[]).map(blockOf) : null;
  const toolCalls = Array.isArray(calls)
    ? (calls as readonly Json[]).map((one) => callOf(member(one, "tool_call") ?? one))
    : isObject(call)
      ? [callOf(call)]
      : [];
  return {
    role: typeof role === "string" && role !== "" ? role : defaultRole,
    content:
      blocks === null
        ? contentFrom(content)
        : contentOf(content === undefined ? blocks : [partOf(content).value, ...blocks]),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...rest,
  };
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
  const content = member(item, "message_content") ?? item;
  const url = member(content, "image", "image", "url");
  if (url !== undefined) return { type: "image_url", image_url: { url } };
  return content;
}
