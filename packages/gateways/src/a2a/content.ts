// Content: parts of a message ↔ content of a message in the state of a graph. Texts and files become content blocks,
// data becomes members of the input.
import type { Part } from "@a2a-js/sdk";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export function textPart(value: string): Part {
  return { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" };
}

export function dataPart(value: Json): Part {
  return { content: { $case: "data", value }, metadata: undefined, filename: "", mediaType: "application/json" };
}

/** One text stays a text: graphs and models read it everywhere. Null without texts and files. */
export function toContent(parts: readonly Part[]): Json {
  const blocks: readonly JsonObject[] = parts.map(toBlock).filter((block) => block !== null);
  if (blocks.length === 0) return null;
  const [only] = blocks;
  return blocks.length === 1 && only?.["type"] === "text" ? (only["text"] as string) : blocks;
}

/** Null for a data part that is a member of the input. */
function toBlock({ content, filename, mediaType }: Part): JsonObject | null {
  switch (content?.$case) {
    case "text":
      return { type: "text", text: content.value };
    case "raw":
      return fileBlock({ data: Buffer.from(content.value).toString("base64") }, filename, mediaType);
    case "url":
      return fileBlock({ url: content.value }, filename, mediaType);
    case "data":
      return isJsonObject(content.value) ? null : { type: "text", text: JSON.stringify(content.value) };
    case undefined:
    default:
      return null;
  }
}

const MEDIA = ["image", "audio", "video"];

function fileBlock(source: JsonObject, filename: string, mediaType: string): JsonObject {
  const [family = ""] = mediaType.split("/");
  return {
    type: MEDIA.includes(family) ? family : "file",
    ...source,
    ...(mediaType === "" ? {} : { mimeType: mediaType }),
    ...(filename === "" ? {} : { metadata: { filename } }),
  };
}

export function toParts(content: Json): Part[] {
  if (typeof content === "string") return content === "" ? [] : [textPart(content)];
  if (!Array.isArray(content)) return [];
  return (content as readonly Json[]).flatMap((block) => (isJsonObject(block) ? (toPart(block) ?? []) : []));
}

/** Null for a block without text or file: a call of a tool, a thought. */
function toPart(block: JsonObject): Part | null {
  const { type, text, data, url, metadata } = block;
  if (type === "text") return typeof text === "string" && text !== "" ? textPart(text) : null;
  const mediaType = asText(block["mimeType"] ?? block["mime_type"]);
  const filename = isJsonObject(metadata) ? asText(metadata["filename"]) : "";
  const file = { metadata: undefined, filename, mediaType };
  if (typeof data === "string") return { content: { $case: "raw", value: Buffer.from(data, "base64") }, ...file };
  const address = url ?? imageUrl(block["image_url"] ?? null);
  return typeof address === "string" ? { content: { $case: "url", value: address }, ...file } : null;
}

/** The older form of an image. */
function imageUrl(value: Json): Json {
  return isJsonObject(value) ? (value["url"] ?? null) : value;
}

function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Texts of the parts, one line each. */
export function textIn(parts: readonly Part[]): string {
  return parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : [])).join("\n");
}

/** Objects in data parts, in their order. */
export function objectsIn(parts: readonly Part[]): readonly JsonObject[] {
  return parts.flatMap(({ content }) =>
    content?.$case === "data" && isJsonObject(content.value) ? [content.value] : [],
  );
}
