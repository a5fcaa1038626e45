// Inputs of a run. The table reads top to bottom; the first source with a result wins.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import {
  attributes,
  conversation,
  findFirst,
  given,
  found,
  ofOwnSdk,
  onlyFor,
  readContent,
  readMessages,
  readParsedMessages,
  splitEvents,
  splitHistory,
  splitTurn,
  type ContentSource,
  type Found,
  type Subject,
} from "../messages/content.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { joinItems, member } from "../attributes/indexed.ts";
import { sources, type Sources, union } from "../attributes/known-keys.ts";
import { MASTRA_TYPES } from "../messages/mastra-types.ts";
import { flattenedMessages } from "../messages/flattened.ts";
import { listMessages } from "../forms/messages.ts";
import { findQuery, recordsToWrite } from "./retrieval.ts";
import { notApplicable, TOOL_INPUTS } from "./tool-content.ts";
import { markUsed } from "../messages/unused-events.ts";
import { isObject, toJson, jsonWithin, unwrapValue } from "../attributes/plain-values.ts";
import { prependSystem } from "../forms/conversation.ts";
import { mergeBody, withoutParameters } from "./merged-body.ts";
import { readRawBody } from "./raw-body.ts";

const SYSTEM = sources(
  "gen_ai.system_instructions",
  "gen_ai.agent.system_prompt",
  "system_prompt",
  "lk.pii.instructions",
  "lk.instructions",
);
const MESSAGES = sources("gen_ai.input.messages");
const SENTRY_MESSAGES = sources("gen_ai.request.messages");
const TEMPLATE = sources("llm.prompt_template.template");
const VARIABLES = sources("llm.prompt_template.variables");
const VALUE = sources("input.value");
const EMBEDDED = sources("ai.values", "gen_ai.embeddings.input", "inputs");
const EMBEDDED_ONE = sources("ai.value");
const AI_VALUES = sources("ai.values");
const ADK_DATA = sources("gcp.vertex.agent.data");
const HISTORY = sources("pydantic_ai.all_messages");
const HISTORY_EVENTS = sources("all_messages_events");
const LOG_EVENTS = sources("events");
const RAW_INPUT = sources("raw_input");
const REQUEST_DATA = sources("request_data", "raw_input");

