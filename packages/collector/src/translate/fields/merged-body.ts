// Merged body: the request or response that another attribute has, beside flattened messages.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { member } from "../attributes/indexed.ts";
import { sources, type Sources } from "../attributes/known-keys.ts";
import { toJson } from "../attributes/plain-values.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { conversation, found, renameUsage, type Found } from "../messages/content.ts";
import type { Reading } from "../forms/envelopes.ts";
import { joinNeighbours } from "../forms/messages.ts";
import { mergeConversation } from "../forms/merge-messages.ts";

/** Adds the details that the body has. */
export function mergeBody(
  facts: Facts,
  body: Sources | undefined,
  messages: readonly Json[],
  as: Reading,
): Found | null {
  if (body === undefined || !facts.has(body)) return conversation(messages);
  const mark = facts.mark();
  const given = toJson(facts.value(body));
  const richer = mergeConversation(messages, given, as) ?? mergeConversation(joinNeighbours(messages), given, as);
  if (richer === null) facts.release(mark);
  if (richer === null) return conversation(messages);
  return found({
    ...(as.role === "user" ? withoutParameters(facts, richer.rest) : withoutEcho(facts, renameUsage(richer).rest)),
    messages: richer.messages,
  });
}

/** A response of OpenAI's without the instructions and the tools of its request. */
function withoutEcho(facts: Facts, response: JsonObject): JsonObject {
  if (response["object"] !== "response") return response;
  const { instructions, tools, ...rest } = response;
  const mark = facts.mark();
  const asked = facts.family("inputMessages").some(({ value }) => value === instructions);
  facts.release(mark);
  return {
    ...rest,
    ...(instructions === undefined || asked ? {} : { instructions }),
    ...(tools === undefined || facts.familySize("tools") > 0 ? {} : { tools }),
  };
}

const PARAMETERS = sources("llm.invocation_parameters");
const MODEL_NAME = sources("llm.model_name");

/** A request without the settings that the invocation parameters have anyway. */
export function withoutParameters(facts: Facts, request: JsonObject): JsonObject {
  if (Object.keys(request).length === 0) return request;
  const mark = facts.mark();
  const settings = toJson(facts.value(PARAMETERS));
  facts.release(mark);
  const tools = facts.familySize("tools") > 0;
  return Object.fromEntries(
    Object.entries(request).filter(([name, value]) => {
      if (name === "tools") return !tools;
      if (name === "model" && value === facts.peek(MODEL_NAME)) return false;
      return JSON.stringify(member(settings, name)) !== JSON.stringify(value);
    }),
  );
}
