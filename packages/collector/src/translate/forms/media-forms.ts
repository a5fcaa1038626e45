// Media forms: images, audio, video and files of a message, by address, data, bytes or reference → one block.
//   image with an address or data → {type: "image_url", image_url: {url}}
//   all others → {type: "audio" | "file" | …, source_type: "url" | "base64" | "text" | "id", …, mime_type}
// Invariant: a part in which nothing says where the content is stays as it is.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { spell, spellType } from "../attributes/spellings.ts";
import { isObject } from "../attributes/plain-values.ts";
import { textMember } from "../attributes/indexed.ts";
import { withRest } from "./members.ts";
import { FORMATS } from "./media-formats.ts";
import { mediaType } from "./media-type.ts";

type Kind = "image" | "audio" | "video" | "file" | "";

/** Types of parts; "" says nothing about the content. */
const KINDS: ReadonlyMap<string, Kind> = new Map(
  (
    [
      [
        "image",
        [
          "image",
          "image_url",
          "input_image",
          "output_image",
          "image_file",
          "image_block",
          "image_content",
          "image_data",
          "image_file_id",
          "computer_screenshot",
        ],
      ],
      ["audio", ["audio", "input_audio", "output_audio", "audio_url"]],
      ["video", ["video", "input_video", "video_url", "video_block"]],
      ["file", ["document", "document_url", "document_block", "pdf", "container_upload", "resource_link", "resource"]],
      ["", ["file", "input_file", "blob", "uri", "media", "binary", "inline_data", "file_data", "file_url", "file_id"]],
    ] as const
  ).flatMap(([kind, names]) => spellType(...names).map((name): [string, Kind] => [name, kind])),
);

export const MEDIA_TYPES: readonly string[] = [...KINDS.keys()];
/** Members that hold a part of Gemini, Bedrock, Genkit, Anthropic or OpenAI. */
export const MEDIA_HOLDERS: ReadonlySet<string> = new Set(
  spell("image", "document", "video", "audio", "media", "inline_data", "file_data", "file", "image_url"),
);
const INNER: ReadonlySet<string> = new Set([
  ...MEDIA_HOLDERS,
  ...spell("source", "s3_location", "input_audio", "binary", "data"),
]);

const MIMES = spell("mime_type", "media_type", "content_type", "image_mimetype", "document_mimetype");
const URLS = spell(
  "url",
  "uri",
  "file_uri",
  "remote_url",
  "image_url",
  "file_url",
  "audio_url",
  "video_url",
  "document_url",
);
const DATA = spell(
  "content",
  "data",
  "base64",
  "base64_image",
  "bytes",
  "b64_json",
  "file_data",
  "binary_content",
  "image",
  "audio",
  "video",
  "media",
);
const IDS = spell("file_id", "upload_file_id", "related_id", "id");
const SOURCES: ReadonlySet<string> = new Set([
  "base64",
  "data",
  "url",
  "file",
  "text",
  "bytes",
  "s3Location",
  "content",
  "id",
]);
const ADDRESS = /^(?:https?|data|gs|s3|file|attachment|blob|ftp):/i;
const LEVELS_MAX = 4;

/** Forms of OpenAI, which are the target's. */
function isWritten(part: JsonObject): boolean {
  switch (textMember(part, "type")) {
    case "image_url":
      return typeof textOrNull(part["image_url"], "url") === "string";
    case "input_audio":
    case "video_url":
      return isObject(part[textMember(part, "type")]) && !hasBytes(part[textMember(part, "type")]);
    case "file":
      return (isObject(part["file"]) && !hasBytes(part["file"])) || typeof part["source_type"] === "string";
    case "audio":
      return typeof part["source_type"] === "string";
    case "image":
      return part["source_type"] === "id";
    default:
      return false;
  }
}

function hasBytes(value: Json | undefined): boolean {
  return isObject(value) && Object.values(value).some((one) => typeof one === "object" && readBytes(one) !== null);
}

function textOrNull(value: Json | undefined, name: string): Json {
  return isObject(value) ? (value[name] ?? null) : null;
}

/** @returns null: no media */
export function readMedia(part: JsonObject): JsonObject | null {
  if (isWritten(part)) return part;
  const type = textMember(part, "type");
  if (type === "resource") return readResource(part);
  const { flat, held } = openHolders(part);
  const used = new Set(KINDS.has(textMember(flat, "type")) ? ["type"] : []);
  if (SOURCES.has(textMember(flat, "source_type"))) used.add("source_type"); // LangChain
  const isText = textMember(part["source"], "type") === "text"; // Anthropic
  const named = takeText(flat, used, MIMES);
  const format = textMember(flat, "format").toLowerCase();
  const mime = named || (Object.hasOwn(FORMATS, format) ? (FORMATS[format] ?? "") : "");
  const data = takeData(flat, used);
  const content = ADDRESS.test(data) ? "" : data;
  const address = content === "" ? takeText(flat, used, URLS) || data : ""; // else it stays beside the data
  const id = address === "" && content === "" ? takeText(flat, used, IDS) : "";
  if (address === "" && content === "" && id === "") return null;
  const said = textMember(flat, "modality");
  const known = KINDS.get(type) || held;
  const kind = known || toKind(said) || toKind(mime.split("/", 1)[0] ?? "") || "file";
  const name = kind === "video" ? "file" : kind;
  const detail = textMember(flat, "detail");
  if (kind === "image" && id === "" && (detail !== "" || flat["detail"] === null)) used.add("detail");
  if ([kind, name, mime.split("/", 1)[0]].includes(said)) used.add("modality");
  const media = writeMedia({ kind: name, mime, address, content, id, detail, isText });
  const isSaid = mime !== "" && (address.startsWith(`data:${mime}`) || (content !== "" && kind === "image"));
  const typed = mime === "" || isSaid || "mime_type" in media ? media : { ...media, mime_type: mime };
  return withRest(typed, flat, used);
}