const SOURCES: readonly ContentSource[] = [
  ofOwnSdk(attributes("input", "gen_ai.prompt")),
  ({ type, facts }) => (type === "prompt" ? promptVariables(facts) : null),
  onlyFor("tool", TOOL_INPUTS),
  onlyFor("retriever", [findQuery]),
  onlyFor("embedding", [embeddedText]),
  withInstructions(given(MESSAGES, ({ facts, type }) => readMessages(facts.value(MESSAGES), "input", type))),
  ({ eventContent, type }) => {
    if (eventContent.details.input === null) return null;
    const read = readParsedMessages({ value: eventContent.details.input, source: null }, "input", type);
    return markUsed(eventContent, withSystem(read, eventContent.details.system), "input", "system");
  },
  withInstructions((subject) =>
    markUsed(subject.eventContent, conversation(listMessages(splitTurn(subject).asked)), "messages"),
  ),
  ({ eventContent, type }) =>
    eventContent.prompt === null
      ? null
      : markUsed(eventContent, readContent(unwrapValue(eventContent.prompt), "input", type), "prompt"),
  withInstructions(
    given(SENTRY_MESSAGES, ({ facts, type }) => readMessages(facts.value(SENTRY_MESSAGES), "input", type)),
  ),
  (subject) => flattened(subject, "prompt"),
  (subject) => flattened(subject, "inputMessages", VALUE),
  ({ facts }) => flattenedPrompts(facts),
  given(AI_VALUES, ({ facts }) => aiValues(facts)),
  attributes("input", "ai.prompt.messages", "ai.prompt", "gcp.vertex.agent.llm_request"),
  given(ADK_DATA, ({ facts, type }) => notApplicable(facts, ADK_DATA, "input", type)),
  given(union(HISTORY, HISTORY_EVENTS), ({ facts }) => history(facts)),
  withInstructions(({ facts }) => logEvents(facts)),
  withInstructions(given(RAW_INPUT, ({ facts, type }) => readMessages(facts.value(RAW_INPUT), "input", type))),
  withInstructions(
    attributes(
      "input",
      "input.value",
      "traceloop.entity.input",
      "gen_ai.prompt",
      "gen_ai.content.prompt",
      "prompt",
      "input",
      "gen_ai.task.input",
      "user_prompt",
      "new_context",
      "mlflow.spanInputs",
      "genkit:input",
      "lk.pii.chat_ctx",
      "lk.pii.user_input",
      "lk.pii.input_text",
      "lk.pii.user_transcript",
      "lk.input_text",
      "lk.user_transcript",
      "lk.chat_ctx",
      "lk.user_input",
      "flue.input",
      "langfuse.observation.input",
      "langfuse.trace.input",
      "tool_input",
      "haystack.component.input",
      "haystack.agent.step.llm.input",
      "haystack.agent.step.tool.input",
      "haystack.pipeline.input_data",
      "haystack.agent.input",
      "request_data",
      "gen_ai.workflow.input",
      "gen_ai.agent.human_input",
      "mcp.request.argument",
      "ai.value",
      "ai.values",
      "gen_ai.memory.query.text",
      "db.vector.query.content",
      "gen_ai.embeddings.input",
      "input-json",
      "braintrust.input_json",
      "agentops.entity.input",
      "lmnr.span.input",
      "langwatch.input",
      "crewai.task.description",
      "formatted_description",
      "koog.node.input",
      "koog.subgraph.input",
      "koog.planner.plan.input",
      "koog.planner.state.input",
      "mastra.*.input",
      ...MASTRA_TYPES.map((type) => `mastra.${type}.input`),
    ),
  ),
  recordsToWrite,
  ({ facts }) => readRawBody(facts, "input"),
  ({ facts, eventContent }) =>
    facts.has(SYSTEM)
      ? conversation(prependSystem([], toJson(facts.value(SYSTEM))))
      : markUsed(eventContent, conversation(prependSystem([], eventContent.details.system)), "system"),
];

export function findInputs(subject: Subject): Found | null {
  return findFirst(SOURCES, subject);
}

/** The instructions of an agent, beside an input that is no conversation in the conventions' form. */
function withInstructions(source: ContentSource): ContentSource {
  const read = (subject: Subject): Found | null => besideSystem(subject.facts, source(subject));
  return source.when === undefined ? read : given(source.when, read);
}

function besideSystem(facts: Facts, content: Found | null): Found | null {
  if (content === null || !facts.has(SYSTEM)) return content;
  return withSystem(content, toJson(facts.value(SYSTEM)));
}

function withSystem(content: Found | null, system: Json): Found | null {
  if (content === null || system === null || system === "") return content;
  const { messages, input, ...rest } = content.value;
  const isText = typeof input === "string" && Object.keys(content.value).length === 1;
  const list = Array.isArray(messages)
    ? (messages as readonly Json[])
    : isText
      ? [{ role: "user", content: input }]
      : null;
  if (list === null)
    return found("system" in content.value ? { instructions: system, ...content.value } : { system, ...content.value });
  const whole = prependSystem(list, system);
  return found({ ...(input === undefined || isText ? {} : { input }), ...rest, messages: whole });
}

function embeddedText(subject: Subject): Found | null {
  const { facts } = subject;
  if (facts.has(MESSAGES)) return null; // read further down, as of any other call
  const texts = joinItems(facts.family("embeddings")).flatMap((one) => embeddedItem(one));
  if (texts.length > 0) return found({ input: texts.length === 1 ? (texts[0] ?? "") : texts });
  const values = toJson(facts.value(EMBEDDED));
  if (Array.isArray(values)) return found({ input: (values as readonly Json[]).map(jsonWithin) }); // items are JSON text
  if (typeof values === "string" && values !== "") return found({ input: values });
  const one = facts.value(EMBEDDED_ONE) ?? facts.value(VALUE);
  if (one !== undefined) return readContent({ value: toJson(one), source: null }, "input", "embedding");
  const mark = facts.mark();
  const items = joinItems(facts.family("prompt"));
  const prompts = items.flatMap((item) => member(item, "content") ?? []);
  if (prompts.length === 0 || !items.every(isOnlyText)) facts.release(mark); // then the leftovers have them whole
  return prompts.length === 0 ? null : found({ input: prompts.length === 1 ? (prompts[0] ?? "") : prompts });
}

