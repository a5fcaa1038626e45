// Envelopes: requests, replies and states in which conversations stand, of every API and framework. The only table of
// them: a row that is added here works at every place where content may stand (forms.test.ts).
// Invariants:
//   - Messages come out in the target form; every member that no row reads stays beside them.
//   - An object without messages is a plain value.
//   - An object is tried as those envelopes only that one of its members opens: most content is none.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { spell } from "../attributes/spellings.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";
import { isCalls } from "./auto-gen.ts";
import { readPart } from "./block-forms.ts";
import { prependSystem } from "./conversation.ts";
import { joinChunks, readPairs } from "./written-lists.ts";
import { withRest } from "./members.ts";
import { isMessage, looksLikeMessages } from "./message-shapes.ts";
import { listMessages } from "./messages.ts";
import { isSaid, openReply } from "./open-message.ts";
import { toRole } from "./roles.ts";

export interface Conversation {
  readonly messages: readonly Json[];
  /** Members beside the messages. */
  readonly rest: JsonObject;
}

export interface Reading {
  /** Role of messages that name none. */
  readonly role: "user" | "assistant";
  /** The content of a model call: a text alone is a message. */
  readonly isCall: boolean;
}

interface Envelope {
  readonly name: string;
  /** It has one of these. */
  readonly members: readonly string[];
  /** null: it is another one. */
  readonly read: (value: JsonObject, as: Reading) => Conversation | null;
}

/** Members of a request with its system prompt. */
export const SYSTEM = spell("system", "system_prompt", "system_instruction", "system_instructions", "instructions");

const PROMPTS = ["prompt", ...spell("input_text"), "inputs"];
const TEXT_CALLS = spell("tool_calls");
const INVOKED = [
  "completion",
  "generation",
  "generated_text",
  "response",
  ...spell("output_text", "combined_chunk_content"),
];
const INVOKED_LISTS = ["results", "outputs"];
/** Beside a text or calls: they are a model's. */
const ENDS = spell("finish_reason");
const AROUND = ["inputs", "outputs", "input", "output", "request", "response", "body", "result", "value", "kwargs"];

export const ENVELOPES: readonly Envelope[] = [
  {
    name: "messages (OpenAI chat, Anthropic, Bedrock Converse and Invoke, Genkit, LangChain, AI SDK)",
    members: ["messages"],
    read: readMessages,
  },
  { name: "contents (Gemini, ADK)", members: ["contents"], read: readContents },
  { name: "input items and instructions (OpenAI Responses)", members: ["input"], read: readInput },
  { name: "prompt (AI SDK, Bedrock Invoke, Ollama, TGI)", members: PROMPTS, read: readPrompt },
  { name: "chat_history and message (Cohere)", members: ["chat_history", "preamble"], read: readHistory },
  { name: "items (LiveKit)", members: ["items"], read: (value) => readListUnder(value, "items", "user") },
  { name: "choices (OpenAI chat)", members: ["choices"], read: (value) => readReplies(value, "choices") },
  { name: "candidates (Gemini)", members: ["candidates"], read: (value) => readReplies(value, "candidates") },
  { name: "generations (LangChain)", members: ["generations"], read: (value) => readReplies(value, "generations") },
  { name: "replies (Haystack)", members: ["replies"], read: (value) => readListUnder(value, "replies", "assistant") },
  {
    name: "output items (OpenAI Responses), output.message (Bedrock Converse)",
    members: ["output"],
    read: readOutput,
  },
  {
    name: "a message (Anthropic, Cohere, Genkit, Ollama, Strands, Dify, ADK)",
    members: ["role", "message", "content", "kwargs", "event.name"],
    read: readSingle,
  },
  { name: "text, calls and files (AI SDK, Mastra)", members: [...TEXT_CALLS, "files"], read: readTextAndCalls },
  {
    name: "a text of Bedrock's Invoke (Llama, Titan, Mistral, Claude 2), Dify, Ollama, TGI, AutoGen, Logfire's streams",
    members: [...INVOKED_LISTS, ...INVOKED, ...ENDS],
    read: readInvoked,
  },
  {
    name: "inputs, outputs, request, response, body, value, kwargs around one of these",
    members: AROUND,
    read: readWithin,
  },
];

