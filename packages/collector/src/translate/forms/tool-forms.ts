// Tool forms: calls and results in any spelling → {id, type: "function", function} and {role: "tool", tool_call_id}.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { spell, spellType } from "../attributes/spellings.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { take, withRest } from "./members.ts";

const NAMES = spell("name", "tool_name");
const NAMES_AND_FUNCTION = [...NAMES, "function"];
const ARGUMENTS = spell("arguments", "args", "input", "parameters", "tool_kwargs", "server_tool_call");
const CALL_IDS = spell("call_id", "id", "tool_call_id", "tool_use_id", "ref");
const RESULT_IDS = spell("call_id", "tool_call_id", "tool_use_id", "id", "ref");
const CONTENT = ["content"];
const RESULTS = ["response", "result", ...spell("server_tool_call_response")];
const ERRORS = ["error", "errorText"];
/** Ids that no other block has. */
const TOOL_IDS = spell("call_id", "tool_call_id", "tool_use_id");

/** Tools of OpenAI's Responses, which the type names. */
const BUILT_IN = spellType(
  "apply_patch_call",
  "code_execution_call", // Gemini's interactions, and the next two
  "google_search_call",
  "url_context_call",
  "code_interpreter_call",
  "computer_call",
  "file_search_call",
  "image_generation_call",
  "local_shell_call",
  "shell_call",
  "tool_search_call",
  "web_search_call",
);
const BUILT_IN_ARGUMENTS = [...ARGUMENTS, "action", "operation", "code", "queries"];
/** What a built-in tool answered, in the item of its call. */
const BUILT_IN_RESULTS = ["outputs", "results", "output", "result", "error"];

const PLAIN_CALLS: ReadonlySet<string> = new Set(
  spellType("function", "tool_call", "tool_use", "function_call", "tool_request", "tool_invocation", "tool_use_block"),
);
/** Their type says more than that they are calls. */
const NOTED_CALLS = spellType(
  "custom",
  "custom_tool_call",
  "server_tool_call",
  "server_tool_use",
  "function.call", // Mistral
  "mcp_approval_request",
  "mcp_call",
  "mcp_tool_use",
  "tool.execution",
  "hosted_tool_call",
  "builtin_tool_call",
  "invalid_tool_call",
);
export const CALL_TYPES = [...PLAIN_CALLS, ...NOTED_CALLS, ...BUILT_IN];
export const RESULT_TYPES = spellType(
  "tool_call_response",
  "tool_result",
  "tool_response",
  "tool_call_result",
  "tool_error",
  "tool_return",
  "function_response",
  "function_result",
  "function.result",
  "function_call_output",
  "custom_tool_call_output",
  "computer_call_output",
  "local_shell_call_output",
  "shell_call_output",
  "apply_patch_call_output",
  "server_tool_call_response",
  "server_tool_result",
  "builtin_tool_return",
  "mcp_tool_result",
  "google_search_result",
  "url_context_result",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "tool_result_block",
  "function_call_result",
);
/** What a program wrote, in Anthropic's and OpenAI's words. */
export const OUTPUT_OF_CODE = [...spellType("code_execution_result", "bash_code_execution_result"), "logs"];
/** What Anthropic's other server tools found: texts. */
export const TEXTS_OF_TOOLS = spellType("web_search_result", "text_editor_code_execution_view_result");
const NONE: ReadonlySet<string> = new Set();

