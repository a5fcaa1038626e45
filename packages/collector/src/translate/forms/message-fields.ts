// Message fields: the calls, the parts and the call id of a message, wherever its sender puts them.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { spell } from "../attributes/spellings.ts";
import { readCuts } from "../attributes/cut-json.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";
import { type Part, readPart } from "./block-forms.ts";
import { take, withRest } from "./members.ts";
import { contentWithin } from "./python-text.ts";
import { toRole } from "./roles.ts";
import { isTwoParts, toToolCall, joinCalls, splitToolPart } from "./tool-forms.ts";

const CALL_IDS = spell("call_id", "tool_use_id", "tool_call_id", "id");

/** A message of a tool names its call, and the tool; null when it does so already. */
export function takeTool(message: JsonObject, used: Set<string>): JsonObject | null {
  const id = message["tool_call_id"] === undefined ? take(message, used, CALL_IDS) : null;
  const name = message["name"] === undefined ? take(message, used, TOOL_NAMES) : null;
  if (id === null && name === null) return null;
  return { ...(id === null ? {} : { tool_call_id: id }), ...(name === null ? {} : { name }) };
}

const TOOL_NAMES = spell("tool_name");
const CALLS = spell("tool_calls", "tool_execution_requests");

/** null: none, or none to change. */
export function takeCalls(message: JsonObject, used: Set<string>): readonly Json[] | null {
  const name = CALLS.find((one) => message[one] !== undefined);
  const list = name === undefined ? null : asList(contentWithin(message[name]));
  const single = jsonWithin(message["function_call"] ?? message["functionCall"]);
  if (isObject(single) && !Array.isArray(message["parts"])) {
    used.add(message["function_call"] === undefined ? "functionCall" : "function_call");
    if (name !== undefined && list !== null) used.add(name);
    return joinCalls((list ?? []).map(readListed), [toToolCall(single)]);
  }
  if (name === undefined || list === null) return null;
  const calls = list.map(readListed);
  const isSame = name === "tool_calls" && list === message[name] && calls.every((one, at) => one === list[at]);
  if (isSame) return null;
  used.add(name);
  return calls;
}

/** LiveKit writes a list of JSON texts. A call in the target form stays the same object. */
function readListed(given: Json): Json {
  const call = jsonWithin(given);
  if (!isObject(call)) return call;
  const inner = call["function"];
  const isWritten =
    call["type"] === "function" &&
    isObject(inner) &&
    typeof inner["arguments"] === "string" &&
    call["name"] === undefined;
  return isWritten && call["call_id"] === undefined
    ? call
    : toToolCall(readPart(call).kind === "call" ? readPart(call).value : call);
}

const THOUGHTS = [...spell("reasoning_content", "reasoning_text", "tool_plan"), "reasoning", "thinking"];
const FILES = ["files", "images", "experimental_attachments"];

/** The parts of a message; null when its content is plain or has the target form. */
export function takeParts(message: JsonObject, used: Set<string>): readonly Part[] | null {
  const { content, text } = message;
  const { parts: held } = message;
  const given = asList(isObject(held) && readPart(held).form !== "" ? [held] : held);
  const own = given ?? readList(content) ?? readList(message["contents"]) ?? asList(message["blocks"]);
  const thought = THOUGHTS.find((name) => typeof message[name] === "string" && message[name] !== "");
  const said = content === undefined && given === null && typeof text === "string" ? text : null; // Dify
  const files = [...FILES.flatMap((name) => readFiles(message, name, used)), ...readRefusalAndAudio(message, used)];
  const thoughts = asList(message["thinking_blocks"]); // LiteLLM
  if (own === null && thought === undefined && thoughts === null && said === null && files.length === 0) return null;
  const whole = own ?? [];
  const parts = (whole.some(isTwoParts) ? whole.flatMap(splitToolPart) : whole).map(readPart);
  const isWritten =
    given === null && own === content && parts.every(({ kind, value }, at) => kind === "block" && value === own?.[at]);
  if (isWritten && thought === undefined && thoughts === null && files.length === 0) return null;
  if (given !== null) used.add("parts");
  if (given === null || content === "") used.add("content");
  else if (content !== undefined) {
    used.add("content");
    parts.unshift(...(readList(content) ?? [content]).map(readPart));
  }
  if (own !== null && own === message["contents"]) used.add("contents");
  if (own !== null && own === message["blocks"]) used.add("blocks");
  if (own === null && content !== undefined && content !== null && content !== "") parts.unshift(readPart(content));
  if (said !== null) {
    used.add("text");
    for (const name of FILES) if (isEmptyList(message[name])) used.add(name);
    parts.unshift(readPart(said));
  }
  const thinking = (thoughts ?? []).map(readPart);
  if (thoughts !== null) used.add("thinking_blocks");
  parts.unshift(...thinking);
  if (thought !== undefined) {
    used.add(thought);
    const isSaid = textMember(thinking[0]?.value, "reasoning") === message[thought];
    if (!isSaid) parts.unshift(readPart({ type: "reasoning", reasoning: message[thought] ?? "" }));
  }
  return [...parts, ...files];
}

