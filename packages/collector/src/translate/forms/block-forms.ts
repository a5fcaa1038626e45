// Block forms: the parts of a message, of every sender → content blocks, tool calls and tool results. The only table of
// them: a form that is added here works at every place where content may stand (forms.test.ts).
// Invariants:
//   - A part is known by its type, in any spelling, or by the member that holds it: {toolUse: {…}} and {type:
//     "toolUse", …} are one form.
//   - An unknown part stays whole. What a form does not read of a part stays beside it.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { spell, spellType } from "../attributes/spellings.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { MEDIA_HOLDERS, MEDIA_TYPES, readMedia } from "./media-forms.ts";
import { take, withRest } from "./members.ts";
import {
  CALL_TYPES,
  OUTPUT_OF_CODE,
  TEXTS_OF_TOOLS,
  toToolCall,
  readResult,
  RESULT_TYPES,
  tellTool,
  withoutEmpty,
} from "./tool-forms.ts";

export interface Part {
  readonly kind: "block" | "call" | "result";
  readonly value: Json;
  /** Name of the form; "" for an unknown part. */
  readonly form: string;
}

interface BlockForm {
  readonly name: string;
  readonly kind: Part["kind"];
  /** Values of `type`. */
  readonly types: readonly string[];
  /** Members that hold the part, an object or a text. */
  readonly holders: readonly string[];
  /** null: it is none after all. */
  readonly read: (part: JsonObject) => JsonObject | null;
}

const THOUGHT_HOLDERS = spell("reasoning_content", "reasoning", "thinking", "reasoning_text");

export const BLOCK_FORMS: readonly BlockForm[] = [
  {
    name: "text",
    kind: "block",
    types: spellType(
      "text",
      "input_text",
      "output_text",
      "summary_text",
      "text_block",
      "text_plain",
      "search_result",
      ...TEXTS_OF_TOOLS,
    ),
    holders: spell("guard_content", "citations_content"), // Bedrock
    read: readText,
  },
  {
    name: "reasoning",
    kind: "block",
    types: spellType(
      "reasoning",
      "thinking",
      "redacted_thinking",
      "thought",
      "reasoning_content",
      "reasoning_text",
      "reasoning_block",
    ),
    holders: THOUGHT_HOLDERS,
    read: readReasoning,
  },
  { name: "refusal", kind: "block", types: ["refusal"], holders: [], read: (part) => part },
  {
    name: "tool call",
    kind: "call",
    types: CALL_TYPES,
    holders: spell("function_call", "tool_use", "tool_request", "tool_call", "tool_invocation"),
    read: readCall,
  },
  {
    name: "tool result",
    kind: "result",
    types: RESULT_TYPES,
    holders: spell("function_response", "tool_result", "tool_response", "tool_call_result", "tool_call_response"),
    read: (part) => readResult(part, readBlocks),
  },
  {
    name: "code",
    kind: "call",
    types: spellType("executable_code"),
    holders: spell("executable_code"),
    read: readCode,
  },
  {
    name: "result of code",
    kind: "result",
    types: [],
    holders: spell("code_execution_result"),
    read: readCodeResult,
  },
  { name: "output of code", kind: "block", types: OUTPUT_OF_CODE, holders: [], read: readOutputOfCode },
  { name: "media", kind: "block", types: MEDIA_TYPES, holders: [...MEDIA_HOLDERS], read: readMedia },
];

const BY_TYPE: ReadonlyMap<string, BlockForm> = new Map(
  BLOCK_FORMS.flatMap((form) => form.types.map((type): [string, BlockForm] => [type, form])),
);
const BY_HOLDER: ReadonlyMap<string, BlockForm> = new Map(
  BLOCK_FORMS.flatMap((form) => form.holders.map((name): [string, BlockForm] => [name, form])),
);
const BY_NAME: ReadonlyMap<string, BlockForm> = new Map(BLOCK_FORMS.map((form) => [form.name, form]));

export function readPart(part: Json): Part {
  if (typeof part === "string") return { kind: "block", value: { type: "text", text: part }, form: "text" };
  if (!isObject(part)) return unknown(part);
  return readTyped(withType(part));
}