/** Member → one bit for each envelope that it opens. */
const OPENED: ReadonlyMap<string, number> = ENVELOPES.reduce((opened, { members }, at) => {
  for (const name of members) opened.set(name, (opened.get(name) ?? 0) | (1 << at));
  return opened;
}, new Map<string, number>());

/** Content in any form → messages; null: a plain value. */
export function readConversation(value: Json, as: Reading): Conversation | null {
  if (Array.isArray(value)) {
    const list = readTexts(innerList(value as readonly Json[]));
    if (looksLikeMessages(list)) return { messages: listMessages(list, as.role), rest: {} };
    return readAnswers(list, as) ?? readCutTexts(list, as);
  }
  if (!isObject(value)) return null;
  let opened = 0;
  for (const name of Object.keys(value)) opened |= OPENED.get(name) ?? 0;
  for (let at = 0; opened >> at !== 0; at++) {
    const conversation = ((opened >> at) & 1) === 1 ? (ENVELOPES[at]?.read(value, as) ?? null) : null;
    if (conversation !== null) return conversation;
  }
  return null;
}

/** The only list in a list of one: LangChain's batches. */
function innerList(value: readonly Json[]): readonly Json[] {
  const first = value[0];
  if (!Array.isArray(first)) return value;
  const pairs = readPairs(value);
  return pairs === null && value.length === 1 ? innerList(first as readonly Json[]) : (pairs ?? value);
}

const CHUNKS = ["candidates", "choices"];
const END: ReadonlySet<string> = new Set(["delta", "index"]);

/** The last chunks of a stream say nothing, but why it ends. */
function readEnd(chunk: JsonObject, name: string): Conversation | null {
  const choices = listIn(chunk, name) ?? [];
  const isEnd = choices.every(
    (one) => isObject(one) && isObject(one["delta"]) && Object.keys(one["delta"]).length === 0,
  );
  if (!isEnd) return null;
  const messages = (choices as readonly JsonObject[]).map((one) =>
    withRest({ role: "assistant", content: "" }, one, END),
  );
  return buildConversation(chunk, new Set([name]), messages);
}

/** Answers of a model that are no messages: texts of TGI and DSPy, the chunks of a stream of Gemini's or OpenAI's. */
function readAnswers(list: readonly Json[], { isCall, role }: Reading): Conversation | null {
  if (!isCall || role !== "assistant" || list.length === 0) return null;
  if (list.every(isAnswer)) return { messages: list.map((content) => ({ role, content })), rest: {} };
  if (!list.every(isObject)) return null;
  const name = CHUNKS.find((one) => list.every((chunk) => Array.isArray(chunk[one])));
  const chunks = name === undefined ? [] : list.flatMap((one) => readReplies(one, name) ?? readEnd(one, name) ?? []);
  if (chunks.length === list.length) {
    const rest = chunks.map((one) => one.rest).reduce((all, one) => ({ ...all, ...one }), {});
    return { messages: joinChunks(chunks.flatMap(({ messages }) => messages)), rest };
  }
  const texts = list.map((one) =>
    ["generated_text", "text"].some((text) => isAnswer(one[text] ?? null)) ? openInvoked(one) : null,
  );
  return texts.every((one) => one !== null) ? { messages: texts, rest: {} } : null;
}