/** Each value is JSON text. */
function aiValues(facts: Facts): Found | null {
  const values = toJson(facts.value(AI_VALUES));
  return Array.isArray(values) ? found({ input: (values as readonly Json[]).map(jsonWithin) }) : null;
}

function isOnlyText(item: Json): boolean {
  return isObject(item) && Object.keys(item).every((name) => name === "content" || item[name] === "user");
}

/** The text of {[name]: {text}}; everything else as it is. */
function onlyText(item: Json, name: string): Json {
  const inner = member(item, name);
  const isOnly = isObject(item) && Object.keys(item).length === 1 && isObject(inner) && Object.keys(inner).length === 1;
  return isOnly ? (member(inner, "text") ?? item) : item;
}

/** Without its vector, which the outputs have. */
function embeddedItem(item: Json): readonly Json[] {
  const inner = member(item, "embedding");
  if (!isObject(item) || !isObject(inner)) return [item];
  const { vector: _vector, ...embedding } = inner;
  if (Object.keys(embedding).length > 0) return [onlyText({ ...item, embedding }, "embedding")];
  const { embedding: _embedding, ...rest } = item;
  return Object.keys(rest).length > 0 ? [rest] : [];
}

function flattened({ facts, type }: Subject, family: "prompt" | "inputMessages", body?: Sources): Found | null {
  const entries = facts.family(family);
  if (entries.length === 0) return null;
  const messages = joinItems(entries).flatMap((item) => flattenedMessages(item, "user"));
  return mergeBody(facts, body, messages, { role: "user", isCall: type === "llm" });
}

function flattenedPrompts(facts: Facts): Found | null {
  const prompts = joinItems(facts.family("prompts")).map((item) => onlyText(item, "prompt"));
  if (prompts.length > 0) {
    const rest = restOfBody(facts, prompts);
    return found(prompts.length === 1 ? { prompt: prompts[0] ?? "", ...rest } : { prompts, ...rest });
  }
  const template = facts.text(TEMPLATE);
  if (template === "") return null;
  const variables = facts.value(VARIABLES);
  return found({ prompt: template, ...(variables === undefined ? {} : { variables: toJson(variables) }) });
}

/** What the request has beside the same prompts. */
function restOfBody(facts: Facts, prompts: readonly Json[]): JsonObject {
  const mark = facts.mark();
  const body = facts.has(VALUE) ? toJson(facts.value(VALUE)) : null;
  const { prompt, ...rest } = isObject(body) ? body : {};
  const said = Array.isArray(prompt) ? prompt : [prompt];
  if (prompt !== undefined && JSON.stringify(said) === JSON.stringify(prompts)) return withoutParameters(facts, rest);
  facts.release(mark);
  return {};
}

/** The variable that received the input names it. */
function promptVariables(facts: Facts): Found | null {
  const value = facts.value(VALUE);
  if (value === undefined) return null;
  const given = toJson(value);
  if (isObject(given)) return found(given);
  const variables = toJson(facts.value(VARIABLES));
  if (!isObject(variables)) return null;
  const name = Object.keys(variables).find((key) => variables[key] === given);
  return name === undefined ? null : found(Object.fromEntries([[name, given]]));
}

function history(facts: Facts): Found | null {
  const all = facts.value(HISTORY);
  const list = toJson(all === undefined ? facts.value(HISTORY_EVENTS) : all);
  if (!Array.isArray(list)) return null;
  return withSystem(conversation(splitHistory(listMessages(list)).before), toJson(facts.value(SYSTEM)));
}

function logEvents(facts: Facts): Found | null {
  const list = toJson(facts.value(LOG_EVENTS));
  if (!Array.isArray(list)) return null;
  const prompts = splitEvents(list as readonly Json[]).asked;
  return mergeBody(facts, REQUEST_DATA, listMessages(prompts), { role: "user", isCall: true });
}