const RESOURCE: ReadonlySet<string> = new Set(["type", "resource"]);

/** {type: "resource", resource: {uri, mimeType, text | blob}} of MCP. */
function readResource(part: JsonObject): JsonObject | null {
  const { resource } = part;
  if (!isObject(resource)) return null;
  const { text, blob, ...more } = resource;
  const source = text === undefined ? { type: "base64", data: blob ?? null } : { type: "text", data: text };
  return readMedia(withRest({ type: "blob", source, ...more }, part, RESOURCE));
}

interface Source {
  readonly kind: Kind;
  readonly mime: string;
  readonly address: string;
  readonly content: string;
  readonly id: string;
  readonly detail: string;
  readonly isText: boolean;
}

function writeMedia({ kind, mime, address, content, id, detail, isText }: Source): JsonObject {
  if (id !== "") return { type: kind, source_type: "id", id };
  if (kind === "image")
    return {
      type: "image_url",
      image_url: {
        url: address || `data:${mime || readType(content)};base64,${content}`,
        ...(detail === "" ? {} : { detail }),
      },
    };
  if (address !== "") return { type: kind, source_type: "url", url: address };
  if (isText || !/^[\w+/=\s-]*$/.test(content)) return { type: kind, source_type: "text", text: content };
  return { type: kind, source_type: "base64", mime_type: mime || readType(content), data: content };
}

/** By its first bytes. */
function readType(base64: string): string {
  return mediaType("", base64) ?? "application/octet-stream";
}

function toKind(word: string): Kind {
  return word === "image" || word === "audio" || word === "video" ? word : "";
}

/** {image: {format, source: {bytes}}} → {format, bytes}, an image. */
function openHolders(part: JsonObject): { readonly flat: JsonObject; readonly held: Kind } {
  let flat = part;
  let held: Kind = "";
  for (let level = 0; level < LEVELS_MAX; level++) {
    const name = Object.keys(flat).find((one) => INNER.has(one) && isHolder(flat[one]));
    if (name === undefined) break;
    held ||= KINDS.get(name) ?? "";
    const { type, ...members } = flat[name] as JsonObject;
    const isSource = type === undefined || (typeof type === "string" && (SOURCES.has(type) || KINDS.has(type)));
    flat = withRest(isSource ? members : { type, ...members }, flat, new Set([name]));
  }
  return { flat, held };
}

function isHolder(value: Json | undefined): boolean {
  return isObject(value) && readBytes(value) === null;
}

/** The first of these with text, "" for none. Others stay unless they say the same or nothing. */
function takeText(from: JsonObject, used: Set<string>, names: readonly string[]): string {
  const name = names.find((one) => typeof from[one] === "string" && from[one] !== "");
  const text = name === undefined ? "" : (from[name] as string);
  for (const one of names) if (from[one] === text || (text !== "" && from[one] === null)) used.add(one);
  return text;
}

function takeData(from: JsonObject, used: Set<string>): string {
  let data = "";
  for (const name of DATA) {
    const value = joinDocument(from[name]);
    if (value === undefined) continue;
    const read = typeof value === "string" ? value : readBytes(value);
    if (data === "" && read !== null) data = read;
    if (read === "" || value === null || (read !== null && read === data)) used.add(name);
  }
  return data;
}

/** The blocks of an Anthropic document, when all are texts. */
function joinDocument(value: Json | undefined): Json | undefined {
  if (!Array.isArray(value) || value.length === 0) return value;
  const list = value as readonly Json[];
  const isTexts = list.every((one) => textMember(one, "type") === "text" && textMember(one, "text") !== "");
  return isTexts ? list.map((one) => textMember(one, "text")).join("\n\n") : value;
}

const BYTES_MIN = 4;

/** {"type": "Buffer", "data": [137, …]}, [137, …] or {"0": 137, …} → base64; null for anything else. */
export function readBytes(value: Json): string | null {
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    return list.length >= BYTES_MIN && list.every(isByte)
      ? Buffer.from(list as readonly number[]).toString("base64")
      : null;
  }
  if (!isObject(value)) return null;
  if (value["type"] === "Buffer" && Array.isArray(value["data"]) && (value["data"] as readonly Json[]).every(isByte))
    return Buffer.from(value["data"] as readonly number[]).toString("base64");
  if (value["0"] === undefined) return null;
  const list = Object.values(value);
  const isIndexed = Object.keys(value).every((name, at) => name === String(at));
  return isIndexed ? readBytes(list) : null;
}

function isByte(value: Json): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255;
}
