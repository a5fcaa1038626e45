// GenAI messages: messages of a run → those of OpenTelemetry's GenAI conventions: {role, parts}, one part for each piece of
// text, reasoning, media, call or result.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

function listFrom(value: Json | undefined): readonly Json[] | null {
  return Array.isArray(value) ? (value as readonly Json[]) : null;
}

export interface Prompt {
  /** null: the messages hold them. */
  readonly instructions: readonly Json[] | null;
  readonly messages: readonly Json[];
}

/** One system message in front becomes the instructions: model APIs take them apart from the messages. */
export function toPrompt(messages: readonly Json[]): Prompt {
  const [first, second] = messages;
  const isPlain = isJsonObject(first) && Object.keys(first).every((name) => name === "role" || name === "content");
  if (!isPlain || first["role"] !== "system" || (isJsonObject(second) && second["role"] === "system"))
    return { instructions: null, messages: messages.map(toMessage) };
  return { instructions: toParts(first), messages: messages.slice(1).map(toMessage) };
}

/** A value that is no message stays as it is. */
export function toMessage(message: Json): Json {
  if (!isJsonObject(message)) return message;
  const { content, tool_call_id: callId, tool_calls: calls, ...rest } = message;
  if (callId !== undefined && calls === undefined)
    return { ...rest, parts: [{ type: "tool_call_response", id: callId, response: content ?? "" }] };
  return {
    ...rest,
    ...(callId === undefined ? {} : { tool_call_id: callId }),
    parts: toParts({
      ...(content === undefined ? {} : { content }),
      ...(calls === undefined ? {} : { tool_calls: calls }),
    }),
  };
}

function toParts({ content, tool_calls: given }: JsonObject): readonly Json[] {
  const calls = (listFrom(given) ?? []).map(toCall);
  if (content === undefined || content === null || (content === "" && calls.length > 0)) return calls;
  const blocks = listFrom(content) ?? [typeof content === "string" ? { type: "text", text: content } : content];
  return [...blocks.map(toPart), ...calls];
}

function toCall(call: Json): Json {
  if (!isJsonObject(call) || !isJsonObject(call["function"])) return call;
  const { function: called, type: _type, ...rest } = call;
  const { arguments: given, ...named } = called;
  return { type: "tool_call", ...rest, ...named, ...(given === undefined ? {} : { arguments: structured(given) }) };
}

/** Arguments are a structure in the conventions, and JSON text in a run. */
function structured(value: Json): Json {
  if (typeof value !== "string" || !value.startsWith("{")) return value;
  try {
    const read = JSON.parse(value) as Json;
    return JSON.stringify(read) === value ? read : value; // numbers keep their digits
  } catch {
    return value;
  }
}

function toPart(block: Json): Json {
  if (!isJsonObject(block)) return block;
  const { type } = block;
  if (type === "text") return renamed(block, "text", "content");
  if (type === "reasoning") return renamed(block, "reasoning", "content");
  if (type === "image_url") return toImage(block);
  return typeof block["source_type"] === "string" && typeof type === "string" ? toMedia(block, type) : block;
}

function renamed(block: JsonObject, from: string, to: string): Json {
  const { [from]: value, ...rest } = block;
  return value === undefined || rest[to] !== undefined ? block : { ...rest, [to]: value };
}

const DATA_URL = /^data:([^;,]{1,255});base64,/;

function toImage(block: JsonObject): Json {
  const { image_url: image, type: _type, ...rest } = block;
  if (!isJsonObject(image) || typeof image["url"] !== "string") return block;
  const { url, ...more } = image;
  if (Object.keys(more).length > 0 && Object.keys(more).some((name) => name !== "detail")) return block;
  const data = DATA_URL.exec(url);
  const common = { modality: "image", ...rest, ...more };
  if (data === null) return { type: "uri", ...common, uri: url };
  return { type: "blob", mime_type: data[1] ?? "", ...common, content: url.slice(data[0].length) };
}

/** `{type: "audio", source_type: "base64", data, mime_type}` and its kin. */
function toMedia(block: JsonObject, modality: string): Json {
  const { source_type: source, type: _type, data, url, id, ...rest } = block;
  const common = { modality, ...rest };
  if (source === "base64" && typeof data === "string") return { type: "blob", ...common, content: data };
  if (source === "url" && typeof url === "string") return { type: "uri", ...common, uri: url };
  return source === "id" && typeof id === "string" ? { type: "file", ...common, file_id: id } : block;
}

/** One block of text and the text itself say the same: the conventions have one form for both. */
export function withPlainTexts(content: JsonObject): JsonObject {
  const messages = listFrom(content["messages"]);
  return messages === null ? content : { ...content, messages: messages.map(withPlainText) };
}

function withPlainText(message: Json): Json {
  if (!isJsonObject(message)) return message;
  const blocks = listFrom(message["content"]) ?? [];
  const [block] = blocks;
  const isText =
    blocks.length === 1 && isJsonObject(block) && block["type"] === "text" && Object.keys(block).length === 2;
  return isText ? { ...message, content: block["text"] ?? "" } : message;
}