/** No address, and no JSON that is cut off. */
function isAnswer(text: Json): text is string {
  return typeof text === "string" && !/^\s*(?:[[{]|https?:|data:|$)/.test(text);
}

/** A limit of the sender cuts each text of a list: the messages that are complete, and the others as text. */
function readCutTexts(list: readonly Json[], { role }: Reading): Conversation | null {
  const cut = list.filter((one): one is string => typeof one === "string" && /^\s*\{/.test(one));
  const whole = list.filter(isObject);
  if (cut.length === 0 || cut.length + whole.length < list.length || !looksLikeMessages(whole)) return null;
  return { messages: listMessages(whole, role), rest: { truncated: cut.join("\n") } };
}

/** Messages, each as JSON text: an attribute has no lists of objects. */
function readTexts(list: readonly Json[]): readonly Json[] {
  const isTexts = list.every((one) => typeof one === "string" && /^\s*\{/.test(one));
  return isTexts ? list.map(jsonWithin) : list;
}

function listIn(value: JsonObject, name: string): readonly Json[] | null {
  const given = value[name];
  const list = typeof given === "string" ? jsonWithin(given) : given;
  return Array.isArray(list) ? readTexts(innerList(list as readonly Json[])) : null;
}

function buildConversation(value: JsonObject, used: ReadonlySet<string>, messages: readonly Json[]): Conversation {
  return { messages, rest: withRest({}, value, used) };
}

/** With the system prompt beside the messages, if any. */
function withInstructions(value: JsonObject, used: Set<string>, messages: readonly Json[]): readonly Json[] {
  const name = SYSTEM.find((one) => isInstruction(value[one]));
  if (name === undefined) return messages;
  used.add(name);
  return prependSystem(messages, value[name] ?? null);
}

function isInstruction(value: Json | undefined): boolean {
  if (typeof value === "string") return value !== "";
  if (Array.isArray(value))
    return value.length > 0 && (value as readonly Json[]).every((one) => typeof one === "string" || isObject(one));
  return isObject(value) && (value["parts"] !== undefined || typeof value["text"] === "string" || isMessage(value));
}

function readMessages(value: JsonObject, { role }: Reading): Conversation | null {
  const list = listIn(value, "messages");
  if (!looksLikeMessages(list)) return null;
  const used = new Set(["messages"]);
  return buildConversation(value, used, withInstructions(value, used, listMessages(list, role)));
}

const CONFIG = spell("config", "generation_config");

function readContents(value: JsonObject, { role }: Reading): Conversation | null {
  const { contents } = value;
  if (contents === undefined || contents === null) return null;
  const given = (Array.isArray(contents) ? contents : [contents]) as readonly Json[];
  const list = given.length > 0 && given.every(isPlainPart) ? [{ role, parts: given }] : given;
  if (!looksLikeMessages(list)) return null;
  const used = new Set(["contents"]);
  const messages = withInstructions(value, used, listMessages(list, role));
  const name = CONFIG.find(
    (one) => isObject(value[one]) && SYSTEM.some((system) => isInstruction((value[one] as JsonObject)[system])),
  );
  if (name === undefined) return buildConversation(value, used, messages);
  const usedMembers = new Set<string>();
  const all = withInstructions(value[name] as JsonObject, usedMembers, messages);
  const config = withRest({}, value[name] as JsonObject, usedMembers);
  used.add(name);
  return {
    messages: all,
    rest: { ...withRest({}, value, used), ...(Object.keys(config).length > 0 ? { [name]: config } : {}) },
  };
}

/** Gemini's SDKs take the parts of a message without it. */
function isPlainPart(item: Json): boolean {
  if (typeof item === "string") return true;
  return isObject(item) && item["role"] === undefined && item["parts"] === undefined && readPart(item).form !== "";
}

const MODELS = spell("model", "model_id");

function readInput(value: JsonObject, as: Reading): Conversation | null {
  const { input } = value;
  const used = new Set(["input"]);
  if (typeof input === "string") {
    const isRequest =
      typeof value["instructions"] === "string" || (as.isCall && MODELS.some((one) => typeof value[one] === "string"));
    if (!isRequest || input === "") return null;
    return buildConversation(value, used, withInstructions(value, used, listMessages(input, as.role)));
  }
  const list = listIn(value, "input");
  if (!looksLikeMessages(list)) return null;
  return buildConversation(value, used, withInstructions(value, used, listMessages(list, as.role)));
}

const PROMPT_MEMBERS: ReadonlySet<string> = new Set(["prompt", "messages", ...SYSTEM]);

function readPrompt(value: JsonObject, as: Reading): Conversation | null {
  const name = PROMPTS.find((one) => value[one] !== undefined) ?? "";
  const given = value[name];
  const used = new Set([name]);
  const list = listIn(value, name);
  if (list !== null && looksLikeMessages(list))
    return buildConversation(value, used, withInstructions(value, used, listMessages(list, as.role)));
  const isAlone = Object.keys(value).every((one) => PROMPT_MEMBERS.has(one));
  if (typeof given !== "string" || given === "" || !(isAlone || as.isCall)) return null;
  const { images } = value; // Ollama
  if (!Array.isArray(images))
    return buildConversation(value, used, withInstructions(value, used, listMessages(given, as.role)));
  used.add("images");
  const asked = listMessages({ role: as.role, content: given, images });
  return buildConversation(value, used, withInstructions(value, used, asked));
}

const HISTORY: ReadonlySet<string> = new Set(["chat_history", "message", "preamble"]);
const SAID: ReadonlySet<string> = new Set(["role", "message"]);

/** {message, chat_history: [{role: "USER", message}], preamble}, of Cohere's first chat API. */
function readHistory(value: JsonObject, { role }: Reading): Conversation | null {
  const list = value["chat_history"] === undefined ? [] : listIn(value, "chat_history");
  const { message, preamble } = value;
  if (list === null || typeof message !== "string" || !list.every((one) => toRole(textMember(one, "role")) !== ""))
    return null;
  const before = (list as readonly JsonObject[]).map((one) =>
    withRest({ role: one["role"] ?? "", content: one["message"] ?? "" }, one, SAID),
  );
  const messages = listMessages([...before, { role, content: message }]);
  const whole = typeof preamble === "string" && preamble !== "" ? prependSystem(messages, preamble) : messages;
  return buildConversation(value, HISTORY, whole);
}

function readListUnder(value: JsonObject, name: string, role: Reading["role"]): Conversation | null {
  const list = listIn(value, name);
  return looksLikeMessages(list) ? buildConversation(value, new Set([name]), listMessages(list, role)) : null;
}

/** [{message | delta | content | text, finish_reason, …}] */
function readReplies(value: JsonObject, name: string): Conversation | null {
  const list = listIn(value, name);
  if (list === null || list.length === 0) return null;
  const messages = list.map(openReply);
  if (messages.some((one) => one === null)) return null;
  return buildConversation(value, new Set([name]), listMessages(messages, "assistant"));
}

function readOutput(value: JsonObject): Conversation | null {
  const { output } = value;
  const used = new Set(["output"]);
  if (isObject(output)) {
    const { message, ...beside } = output;
    if (!isObject(message) || !isMessage(message)) return null;
    return { messages: listMessages(message, "assistant"), rest: withRest(beside, value, used) };
  }
  if (!looksLikeMessages(output)) return null;
  const messages = listMessages(output, "assistant");
  const text = value["output_text"];
  if (typeof text === "string" && JSON.stringify(messages).includes(JSON.stringify(text).slice(1, -1)))
    used.add("output_text");
  return buildConversation(value, used, messages);
}

/** Members of a reply that is a message itself. */
const CONTENT: ReadonlySet<string> = new Set(["content"]);
const OF_REPLY = ["id", "model", "usage", ...spell("usage_metadata", "response_metadata")];
const OF_MESSAGE: ReadonlySet<string> = new Set(["role", "content", "parts", "text", "files"]);

function readSingle(value: JsonObject, { role }: Reading): Conversation | null {
  const { message, content } = value;
  if (typeof value["role"] !== "string" && isObject(message) && isMessage(message)) {
    const messages = listMessages(message, role);
    return buildConversation(withoutSaidRaw(value, messages), new Set(["message"]), messages);
  }
  if (typeof value["role"] === "string" && isMessage(value)) {
    const rest = Object.fromEntries(
      Object.entries(value).filter(([name]) => OF_REPLY.includes(name) && !OF_MESSAGE.has(name)),
    );
    return { messages: listMessages(withRest({}, value, new Set(Object.keys(rest))), role), rest };
  }
  if (value["kwargs"] !== undefined || value["event.name"] !== undefined)
    return isMessage(value) ? { messages: listMessages(value, role), rest: {} } : null;
  if (
    isObject(content) &&
    (Array.isArray(content["parts"]) || (typeof content["role"] === "string" && isMessage(content)))
  )
    return buildConversation(value, CONTENT, listMessages(content, role));
  return null;
}

/** LlamaIndex has the answer of the model's API beside the message. */
function withoutSaidRaw(value: JsonObject, [message]: readonly Json[]): JsonObject {
  const { raw, ...rest } = value;
  if (!isObject(raw) || !isObject(message) || !isSaid(raw["choices"], message)) return value;
  return { ...rest, raw: withRest({}, raw, new Set(["choices"])) };
}

function readTextAndCalls(value: JsonObject, as: Reading): Conversation | null {
  const name = TEXT_CALLS.find((one) => Array.isArray(value[one])) ?? "";
  const { files, text, role } = value;
  const isAnswer = as.role === "assistant" && Array.isArray(files) && typeof text === "string" && text !== "";
  if ((name === "" && !isAnswer) || role !== undefined || (text !== undefined && typeof text !== "string")) return null;
  const calls = listIn(value, name) ?? [];
  const used = new Set(["text", name, ...(Array.isArray(files) && files.length === 0 ? ["files"] : [])]);
  const said = { role: "assistant", content: text ?? "", ...takeThought(value, used) };
  return buildConversation(value, used, listMessages(calls.length > 0 ? { ...said, tool_calls: calls } : said));
}

function readInvoked(value: JsonObject, { isCall, role }: Reading): Conversation | null {
  if (!isCall || role !== "assistant") return null;
  const list = INVOKED_LISTS.find((one) => Array.isArray(value[one])) ?? "";
  const replies = (listIn(value, list) ?? []).map((one) => (isObject(one) ? openInvoked(one) : null));
  if (replies.length > 0 && replies.every((one) => one !== null))
    return buildConversation(value, new Set([list]), replies);
  const hasEnd = ENDS.some((one) => value[one] !== undefined);
  const names = hasEnd ? [...INVOKED, "text", "content"] : INVOKED;
  const calls = hasEnd && isCalls(value["content"]) ? value["content"] : null;
  const name = calls === null ? names.find((one) => typeof value[one] === "string") : "content";
  if (name === undefined) return null;
  const used = new Set([name]);
  const said = calls === null ? { content: value[name] ?? "" } : { content: "", tool_calls: calls };
  return buildConversation(value, used, listMessages({ role, ...said, ...takeThought(value, used) }));
}

const THOUGHTS = ["reasoning", ...spell("reasoning_text"), "thought"];

/** OpenRouter, the AI SDK and Mastra write the reasoning beside the text. */
function takeThought(value: JsonObject, used: Set<string>): JsonObject {
  const name = THOUGHTS.find((one) => typeof value[one] === "string" && value[one] !== "");
  if (name === undefined) return {};
  used.add(name);
  return { reasoning_content: value[name] ?? "" };
}

function openInvoked(reply: JsonObject): JsonObject | null {
  const name = [...INVOKED, "text"].find((one) => typeof reply[one] === "string");
  return name === undefined
    ? null
    : withRest({ role: "assistant", content: reply[name] ?? "" }, reply, new Set([name]));
}

function readWithin(value: JsonObject, as: Reading): Conversation | null {
  for (const name of AROUND) {
    const inner = jsonWithin(value[name]);
    if (!isObject(inner) && !Array.isArray(inner)) continue;
    const within = readConversation(inner, as);
    if (within !== null) return { messages: within.messages, rest: withRest(within.rest, value, new Set([name])) };
  }
  return null;
}