/** A list of blocks, one block, or a text with such a list; null for other content. */
function readList(content: Json | undefined): readonly Json[] | null {
  if (Array.isArray(content)) return content as readonly Json[];
  if (isObject(content)) {
    const inner = openContent(content);
    if (inner !== content) return readList(inner) ?? [inner];
    return readPart(content).form === "" ? null : [content];
  }
  if (typeof content !== "string" || !startsList(content)) return null;
  const blocks = contentWithin(content);
  const isBlocks = Array.isArray(blocks) && (blocks as readonly Json[]).every(isBlock);
  return isBlocks ? (blocks as readonly Json[]) : null;
}

/**
 * A list of blocks, or a message with one, as JSON whose end a limit cut off: the blocks that are complete, and the rest
 * beside them as text.
 */
export function openCut(message: JsonObject): JsonObject {
  const { content } = message;
  if (typeof content !== "string" || !startsBlocks(content)) return message;
  for (const { isList, rest, whole } of readCuts(content)) {
    const own = isObject(whole) ? whole : { content: whole };
    const blocks = asList(own["content"]) ?? asList(own["parts"]);
    const isSaid = own["role"] === undefined || toRole(textMember(own, "role")) !== "";
    if (isList && isSaid && blocks !== null && blocks.every(isBlock))
      return withRest(own, { ...message, truncated: rest }, OF_CUT);
  }
  return message;
}

/** Perhaps JSON of a list of blocks, or of a message. */
export function startsBlocks(content: string): boolean {
  return /^\s*(?:\[\s*\{|\{\s*"role")/.test(content);
}

const OF_CUT: ReadonlySet<string> = new Set(["content"]);

/** Perhaps JSON of a list of blocks. */
export function startsList(content: string): boolean {
  return /^\s*\[\s*\{/.test(content);
}

function isBlock(item: Json): boolean {
  return isObject(item) && (typeof item["type"] === "string" || readPart(item).form !== "");
}

/** {content: "…"} and {message: "…", finish_reason} of AgentCore, {parts: […]} of Gemini. */
function openContent(content: JsonObject): Json {
  const name = ["parts", "content", "message"].find((one) => content[one] !== undefined);
  const isOnly =
    name !== undefined && Object.keys(content).every((one) => one === name || (one === "role" && name === "parts"));
  return isOnly ? (content[name] ?? "") : content;
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

function readFiles(message: JsonObject, name: string, used: Set<string>): readonly Part[] {
  const list = asList(message[name]);
  if (list === null || list.length === 0) return [];
  const kind = name === "images" ? "image" : "file";
  const parts = list.map((one) =>
    readPart(typeof one === "string" ? { type: kind, data: one } : isObject(one) ? { type: kind, ...one } : one),
  );
  if (!parts.every(({ form }) => form === "media")) return [];
  used.add(name);
  return parts;
}

const NO_PARTS: readonly Part[] = [];

/** OpenAI's refusal and audio, which stand beside a content of null. */
function readRefusalAndAudio(message: JsonObject, used: Set<string>): readonly Part[] {
  const { refusal, audio } = message;
  if (refusal === undefined && audio === undefined) return NO_PARTS;
  const parts: Part[] = [];
  if (typeof refusal === "string" && refusal !== "") {
    used.add("refusal");
    parts.push(readPart({ type: "refusal", refusal }));
  }
  if (isObject(audio) && typeof audio["data"] === "string") {
    used.add("audio");
    const { transcript = "", ...sound } = audio;
    if (transcript !== "") parts.push(readPart(transcript));
    parts.push(readPart({ type: "audio", ...sound }));
  }
  return parts;
}

export function asList(content: Json | undefined): readonly Json[] | null {
  return Array.isArray(content) ? (content as readonly Json[]) : null;
}