/** A tool call in any spelling → {id, type: "function", function: {name, arguments: "<JSON>"}}; other members stay. */
export function toToolCall(given: Json): Json {
  if (!isObject(given)) return given;
  const call = openNamed(given);
  const { function: inner, type } = call;
  const used = new Set<string>();
  const own = isObject(inner) ? inner : {};
  const builtIn = typeof type === "string" && BUILT_IN.includes(type) ? type.replace(/[-_]?call$/i, "") : null;
  const name = take(call, used, typeof inner === "string" ? NAMES_AND_FUNCTION : NAMES, own["name"] ?? builtIn);
  const input = take(call, used, builtIn === null ? ARGUMENTS : BUILT_IN_ARGUMENTS, own["arguments"]);
  if (name === null && input === null) return call;
  const id = take(call, used, CALL_IDS);
  if (isObject(inner)) used.add("function");
  if (typeof type === "string" && PLAIN_CALLS.has(type)) used.add("type");
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
  const made = { type: "function", function: { ...own, name, arguments: text } };
  if (call["call_id"] !== undefined && call["id"] !== undefined && !used.has("id") && call["item_id"] === undefined) {
    const { id: item, ...beside } = call; // of an item of OpenAI's Responses
    return withRest({ id, ...made, item_id: item }, beside, used);
  }
  return withRest(id === null ? made : { id, ...made }, call, used);
}

const TYPES: ReadonlySet<string> = new Set([...CALL_TYPES, ...RESULT_TYPES]);

const HOSTED: ReadonlySet<string> = new Set(spellType("hosted_tool_call"));
const NAMED_ARGUMENTS = [...ARGUMENTS, ...NAMES];

/** {id, type: "code_interpreter", code_interpreter: {input, outputs}} of OpenAI's Assistants and Azure's agents. */
function openNamed(call: JsonObject): JsonObject {
  const { type } = call;
  const inner = typeof type === "string" && !TYPES.has(type) ? call[type] : undefined;
  const { providerData: hosted } = call;
  if (typeof type === "string" && HOSTED.has(type) && isObject(hosted) && hosted["action"] !== undefined) {
    const { action, ...more } = hosted; // OpenAI Agents for JavaScript
    return { ...call, arguments: call["arguments"] ?? action, providerData: more };
  }
  if (typeof type !== "string" || !isObject(inner)) return call;
  const { outputs, results, ...asked } = inner;
  const answers = { ...(outputs === undefined ? {} : { outputs }), ...(results === undefined ? {} : { results }) };
  const named = hasAny(inner, NAMED_ARGUMENTS) ? inner : { arguments: asked, ...answers };
  return withRest({ name: type, ...named }, call, new Set(["type", type]));
}

/** A tool's result in any spelling → its message. @param read a list of blocks → content */
export function readResult(part: JsonObject, read: (blocks: readonly Json[]) => Json): JsonObject {
  const used = new Set(["type"]);
  const origin = part["origin"]; // Haystack: the call
  const call = isObject(origin) ? origin : {};
  const id = take(part, used, RESULT_IDS, call["id"]);
  const name = take(part, used, NAMES, call["tool_name"]);
  const response = take(part, used, RESULTS);
  const { output } = part;
  const isOutput = response === null && output !== undefined;
  if (isOutput) used.add("output");
  const { value, ...beside } = isOutput ? openOutput(output) : openFailure(part, used, response);
  const text = writeContent(value, read);
  const { parts } = part; // Gemini: images beside the response
  const hasParts = Array.isArray(parts) && typeof text === "string";
  if (hasParts) used.add("parts");
  const made = {
    role: "tool",
    ...(id === null ? {} : { tool_call_id: id }),
    ...(name === null ? {} : { name }),
    content: hasParts ? read([{ type: "text", text }, ...(parts as readonly Json[])]) : text,
    ...beside,
  };
  if (!isObject(origin)) return withRest(made, part, used);
  const { id: _id, tool_name: _name, ...more } = origin;
  used.add("origin");
  return withRest(withRest(made, part, used), withoutEmpty(more), NONE);
}

/** The content, or the error of a call without one. */
function openFailure(part: JsonObject, used: Set<string>, response: Json): Opened {
  const value = response ?? take(part, used, CONTENT);
  const error = value === null ? take(part, used, ERRORS) : null;
  if (error !== null) return { value: error, ...FAILED };
  return isObject(value) && FAILURE.test(textMember(value, "type")) ? openError(value) : (openMcp(value) ?? { value });
}

/** Types of Anthropic's failed server tools. */
const FAILURE = /_tool_result_error$/;

