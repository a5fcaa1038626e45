// Answer parts: senders that write text, reasoning, files, calls and a generated object of an answer as attributes of
// their own. One message, and the object beside it.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { sources, type Sources, union } from "../attributes/known-keys.ts";
import { isObject, toJson } from "../attributes/plain-values.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { found, given, listWithin, readContent, type ContentSource, type Found } from "../messages/content.ts";
import { withRest } from "../forms/members.ts";
import { listMessages } from "../forms/messages.ts";
import type { RunType } from "../../shared/trace-run.ts";

const NONE: ReadonlySet<string> = new Set();

interface AnswerParts {
  readonly text: Sources;
  readonly calls: Sources;
  readonly reasoning?: Sources;
  readonly files?: Sources;
  readonly object?: Sources;
  /** The text alone is a plain value, which another rule reads. */
  readonly needsCalls?: boolean;
}

const SENTRY: AnswerParts = {
  text: sources("gen_ai.response.text"),
  calls: sources("gen_ai.response.tool_calls"),
  object: sources("gen_ai.response.object"),
};
const AI_SDK: AnswerParts = {
  text: sources("ai.response.text", "ai.result.text"),
  calls: sources("ai.response.toolCalls", "ai.result.toolCalls"),
  reasoning: sources("ai.response.reasoning", "ai.result.reasoning"),
  files: sources("ai.response.files"),
  object: sources("ai.response.object", "ai.result.object"),
};
const LIVEKIT: AnswerParts = {
  text: sources("lk.pii.response.text", "lk.response.text"),
  calls: sources("lk.pii.response.function_calls", "lk.response.function_calls"),
  needsCalls: true,
};

export const ANSWERS: readonly ContentSource[] = [SENTRY, AI_SDK, LIVEKIT].map((parts) =>
  given(
    parts.needsCalls === true
      ? parts.calls
      : union(
          ...[parts.text, parts.calls, parts.reasoning, parts.files, parts.object].filter((one) => one !== undefined),
        ),
    ({ facts, type }) => readAnswer(facts, parts, type),
  ),
);

function readAnswer(facts: Facts, parts: AnswerParts, type: RunType): Found | null {
  const calls = listWithin(facts, parts.calls);
  if (calls.length === 0 && parts.needsCalls === true) return null;
  const blocks: Json[] = [];
  const reasoning = parts.reasoning === undefined ? undefined : facts.value(parts.reasoning);
  if (reasoning !== undefined) blocks.push({ type: "reasoning", reasoning: toJson(reasoning) });
  if (parts.files !== undefined) blocks.push(...listWithin(facts, parts.files));
  const texts = readTexts(facts, parts.text);
  const object = parts.object === undefined ? undefined : facts.value(parts.object);
  if (texts.length === 0 && calls.length === 0 && blocks.length === 0)
    return object === undefined ? null : readContent({ value: toJson(object), source: null }, "output", type);
  const before = listMessages(texts.slice(0, -1), "assistant");
  const last = texts.at(-1);
  const isMessage = isObject(last) && last["role"] !== undefined;
  const answer: JsonObject = {
    role: "assistant",
    ...(isMessage
      ? last
      : blocks.length === 0
        ? { content: last ?? "" }
        : { content: last === undefined ? blocks : [...blocks, { type: "text", text: last }] }),
  };
  const whole = calls.length > 0 ? withRest({ ...answer, tool_calls: calls }, answer, NONE) : answer;
  return found({
    messages: [...before, ...listMessages(whole, "assistant")],
    ...(object === undefined ? {} : { object: toJson(object) }),
  });
}

/** Also a list of them, as JSON. */
function readTexts(facts: Facts, from: Sources): readonly Json[] {
  const given = facts.value(from);
  const read = typeof given === "string" && !given.startsWith("[") ? given : toJson(given);
  if (Array.isArray(read)) return read as readonly Json[];
  return read === null || read === "" ? [] : [read];
}
