// Outputs of a run. The table reads top to bottom; the first source with a result wins.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import {
  attributes,
  conversation,
  firstOf,
  given,
  listWithin,
  found,
  messageOfLogEvent,
  ofOwnSdk,
  onlyFor,
  splitHistory,
  wrapped,
  type ContentSource,
  type Found,
  type Subject,
} from "./content.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { itemsOf, member, textMember } from "../attributes/indexed.ts";
import { mergedWith, notApplicable, toolPart } from "./inputs.ts";
import { sources, type Sources, union } from "../attributes/known-keys.ts";
import { MASTRA_TYPES } from "./mastra-types.ts";
import { callOf, flattenedMessage, messagesOf } from "./messages.ts";
import { isObject, jsonOf, jsonWithin, unwrapValue } from "../attributes/plain-values.ts";

const MESSAGES = sources("gen_ai.output.messages");
const DOCUMENTS = sources("gen_ai.retrieval.documents");
const VECTOR_DOCUMENTS = sources("db.vector.query.response.documents", "ai.ranking");
const MEMORY_RECORDS = sources("gen_ai.memory.records");
const OPERATION = sources("gen_ai.operation.name");
const VALUE = sources("output.value");
const GENKIT_OUTPUT = sources("genkit:output");
const LK_CALLS = sources("lk.pii.response.function_calls", "lk.response.function_calls");
const LK_TEXT = sources("lk.pii.response.text", "lk.response.text");
const FINAL_RESULT = sources("final_result");
const AI_TEXT = sources("ai.response.text", "ai.result.text");
const AI_CALLS = sources("ai.response.toolCalls", "ai.result.toolCalls");
const AI_OBJECT = sources("ai.response.object", "ai.result.object");
const AI_REASONING = sources("ai.response.reasoning", "ai.result.reasoning");
const AI_FILES = sources("ai.response.files");
const AI_EMBEDDING = sources("ai.embedding");
const AI_EMBEDDINGS = sources("ai.embeddings");
const ADK_RESPONSE = sources("gcp.vertex.agent.llm_response");
const ADK_TOOL_RESPONSE = sources("gcp.vertex.agent.tool_response");
const HISTORY = sources("pydantic_ai.all_messages");
const HISTORY_EVENTS = sources("all_messages_events");
const LOG_EVENTS = sources("events");

const TOOL_OUTPUTS: readonly ContentSource[] = [
  attributes(
    "output",
    "gen_ai.tool.call.result",
    "ai.toolCall.result",
    "ai.toolCall.output",
    "tool_response",
    "spring.ai.tool.call.result",
    "lk.pii.function_tool.output",
    "lk.function_tool.output",
  ),
  ({ facts }) => renamed(notApplicable(facts, ADK_TOOL_RESPONSE)),
  ({ talk }) => {
    const choice = talk.choices.at(-1); // Strands: the result is the choice
    if (choice === undefined) return null;
    const result = choice["tool_result"] ?? member(choice, "message", "content");
    return wrapped({ value: jsonWithin(result), source: null }, "output");
  },
  ({ talk }) => toolPart(talk.details.output, "tool_call_response", "response"),
  ({ talk }) => toolPart(talk.details.output, "tool_call_response", "result"),
  attributes("output", "gen_ai.tool.output", "flue.tool.result", "tool_output", "output.value", "mcp.response.value"),
];

const SOURCES: readonly ContentSource[] = [
  ofOwnSdk(attributes("output", "gen_ai.completion")),
  onlyFor("tool", TOOL_OUTPUTS),
  onlyFor("retriever", [documentsFound]),
  onlyFor("embedding", [vectorsFound]),
  given(MESSAGES, ({ facts }) => answer(jsonOf(facts.value(MESSAGES)))),
  ({ talk }) => answer(talk.details.output),
  ({ talk }) => choicesFound(talk.choices),
  ({ talk }) => (talk.completion === null ? null : wrapped(unwrapValue(talk.completion), "output")),
  ({ facts }) => flattened(facts, "completion"),
  ({ facts }) => flattened(facts, "outputMessages", VALUE),
  ({ facts }) => flattened(facts, "choices"),
  given(union(AI_TEXT, AI_CALLS, AI_OBJECT, AI_REASONING, AI_FILES), ({ facts }) => vercelAnswer(facts)),
  vectorsFound,
  given(ADK_RESPONSE, ({ facts }) => adkResponse(jsonOf(facts.value(ADK_RESPONSE)))),
  given(GENKIT_OUTPUT, ({ facts }) => genkitResponse(jsonOf(facts.value(GENKIT_OUTPUT)))),
  given(LK_CALLS, ({ facts }) => livekitAnswer(facts)),
  given(FINAL_RESULT, ({ facts }) => finalResult(facts)),
  given(union(HISTORY, HISTORY_EVENTS), ({ facts }) => historyAnswer(facts)),
  attributes("text", "output.value", "traceloop.entity.output", "gen_ai.completion"),
  attributes(
    "output",
    "output",
    "gen_ai.task.output",
    "response.model_output",
    "mlflow.spanOutputs",
    "genkit:output",
    "lk.pii.response.text",
    "lk.response.text",
    "lk.output_text",
    "flue.output",
    "langfuse.observation.output",
    "langfuse.trace.output",
    "haystack.component.output",
    "haystack.pipeline.output_data",
    "haystack.agent.output",
    "response_data",
    "crewai.crew.result",
    "gen_ai.workflow.output",
    "gen_ai.agent.finish.output",
    "gen_ai.agent.actual_output",
    "mcp.response.value",
    ...MASTRA_TYPES.map((type) => `mastra.${type}.output`),
  ),
  attributes("text", "all_messages_events"),
  given(LOG_EVENTS, ({ facts }) => logChoices(facts)),
  documentsFound,
];

