// Outputs of a run. The table reads top to bottom; the first source with a result wins.
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
import { openReply } from "../forms/open-message.ts";
import { TOOL_OUTPUTS } from "./tool-content.ts";
import { withRest } from "../forms/members.ts";
import { markUsed } from "../messages/unused-events.ts";
import { isObject, toJson, jsonWithin, unwrapValue } from "../attributes/plain-values.ts";
import { ANSWERS } from "./answer-parts.ts";
import { mergeBody } from "./merged-body.ts";
import { readRawBody } from "./raw-body.ts";
import { countVectors } from "../forms/vectors.ts";
import { documentsFound } from "./retrieval.ts";
import type { RunType } from "../../shared/trace-run.ts";

const MESSAGES = sources("gen_ai.output.messages");
const VALUE = sources("output.value");
const FINAL_RESULT = sources("final_result");
const AI_EMBEDDING = sources("ai.embedding");
const AI_EMBEDDINGS = sources("ai.embeddings");
const HISTORY = sources("pydantic_ai.all_messages");
const HISTORY_EVENTS = sources("all_messages_events");
const LOG_EVENTS = sources("events");
const RESPONSE_DATA = sources("response_data", "response");

const SOURCES: readonly ContentSource[] = [
  ofOwnSdk(attributes("output", "gen_ai.completion")),
  onlyFor("tool", TOOL_OUTPUTS),
  onlyFor("retriever", [documentsFound]),
  onlyFor("embedding", [vectorsFound]),
  given(MESSAGES, ({ facts, type }) => readMessages(facts.value(MESSAGES), "output", type)),
  ({ eventContent, type }) =>
    markUsed(
      eventContent,
      readParsedMessages({ value: eventContent.details.output, source: null }, "output", type),
      "output",
    ),
  ({ eventContent }) => markUsed(eventContent, readChoices(eventContent.choices), "choices"),
  ({ eventContent, type }) =>
    eventContent.completion === null
      ? null
      : markUsed(eventContent, readContent(unwrapValue(eventContent.completion), "output", type), "completion"),
  (subject) => markUsed(subject.eventContent, conversation(listMessages(splitTurn(subject).said)), "messages"),
  (subject) => flattened(subject, "completion"),
  (subject) => flattened(subject, "outputMessages", VALUE),
  (subject) => flattened(subject, "choices", VALUE),
  ...ANSWERS,
  vectorsFound,
  attributes("output", "gcp.vertex.agent.llm_response"),
  given(FINAL_RESULT, ({ facts, type }) => finalResult(facts, type)),
  given(union(HISTORY, HISTORY_EVENTS), ({ facts }) => historyAnswer(facts)),
  given(LOG_EVENTS, ({ facts }) => logChoices(facts)),
  attributes("text", "output.value", "traceloop.entity.output", "gen_ai.completion", "gen_ai.content.completion"),
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
    "haystack.agent.step.llm.output",
    "haystack.agent.step.tool.output",
    "haystack.pipeline.output_data",
    "haystack.agent.output",
    "response_data",
    "response",
    "crewai.crew.result",
    "gen_ai.workflow.output",
    "gen_ai.agent.finish.output",
    "gen_ai.agent.actual_output",
    "mcp.response.value",
    "output-json",
    "braintrust.output_json",
    "agentops.entity.output",
    "lmnr.span.output",
    "langwatch.output",
    "crewai.task.output",
    "crewai.task.result",
    "task_output",
    "koog.node.output",
    "koog.subgraph.output",
    "koog.planner.plan.output",
    "koog.planner.state.output",
    "gen_ai.response.image",
    "mastra.*.output",
    ...MASTRA_TYPES.map((type) => `mastra.${type}.output`),
  ),
  attributes("text", "all_messages_events"),
  documentsFound,
  ({ facts }) => readRawBody(facts, "output"),
];

export function findOutputs(subject: Subject): Found | null {
  const content = findFirst(SOURCES, subject);
  const counted = content === null || subject.type !== "embedding" ? null : countVectors(content.value);
  return counted === null ? content : found(counted);
}