function openError(error: JsonObject): Opened {
  const { error_code: code, type: _type, ...more } = error;
  return { value: code === undefined || Object.keys(more).length > 0 ? error : code, ...FAILED };
}

interface Opened {
  readonly value: Json;
  readonly status?: "error";
}

const FAILED = { status: "error" } as const;

function writeContent(response: Json, read: (blocks: readonly Json[]) => Json): Json {
  if (Array.isArray(response)) return read((response as readonly Json[]).map(openJson));
  if (isObject(response) && isTextBlock(response)) return read([response]); // OpenAI Agents
  if (isObject(response) && OWN_BLOCKS.has(textMember(response, "type"))) return read([openFetched(response)]);
  if (response === null) return "";
  return typeof response === "string" ? response : JSON.stringify(response);
}

/** Results of server tools that are one block. */
const OWN_BLOCKS: ReadonlySet<string> = new Set([
  ...OUTPUT_OF_CODE,
  ...TEXTS_OF_TOOLS,
  "computer_screenshot",
  "web_fetch_result",
]);

/** {type: "web_fetch_result", url, content: a document} of Anthropic's → the document, with the address beside it. */
function openFetched(result: JsonObject): JsonObject {
  const { content } = result;
  return isObject(content) && content["type"] === "document" ? withRest(content, result, FETCHED) : result;
}

const FETCHED: ReadonlySet<string> = new Set(["type", "content"]);

/** Bedrock's {json: …}, Strands' {type: "json", json: …} → a text. */
function openJson(block: Json): Json {
  if (!isObject(block) || block["json"] === undefined) return block;
  const { json, type = "json", ...more } = block;
  if (type !== "json" || Object.keys(more).length > 0) return block;
  return { type: "text", text: typeof json === "string" ? json : JSON.stringify(json) };
}

const OF_MCP: ReadonlySet<string> = new Set(["content", "isError"]);

/** {content: […], isError}; null for everything else. */
function openMcp(value: Json): Opened | null {
  if (!isObject(value) || !Array.isArray(value["content"])) return null;
  if (!Object.keys(value).every((name) => OF_MCP.has(name))) return null;
  return { value: value["content"] as Json, ...(value["isError"] === true ? FAILED : {}) };
}

function isTextBlock({ type, text, ...more }: JsonObject): boolean {
  return type === "text" && typeof text === "string" && Object.keys(more).length === 0;
}

/**
 * AI SDK 5 wraps a result as {type: "text" | "json" | "content" | "error-text" | "error-json", value}. A failed one is
 * told by `status`, and what the type and the value do not say stays as `output`.
 */
function openOutput(output: Json): Opened & { readonly output?: Json } {
  if (!isObject(output) || output["value"] === undefined || output["type"] === undefined)
    return openMcp(output) ?? { value: output };
  const { value = null, type, ...more } = output;
  const rest = typeof type === "string" && OUTPUT_TYPES.has(type) ? more : { type, ...more };
  return {
    ...(openMcp(value) ?? { value }),
    ...(typeof type === "string" && type.startsWith("error-") ? { status: "error" } : {}),
    ...(Object.keys(rest).length > 0 ? { output: rest } : {}),
  };
}

const OUTPUT_TYPES: ReadonlySet<string> = new Set(["text", "json", "content", "error-text", "error-json"]);

/** Calls and results that neither a type nor a holder names: their ids do. */
export function tellTool(part: JsonObject): "call" | "result" | null {
  const isNamed = part["toolName"] !== undefined || part["tool_name"] !== undefined;
  const hasId = hasAny(part, TOOL_IDS);
  if (!hasId && !isNamed) return null;
  if ((isNamed || part["name"] !== undefined) && hasAny(part, ARGUMENTS)) return "call";
  return hasId && hasAny(part, [...RESULTS, "output", "content"]) ? "result" : null;
}

function hasAny(part: JsonObject, names: readonly string[]): boolean {
  return names.some((name) => part[name] !== undefined);
}

