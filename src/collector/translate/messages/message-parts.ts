// Message parts: the parts of a message in any convention → content blocks, tool calls and tool results.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { take, withRest } from "./members.ts";

type Part = { readonly kind: "block" | "call" | "result"; readonly value: Json };

export function partOf(part: Json): Part {
  if (typeof part === "string") return { kind: "block", value: { type: "text", text: part } };
  if (!isObject(part)) return { kind: "block", value: part };
  switch (textMember(part, "type")) {
    case "text":
      return { kind: "block", value: textOf(part) };
    case "reasoning":
    case "thinking":
      return { kind: "block", value: reasoningOf(part) };
    case "tool_call":
    case "tool-call":
      return { kind: "call", value: callOf(part) };
    case "tool_call_response":
    case "tool-result":
      return { kind: "result", value: resultPart(part) };
    case "blob":
      return { kind: "block", value: blobOf(part) };
    default:
      return cloudPart(part);
  }
}

/** Calls and results of Gemini, Bedrock and Genkit, in this order. */
const CLOUD_PARTS = (
  [
    ["call", "function_call", "id", "args"],
    ["call", "functionCall", "id", "args"],
    ["result", "function_response", "id", "response"],
    ["result", "functionResponse", "id", "response"],
    ["call", "toolUse", "toolUseId", "input"],
    ["result", "toolResult", "toolUseId", "content"],
    ["call", "toolRequest", "ref", "input"],
    ["result", "toolResponse", "ref", "output"],
  ] as const
).map(([kind, name, id, content]) => ({ kind, name, id, content }));

/** Parts that a member identifies instead of a type: Gemini's and Bedrock's. */
function cloudPart(part: JsonObject): Part {
  for (const { kind, name, id, content } of CLOUD_PARTS) {
    const body = part[name];
    if (!isObject(body)) continue;
    const { [id]: ownId = null, name: called = null, [content]: given = null, ...rest } = body;
    const value =
      kind === "call"
        ? (callOf({ id: ownId, name: called, arguments: given }) as JsonObject)
        : resultOf(ownId, given, called);
    return { kind, value: withRest(withRest(value, rest, NONE), part, new Set([name])) }; // a thought's signature, metadata
  }
  const { media } = part;
  const url = member(media, "url");
  const mime = textMember(media, "contentType");
  if (isObject(media) && typeof url === "string" && /^(?:$|image\/)/.test(mime) && !/^data:(?!image\/)/.test(url)) {
    const typed = mime === "" || url.startsWith(`data:${mime}`) ? {} : { mime_type: mime };
    const image = { type: "image_url", image_url: { url }, ...typed };
    return { kind: "block", value: withRest(withRest(image, media, MEDIA_MEMBERS), part, MEDIA) };
  }
  if (typeof part["text"] === "string" && part["type"] === undefined)
    return { kind: "block", value: { type: "text", ...part } };
  return { kind: "block", value: part };
}

function resultPart(part: JsonObject): JsonObject {
  const used = new Set(["type"]);
  const id = take(part, used, ["id", "toolCallId"]);
  const name = take(part, used, ["name", "toolName"]);
  const response = take(part, used, ["response", "result"]);
  const { output } = part;
  if (response !== null || output === undefined) return withRest(resultOf(id, response, name), part, used);
  used.add("output");
  const { value, ...beside } = outputOf(output);
  return withRest({ ...resultOf(id, value, name), ...beside }, part, used);
}

/**
 * AI SDK 5 wraps a result as {type: "text" | "json" | "content" | "error-text" | "error-json", value}. A failed one is
 * told by `status`, and what the type and the value do not say stays as `output`.
 */
function outputOf(output: Json): { readonly value: Json; readonly status?: "error"; readonly output?: Json } {
  if (!isObject(output) || output["value"] === undefined || output["type"] === undefined) return { value: output };
  const { value, type, ...more } = output;
  const rest = typeof type === "string" && OUTPUT_TYPES.has(type) ? more : { type, ...more };
  return {
    value: value ?? null,
    ...(typeof type === "string" && type.startsWith("error-") ? { status: "error" } : {}),
    ...(Object.keys(rest).length > 0 ? { output: rest } : {}),
  };
}