/** All choices of the answer, and what the tools said to them. */
function readChoices(choices: readonly JsonObject[]): Found | null {
  return conversation(
    choices.flatMap(({ tool_result: result, ...choice }) => {
      const message = openReply(choice) ?? choice;
      const answer = listMessages(message, "assistant");
      return result === undefined ? answer : [...answer, ...listMessages(result, "tool")];
    }),
  );
}

function flattened(
  { facts, type }: Subject,
  family: "completion" | "outputMessages" | "choices",
  body?: Sources,
): Found | null {
  const entries = facts.family(family);
  if (entries.length === 0) return null;
  const messages = joinItems(entries).flatMap((item) => flattenedMessages(completion(item), "assistant"));
  return mergeBody(facts, body, messages, { role: "assistant", isCall: type === "llm" });
}

/** The last message of the history accompanies the result. With the same text, only the one that says more stays. */
function finalResult(facts: Facts, type: RunType): Found | null {
  const value = facts.value(FINAL_RESULT);
  const result = value === undefined ? null : readContent(unwrapValue(value), "output", type);
  const answer = result === null ? null : historyAnswer(facts);
  if (result === null || answer === null) return result;
  const [message, ...more] = answer.value["messages"] as readonly Json[];
  if (more.length === 0 && member(message, "content") === result.value["output"]) {
    const isPlain = Object.keys(message as JsonObject).every((name) => name === "role" || name === "content");
    return isPlain ? result : answer;
  }
  const name = result.value["messages"] === undefined ? "messages" : "answer";
  return found({ ...result.value, [name]: answer.value["messages"] ?? [] });
}

/** OpenInference's completion choices: {completion: {text}}. */
function completion(item: Json): Json {
  const text = member(item, "completion", "text");
  if (text === undefined) return item;
  const { completion: whole, ...beside } = item as JsonObject;
  return withRest(withRest({ content: text }, whole as JsonObject, COMPLETION_TEXT), beside, NONE);
}

const COMPLETION_TEXT: ReadonlySet<string> = new Set(["text"]);
const NONE: ReadonlySet<string> = new Set();

/** Vectors become their number and length: the only values in summary form. */
function vectorsFound({ facts }: Subject): Found | null {
  const given = facts.value(AI_EMBEDDINGS);
  const one = facts.value(AI_EMBEDDING);
  const entries = facts.family("embeddings");
  if (given === undefined && one === undefined && entries.length === 0) return null;
  const flattened = joinItems(entries).flatMap((item) => {
    const vector = member(item, "embedding", "vector");
    return vector === undefined ? [] : [jsonWithin(vector)];
  });
  const vectors = given !== undefined ? toJson(given) : one !== undefined ? [toJson(one)] : flattened;
  if (!Array.isArray(vectors) || vectors.length === 0) return null;
  const first = jsonWithin((vectors as readonly Json[])[0]);
  if (!Array.isArray(first)) return null;
  return countedAnswer(facts) ?? found({ embeddings: { count: vectors.length, dimensions: first.length } });
}

/** The answer of the API beside flattened vectors: it has the same ones, and the usage. */
function countedAnswer(facts: Facts): Found | null {
  if (!facts.has(VALUE)) return null;
  const mark = facts.mark();
  const answer = toJson(facts.value(VALUE));
  const counted = isObject(answer) ? countVectors(answer) : null;
  if (counted !== null) return found(counted);
  facts.release(mark);
  return null;
}

function historyAnswer(facts: Facts): Found | null {
  const mark = facts.mark();
  const all = facts.value(HISTORY);
  const list = toJson(all === undefined ? facts.value(HISTORY_EVENTS) : all);
  if (!Array.isArray(list)) {
    facts.release(mark);
    return null;
  }
  return conversation(splitHistory(listMessages(list)).answer);
}

function logChoices(facts: Facts): Found | null {
  const list = toJson(facts.value(LOG_EVENTS));
  if (!Array.isArray(list)) return null;
  const choices = splitEvents(list as readonly Json[]).said;
  return mergeBody(facts, RESPONSE_DATA, listMessages(choices, "assistant"), { role: "assistant", isCall: true });
}