const STATE: ReadonlySet<string> = new Set(["state"]);
const INVOCATION: ReadonlySet<string> = new Set(["type", "toolInvocation"]);

/** Perhaps a part that `splitToolPart` splits. */
export function isTwoParts(part: Json): boolean {
  if (!isObject(part)) return false;
  if (part["state"] !== undefined || part["toolInvocation"] !== undefined || part["type"] === "step-start") return true;
  return isAnsweredCall(part);
}

const ANSWERED: ReadonlySet<Json | undefined> = new Set([...BUILT_IN, ...spellType("mcp_call")]);

/** The item of a built-in tool of OpenAI's Responses, with what it answered. */
export function isAnsweredCall(part: Json): boolean {
  if (!isObject(part)) return false;
  return ANSWERED.has(part["type"]) && BUILT_IN_RESULTS.some((name) => (part[name] ?? null) !== null);
}

function splitAnsweredCall(part: JsonObject): readonly Json[] {
  const used = new Set(BUILT_IN_RESULTS.filter((name) => part[name] === null));
  const name = BUILT_IN_RESULTS.find((one) => (part[one] ?? null) !== null) ?? "";
  used.add(name);
  const call = withRest({}, part, used);
  const id = take(part, new Set(), CALL_IDS);
  const answer = name === "error" ? { error: part[name] ?? null } : { output: readAnswer(part, part[name] ?? null) };
  return [call, { type: "tool_result", ...(id === null ? {} : { id }), ...answer }];
}

/** Only images are answers of base64. */
function readAnswer({ type, output_format: format }: JsonObject, answer: Json): Json {
  if (typeof type !== "string" || !IMAGE_CALLS.has(type) || typeof answer !== "string") return answer;
  return [{ type: "image", data: answer, mime_type: `image/${typeof format === "string" ? format : "png"}` }];
}

const IMAGE_CALLS: ReadonlySet<string> = new Set(spellType("image_generation_call"));

/**
 * A call with its result in one part, of the AI SDK's messages for user interfaces → both. Its mark of a step's start
 * says nothing.
 */
export function splitToolPart(part: Json): readonly Json[] {
  if (!isObject(part) || typeof part["type"] !== "string") return [part];
  if (part["type"] === "step-start" && Object.keys(part).length === 1) return [];
  if (isAnsweredCall(part)) return splitAnsweredCall(part);
  const inner = part["toolInvocation"];
  const whole = isObject(inner) ? withRest(inner, part, INVOCATION) : part;
  const { type: _type, state, toolCallId, toolName, input, args, output, result, errorText, ...rest } = whole;
  if (state === "done" && toolCallId === undefined) return [withRest({}, part, STATE)]; // a text that has ended
  if (typeof state !== "string" || toolCallId === undefined) return [part];
  const tool = { toolCallId, toolName: toolName ?? part["type"].replace(/^tool-/, "") };
  const call = { type: "tool-call", ...tool, input: input ?? args ?? {}, ...rest };
  const answer = output ?? result ?? errorText;
  if (answer === undefined) return [{ ...call, state }];
  const failed = errorText === undefined ? {} : { status: "error" };
  return [call, { type: "tool-result", ...tool, output: answer, ...failed }];
}

/** Joins the calls of one message: the same call, as a block and in a list, is one. */
export function joinCalls(list: readonly Json[], more: readonly Json[]): readonly Json[] {
  const out = [...list];
  for (const call of more) {
    const at = out.findIndex((one) => isSameCall(one, call));
    const known = out[at];
    if (at === -1) out.push(call);
    else if (isObject(known) && isObject(call)) out[at] = withRest(known, call, NONE);
  }
  return out;
}

function isSameCall(one: Json, other: Json): boolean {
  if (!isObject(one) || !isObject(other)) return one === other;
  if (one["id"] !== undefined && other["id"] !== undefined) return one["id"] === other["id"];
  return JSON.stringify(one["function"]) === JSON.stringify(other["function"]);
}

export function withoutEmpty(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: Json): boolean {
  if (value === null || value === "") return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}