export function outputsOf(subject: Subject): Found | null {
  return firstOf(SOURCES, subject);
}

function renamed(result: Found | null): Found | null {
  if (result === null || !("input" in result.value)) return result;
  const { input, ...rest } = result.value;
  return Object.keys(rest).length === 0 ? found({ output: input ?? null }) : result;
}

function answer(messages: Json): Found | null {
  return messages === null || messages === "" ? null : conversation(messagesOf(messages, "assistant"));
}

/** All choices, as the model's API returns them; a single simple choice is also a message. */
function choicesFound(choices: readonly JsonObject[]): Found | null {
  if (choices.length === 0) return null;
  const shaped = choices.map((choice) => {
    const [message] = messagesOf(choice["message"] ?? null, "assistant");
    return message === undefined ? choice : { ...choice, message };
  });
  const only = shaped.length === 1 ? shaped[0]?.["message"] : undefined;
  return found({ choices: shaped, ...(only === undefined ? {} : { messages: [only] }) });
}

function flattened(facts: Facts, family: "completion" | "outputMessages" | "choices", body?: Sources): Found | null {
  const entries = facts.family(family);
  if (entries.length === 0) return null;
  const messages = itemsOf(entries).map((item) => flattenedMessage(completion(item), "assistant"));
  return conversation(mergedWith(facts, body, messages, "assistant"));
}

/** Genkit's response: {message: {role: "model", content: parts}, finishReason, usage, …}. */
function genkitResponse(response: Json): Found | null {
  if (!isObject(response) || !isObject(response["message"])) return null;
  const { message, ...rest } = response;
  return found({ ...rest, messages: messagesOf(message, "assistant") });
}

function livekitAnswer(facts: Facts): Found | null {
  const calls = listWithin(facts, LK_CALLS).map((call) => callOf(jsonWithin(call)));
  if (calls.length === 0) return null;
  return conversation([{ role: "assistant", content: facts.text(LK_TEXT), tool_calls: calls }]);
}

/** The last message of the history accompanies the result, unless the text is the same. */
function finalResult(facts: Facts): Found | null {
  const value = facts.value(FINAL_RESULT);
  const result = value === undefined ? null : wrapped(unwrapValue(value), "output");
  const answer = result === null ? null : historyAnswer(facts);
  if (result === null || answer === null) return result;
  const [message, ...more] = answer.value["messages"] as readonly Json[];
  const same = more.length === 0 && member(message, "content") === result.value["output"];
  const name = result.value["messages"] === undefined ? "messages" : "answer";
  return same ? result : found({ ...result.value, [name]: answer.value["messages"] ?? [] });
}

/** OpenInference's completion choices: {completion: {text}}. */
function completion(item: Json): Json {
  const text = member(item, "completion", "text");
  return text === undefined ? item : { content: text };
}