/** Pydantic AI, A2A, LlamaIndex and .NET name the type otherwise. */
const TYPE_NAMES = ["kind", "block_type", "part_kind", "$type"];

function withType(part: JsonObject): JsonObject {
  const { type } = part;
  if (type !== undefined) {
    const isUpper = typeof type === "string" && !BY_TYPE.has(type) && BY_TYPE.has(type.toLowerCase()); // Java's
    return isUpper ? { ...part, type: type.toLowerCase() } : part;
  }
  const name = TYPE_NAMES.find((one) => BY_TYPE.has(textMember(part, one)));
  return name === undefined ? part : withRest({ type: part[name] ?? "" }, part, new Set([name]));
}

function readTyped(part: JsonObject): Part {
  const named = BY_TYPE.get(textMember(part, "type"));
  const isAnswer = named?.types === OUTPUT_OF_CODE && part["call_id"] !== undefined; // Gemini's interactions
  const typed = isAnswer ? BY_NAME.get("tool result") : named;
  const holder = Object.keys(part).find((name) => isHolder(part, name, typed));
  const form = typed ?? BY_HOLDER.get(holder ?? "") ?? tellForm(part);
  if (form === undefined) return unknown(part);
  const value = form.read(holder === undefined || form.name === "media" ? part : openHolder(part, holder));
  return value === null ? unknown(part) : { kind: form.kind, value, form: form.name };
}

function unknown(value: Json): Part {
  return { kind: "block", value, form: "" };
}

/** Whether a part with a type is a holder: only in its own form. */
function isHolder(part: JsonObject, name: string, typed: BlockForm | undefined): boolean {
  const form = BY_HOLDER.get(name);
  if (form === undefined || (typed !== undefined && typed !== form)) return false;
  const value = part[name];
  if (isObject(value)) return true;
  if (typed !== undefined || value === undefined || value === null) return false;
  return form.name === "reasoning" ? typeof value === "string" : form.name === "media" && Array.isArray(value);
}

function openHolder(part: JsonObject, name: string): JsonObject {
  const inner = part[name];
  return isObject(inner) ? withRest(inner, part, new Set([name])) : part;
}

/** By the members, when neither a type nor a holder tells. */
function tellForm(part: JsonObject): BlockForm | undefined {
  const tool = part["role"] === undefined ? tellTool(part) : null;
  if (tool !== null) return BY_NAME.get(tool === "call" ? "tool call" : "tool result");
  if (typeof part["stdout"] === "string" && typeof part["stderr"] === "string") return BY_NAME.get("output of code");
  const { type } = part;
  if (type !== undefined && type !== null) return undefined;
  if (typeof part["text"] === "string" || textMember(part["text"], "value") !== "") return BY_NAME.get("text");
  return MIMES.some((name) => typeof part[name] === "string") ? BY_NAME.get("media") : undefined;
}

const MIMES = spell("mime_type", "media_type", "content_type");

function readText(part: JsonObject): JsonObject | null {
  if (part["thought"] === true) return readReasoning(part);
  const { content, text, type, ...rest } = part;
  const holder = isObject(text) ? HELD_TEXTS.find((name) => typeof text[name] === "string") : undefined;
  if (isObject(text) && holder !== undefined)
    return withRest({ type: "text", text: text[holder] ?? "" }, withRest(rest, text, new Set([holder])), NONE);
  if (isObject(content) && content["text"] !== undefined) return readText(withRest(content, part, CONTENT)); // Azure's agents
  const joined = Array.isArray(content) && content.length > 0 ? joinTexts(content as readonly Json[]) : null;
  if (joined !== null) return withRest({ type: "text", text: joined }, part, CONTENT_AND_TYPE);
  if (content === undefined) {
    if (text === undefined && typeof part["title"] === "string") {
      const { title, url, ...more } = rest; // a hit of a search
      return { type: "text", text: typeof url === "string" ? `${title as string}\n${url}` : (title ?? ""), ...more };
    }
    if (type === "text") return text === undefined ? { ...part, text: "" } : part;
    return { type: "text", text: text ?? "", ...rest };
  }
  return {
    type: "text",
    text: content ?? text ?? "",
    ...rest,
    ...(text === undefined || content === null ? {} : { original_text: text }),
  };
}

