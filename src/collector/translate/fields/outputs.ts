// Outputs of a run. The table reads top to bottom; the first source with a result wins.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import {
  attributes,
  conversation,
  firstOf,
  given,
  found,
  messageOfLogEvent,
  ofOwnSdk,
  onlyFor,
  splitHistory,
  wrapped,
  type ContentSource,
  type Found,
  type Subject,
} from "../messages/content.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { itemsOf, member, textMember } from "../attributes/indexed.ts";
import { mergedWith } from "../messages/conversation.ts";
import { sources, type Sources, union } from "../attributes/known-keys.ts";
import { MASTRA_TYPES } from "../messages/mastra-types.ts";
import { flattenedMessage } from "../messages/flattened.ts";
import { messagesOf } from "../messages/messages.ts";
import { TOOL_OUTPUTS } from "./tool-content.ts";
import { withRest } from "../messages/members.ts";
import { taken } from "../messages/unheard-events.ts";
import { isObject, jsonOf, jsonWithin, unwrapValue } from "../attributes/plain-values.ts";
import {
  GENKIT_OUTPUT,
  LK_CALLS,
  MASTRA_ANSWER,
  SENTRY_ANSWER,
  AI_TEXT,
  AI_CALLS,
  AI_OBJECT,
  AI_REASONING,
  AI_FILES,
  ADK_RESPONSE,
  genkitResponse,
  livekitAnswer,
  mastraAnswer,
  sentryAnswer,
  vercelAnswer,
  adkResponse,
} from "./framework-outputs.ts";
import { HAYSTACK_OUTPUT } from "../attributes/usage-keys.ts";
import { haystackAnswer } from "../messages/haystack.ts";
import { documentsFound } from "./retrieval.ts";

const MESSAGES = sources("gen_ai.output.messages");
const VALUE = sources("output.value");
const FINAL_RESULT = sources("final_result");
const AI_EMBEDDING = sources("ai.embedding");
const AI_EMBEDDINGS = sources("ai.embeddings");
const HISTORY = sources("pydantic_ai.all_messages");
const HISTORY_EVENTS = sources("all_messages_events");
const LOG_EVENTS = sources("events");

const SOURCES: readonly ContentSource[] = [
  ofOwnSdk(attributes("output", "gen_ai.completion")),
  onlyFor("tool", TOOL_OUTPUTS),
  onlyFor("retriever", [documentsFound]),
  onlyFor("embedding", [vectorsFound]),
  given(MESSAGES, ({ facts }) => answer(jsonOf(facts.value(MESSAGES)))),
  ({ talk }) => taken(talk, answer(talk.details.output), "output"),
  ({ talk }) => taken(talk, choicesFound(talk.choices), "choices"),
  ({ talk }) =>
    talk.completion === null ? null : taken(talk, wrapped(unwrapValue(talk.completion), "output"), "completion"),
  given(SENTRY_ANSWER, ({ facts }) => sentryAnswer(facts)),
  ({ facts }) => flattened(facts, "completion"),
  ({ facts }) => flattened(facts, "outputMessages", VALUE),
  ({ facts }) => flattened(facts, "choices"),
  given(union(AI_TEXT, AI_CALLS, AI_OBJECT, AI_REASONING, AI_FILES), ({ facts }) => vercelAnswer(facts)),
  vectorsFound,
  given(ADK_RESPONSE, ({ facts }) => adkResponse(jsonOf(facts.value(ADK_RESPONSE)))),
  given(GENKIT_OUTPUT, ({ facts }) => genkitResponse(jsonOf(facts.value(GENKIT_OUTPUT)))),
  given(MASTRA_ANSWER, ({ facts }) => mastraAnswer(jsonOf(facts.value(MASTRA_ANSWER)))),
  given(HAYSTACK_OUTPUT, ({ facts }) => {
    const answer = haystackAnswer(jsonOf(facts.value(HAYSTACK_OUTPUT)));
    return answer === null ? null : found(answer);
  }),
  given(LK_CALLS, ({ facts }) => livekitAnswer(facts)),
  given(FINAL_RESULT, ({ facts }) => finalResult(facts)),
  given(union(HISTORY, HISTORY_EVENTS), ({ facts }) => historyAnswer(facts)),
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
    "crewai.crew.result",
    "gen_ai.workflow.output",
    "gen_ai.agent.finish.output",
    "gen_ai.agent.actual_output",
    "mcp.response.value",
    "output-json",
    "braintrust.output_json",
    "agentops.entity.output",
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
  given(LOG_EVENTS, ({ facts }) => logChoices(facts)),
  documentsFound,
];

export function outputsOf(subject: Subject): Found | null {
  return firstOf(SOURCES, subject);
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
  return mergedWith(facts, body, messages, "assistant");
}

/** The last message of the history accompanies the result, unless the text is the same. */
function finalResult(facts: Facts): Found | null {
  const value = facts.value(FINAL_RESULT);
  const result = value === undefined ? null : wrapped(unwrapValue(value), "output");
  const answer = result === null ? null : historyAnswer(facts);
  if (result === null || answer === null) return result;
  const [message, ...more] = answer.value["messages"] as readonly Json[];
  const isPlain = Object.keys(message as JsonObject).every((name) => name === "role" || name === "content");
  const same = more.length === 0 && isPlain && member(message, "content") === result.value["output"];
  const name = result.value["messages"] === undefined ? "messages" : "answer";
  return same ? result : found({ ...result.value, [name]: answer.value["messages"] ?? [] });
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