/** Text, reasoning, files and calls are one message; a generated object is a separate member. */
function vercelAnswer(facts: Facts): Found | null {
  const object = facts.value(AI_OBJECT);
  const calls = listWithin(facts, AI_CALLS).map(callOf);
  const text = facts.text(AI_TEXT);
  const blocks: Json[] = [];
  const reasoning = facts.value(AI_REASONING);
  if (reasoning !== undefined) blocks.push({ type: "reasoning", reasoning: jsonOf(reasoning) });
  for (const file of listWithin(facts, AI_FILES)) blocks.push(fileBlock(file));
  if (text === "" && calls.length === 0 && blocks.length === 0)
    return object === undefined ? null : wrapped({ value: jsonOf(object), source: null }, "output");
  const content = blocks.length === 0 ? text : [...blocks, ...(text === "" ? [] : [{ type: "text", text }])];
  const message = { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  return found({ messages: [message], ...(object === undefined ? {} : { object: jsonOf(object) }) });
}

/** {type: "file", mediaType, data} → block. */
function fileBlock(file: Json): Json {
  const mime = textMember(file, "mediaType") || textMember(file, "mimeType");
  const data = textMember(file, "data") || textMember(file, "base64");
  if (!isObject(file) || mime === "" || data === "") return file;
  if (!mime.startsWith("image/")) return { ...file, type: "file" };
  const url = /^(?:https?|data):/.test(data) ? data : `data:${mime};base64,${data}`;
  return { type: "image_url", image_url: { url } };
}

/** Vectors become their number and length: the only values in summary form. */
function vectorsFound({ facts }: Subject): Found | null {
  const given = facts.value(AI_EMBEDDINGS);
  const one = facts.value(AI_EMBEDDING);
  const entries = facts.family("embeddings");
  if (given === undefined && one === undefined && entries.length === 0) return null;
  const flattened = itemsOf(entries).flatMap((item) => {
    const vector = member(item, "embedding", "vector");
    return vector === undefined ? [] : [jsonWithin(vector)];
  });
  const vectors = given !== undefined ? jsonOf(given) : one !== undefined ? [jsonOf(one)] : flattened;
  if (!Array.isArray(vectors) || vectors.length === 0) return null;
  const first = jsonWithin((vectors as readonly Json[])[0]);
  if (!Array.isArray(first)) return null;
  return found({ embeddings: { count: vectors.length, dimensions: first.length } });
}

function adkResponse(response: Json): Found | null {
  if (!isObject(response) || Object.keys(response).length === 0) return null;
  const { content, usage_metadata: _usage, ...rest } = response;
  return content === undefined ? found(response) : found({ messages: messagesOf(content, "assistant"), ...rest });
}

function historyAnswer(facts: Facts): Found | null {
  const mark = facts.mark();
  const all = facts.value(HISTORY);
  const list = jsonOf(all === undefined ? facts.value(HISTORY_EVENTS) : all);
  if (!Array.isArray(list)) {
    facts.release(mark);
    return null;
  }
  const messages = messagesOf((list as readonly Json[]).map(all === undefined ? messageOfLogEvent : (item) => item));
  return conversation(splitHistory(messages).answer);
}

function logChoices(facts: Facts): Found | null {
  const list = jsonOf(facts.value(LOG_EVENTS));
  if (!Array.isArray(list)) return null;
  const choices = (list as readonly Json[])
    .filter(isObject)
    .filter((item) => textMember(item, "event.name") === "gen_ai.choice");
  return choicesFound(
    choices.map(
      ({ "event.name": _name, "gen_ai.system": _system, "gen_ai.message.index": _index, ...choice }) => choice,
    ),
  );
}

function documentsFound({ facts, talk }: Subject): Found | null {
  const given = listWithin(facts, DOCUMENTS);
  if (given.length > 0) return found({ documents: given.map(documentOf) });
  const retrieved = listWithin(facts, VECTOR_DOCUMENTS);
  if (retrieved.length > 0) return found({ documents: retrieved.map((one) => documentOf(jsonWithin(one))) });
  const memories = facts.peek(OPERATION) === "search_memory" ? listWithin(facts, MEMORY_RECORDS) : [];
  if (memories.length > 0) return found({ documents: memories.map(documentOf) });
  for (const family of ["documents", "rerankOutput"] as const) {
    const items = itemsOf(facts.family(family));
    if (items.length > 0)
      return found({ documents: items.map((item) => documentOf(member(item, "document") ?? item)) });
  }
  return talk.documents.length === 0 ? null : found({ documents: talk.documents.map(queryResult).map(documentOf) });
}

/** OpenLLMetry's events: db.query.result.{id,score,distance,metadata,document}. */
function queryResult(item: Json): Json {
  if (!isObject(item)) return item;
  const named = Object.entries(item).map(([name, value]) => {
    const short = name.replace(/^db\.query\.result\./, "");
    return [short === "document" ? "content" : short, value] as const;
  });
  return Object.fromEntries(named);
}

function documentOf(item: Json): Json {
  if (!isObject(item))
    return { page_content: typeof item === "string" ? item : JSON.stringify(item), metadata: {}, type: "Document" };
  const { content, page_content: page, text, metadata, ...rest } = item;
  const own = jsonWithin(metadata);
  return {
    page_content: content ?? page ?? text ?? "",
    metadata: { ...rest, ...(isObject(own) ? own : own === null ? {} : { metadata: own }) },
    type: "Document",
  };
}