const OUTPUT_TYPES: ReadonlySet<string> = new Set(["text", "json", "content", "error-text", "error-json"]);

function textOf(part: JsonObject): JsonObject {
  const { content, text, type: _type, ...rest } = part;
  if (content === undefined) return { type: "text", text: text ?? "", ...rest };
  return {
    type: "text",
    text: content ?? text ?? "",
    ...rest,
    ...(text === undefined || content === null ? {} : { original_text: text }),
  };
}

function reasoningOf(part: JsonObject): JsonObject {
  if (part["content"] === undefined) return { ...part, type: "reasoning" };
  const used = new Set(["type"]);
  return withRest({ type: "reasoning", reasoning: take(part, used, ["content", "reasoning"]) }, part, used);
}

function blobOf(part: JsonObject): JsonObject {
  const given = textMember(part, "mime_type");
  const mime = given || "application/octet-stream";
  const data = textMember(part, "content") || textMember(part, "data");
  const kind = mime.split("/")[0] ?? "";
  const modality = textMember(part, "modality") || kind;
  const isImage = modality === "image";
  const type = isImage ? "image_url" : modality === "audio" ? "audio" : "file";
  const used = new Set(["type"]);
  if (given !== "") used.add("mime_type");
  if (isImage || modality === type || modality === kind) take(part, used, ["modality"], modality);
  for (const name of ["content", "data"]) if (part[name] === data || part[name] === "") used.add(name);
  const blob = isImage
    ? { type, image_url: { url: `data:${mime};base64,${data}` } }
    : { type, source_type: "base64", mime_type: mime, data };
  return withRest(blob, part, used);
}

/** A tool call in any spelling → {id, type: "function", function: {name, arguments: "<JSON>"}}; other members stay. */
export function callOf(call: Json): Json {
  if (!isObject(call)) return call;
  const { function: inner, type } = call;
  const used = new Set<string>();
  const own = isObject(inner) ? inner : {};
  const name = take(call, used, typeof inner === "string" ? NAMES_AND_FUNCTION : CALL_NAMES, own["name"]);
  const given = take(call, used, CALL_ARGUMENTS, own["arguments"]);
  if (name === null && given === null) return call;
  const id = take(call, used, CALL_IDS);
  if (isObject(inner)) used.add("function");
  if (typeof type === "string" && CALL_TYPES.has(type)) used.add("type");
  const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
  const made = { type: "function", function: { ...own, name, arguments: text } };
  return withRest(id === null ? made : { id, ...made }, call, used);
}

const NAMES_AND_FUNCTION = ["name", "toolName", "function"];
const CALL_NAMES = ["name", "toolName"];
const CALL_ARGUMENTS = ["arguments", "args", "input"];
const CALL_IDS = ["id", "toolCallId", "tool_call_id"];
/** Of calls to functions, in any convention. */
const CALL_TYPES: ReadonlySet<string> = new Set(["function", "tool_call", "tool-call", "tool_use", "function_call"]);
const MEDIA_MEMBERS: ReadonlySet<string> = new Set(["url", "contentType"]);
const MEDIA: ReadonlySet<string> = new Set(["media"]);
const NONE: ReadonlySet<string> = new Set();

function resultOf(id: Json, response: Json, name: Json): JsonObject {
  return {
    role: "tool",
    ...(id === null ? {} : { tool_call_id: id }),
    ...(name === null ? {} : { name }),
    content: resultContent(response),
  };
}

function resultContent(response: Json): Json {
  if (Array.isArray(response)) return contentOf((response as readonly Json[]).map((part) => partOf(part).value));
  return typeof response === "string" ? response : JSON.stringify(response);
}

/** One text block is a text, unless it has other members. */
export function contentOf(blocks: readonly Json[]): Json {
  if (blocks.length === 0) return "";
  const only = blocks[0];
  const isPlain =
    blocks.length === 1 && textMember(only, "type") === "text" && Object.keys(only as JsonObject).length <= 2;
  return isPlain ? (member(only, "text") ?? "") : blocks;
}