/** {value, annotations} of OpenAI's Assistants, {text, qualifiers} of Bedrock's guardrails. */
const HELD_TEXTS = ["value", "text"];
const CONTENT: ReadonlySet<string> = new Set(["content"]);
const CONTENT_AND_TYPE: ReadonlySet<string> = new Set(["content", "type"]);
const THOUGHTS = ["content", "reasoning", "thinking", "text", ...spell("reasoning_text", "reasoning_content")];

/** Also Bedrock's {reasoningText: {text, signature}} and the summary of OpenAI's Responses. */
function readReasoning(part: JsonObject): JsonObject {
  const inner = part["reasoningText"] ?? part["reasoning_text"];
  if (isObject(inner)) return readReasoning(withRest(inner, part, REASONING_TEXT));
  const used = new Set(["type", ...(part["thought"] === true ? ["thought"] : [])]);
  const given = take(part, used, THOUGHTS);
  if (given !== null && !isEmptyList(given)) {
    const text = Array.isArray(given) ? joinTexts(given as readonly Json[]) : given;
    const { details } = part; // Mastra repeats the text
    if (Array.isArray(details) && joinTexts(details as readonly Json[]) === text) used.add("details");
    return withRest({ type: "reasoning", reasoning: text ?? given }, part, used);
  }
  const { summary } = part;
  const text = Array.isArray(summary) ? joinTexts(summary as readonly Json[]) : null;
  if (text === null) return part["type"] === "reasoning" ? part : withRest({ type: "reasoning" }, part, TYPE);
  used.add("summary");
  return withRest({ type: "reasoning", reasoning: text }, part, used);
}

const REASONING_TEXT: ReadonlySet<string> = new Set(spell("reasoning_text"));
const TYPE: ReadonlySet<string> = new Set(["type"]);
const NONE: ReadonlySet<string> = new Set();

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** null: not only texts. */
function joinTexts(list: readonly Json[]): string | null {
  const texts = list.map((one) => member(one, "text"));
  const isPlain = list.every(
    (one) => isObject(one) && Object.keys(one).every((name) => name === "text" || name === "type"),
  );
  return isPlain && texts.every((one) => typeof one === "string") ? texts.join("\n\n") : null;
}

function readCall(part: JsonObject): JsonObject | null {
  const call = toToolCall(part);
  return call === part && !isObject(part["function"]) ? null : (call as JsonObject);
}

const CODE_TOOL = "code_execution";

/** Gemini runs code as a tool of its own. */
function readCode({ type: _type, id, ...code }: JsonObject): JsonObject {
  const made = { type: "function", function: { name: CODE_TOOL, arguments: JSON.stringify(code) } };
  return id === undefined ? made : { id, ...made };
}

function readCodeResult(part: JsonObject): JsonObject {
  const isFailed = !/^$|_OK$/.test(textMember(part, "outcome"));
  return { ...readResult({ ...part, name: CODE_TOOL }, readBlocks), ...(isFailed ? { status: "error" } : {}) };
}

const OUTPUTS = ["stdout", "logs", "stderr"];

/** What stands in none of these, and is empty, says nothing. */
function readOutputOfCode(part: JsonObject): JsonObject | null {
  const name = OUTPUTS.find((one) => textMember(part, one) !== "") ?? OUTPUTS.find((one) => part[one] === "");
  if (name === undefined) return null;
  const { [name]: text = "", type: _type, ...more } = part;
  return { type: "text", text, ...withoutEmpty(more) };
}

/** The blocks of a list, which holds no calls. */
export function readBlocks(list: readonly Json[]): Json {
  return mergeContent(list.map((part) => readPart(part).value));
}

/** One text block is a text, unless it has other members. */
export function mergeContent(blocks: readonly Json[]): Json {
  if (blocks.length === 0) return "";
  const only = blocks[0];
  const isPlain =
    blocks.length === 1 && textMember(only, "type") === "text" && Object.keys(only as JsonObject).length <= 2;
  return isPlain ? (member(only, "text") ?? "") : blocks;
}
