// Haystack: answers of its generators, which carry model, tokens and finish reason as the meta of each reply.
import { member, textMember } from "../attributes/indexed.ts";
import { isObject, jsonOf } from "../attributes/plain-values.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { HAYSTACK_OUTPUT } from "../attributes/usage-keys.ts";
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { withRest } from "./members.ts";
import { callOf, contentOf, partOf } from "./message-parts.ts";

/** {replies: [{role, content: [{text} | {tool_call}], meta}]}, or {replies: ["text"], meta: [{…}]} of a text generator. */
export function haystackAnswer(output: Json): JsonObject | null {
  const replies = repliesOf(output);
  if (!isObject(output) || replies.length === 0 || !replies.every((one) => typeof member(one, "role") === "string"))
    return null;
  return withRest({ messages: haystackMessages(replies) }, output, REPLIES);
}

const REPLIES: ReadonlySet<string> = new Set(["replies"]);
const NONE: ReadonlySet<string> = new Set();

/** Messages as `ChatMessage.to_dict` writes them; other values stay. */
export function haystackMessages(list: readonly Json[]): readonly Json[] {
  return list.flatMap((one) => (isObject(one) ? messageOf(one) : [one]));
}

function messageOf(message: JsonObject): readonly Json[] {
  const { content, name, meta, ...rest } = message;
  if (!Array.isArray(content)) return [message];
  const calls: Json[] = [];
  const results: JsonObject[] = [];
  const blocks: Json[] = [];
  for (const part of content as readonly Json[]) {
    const call = member(part, "tool_call");
    const result = member(part, "tool_call_result");
    if (isObject(call)) calls.push(callOf({ ...withoutToolName(call), name: call["tool_name"] ?? null }));
    else if (isObject(result)) results.push(resultOf(result));
    else blocks.push(partOf(part).value);
  }
  const own = {
    ...rest,
    ...(name === null || name === undefined ? {} : { name }),
    ...(isObject(meta) && Object.keys(meta).length > 0 ? { meta } : {}),
  };
  if (results.length > 0 && blocks.length === 0 && calls.length === 0)
    return results.map((one, at) => (at > 0 ? one : withRest(one, own, NONE)));
  const made = { content: contentOf(blocks), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  return [withRest(made, own, NONE), ...results];
}

function withoutToolName({ tool_name: _name, ...call }: JsonObject): JsonObject {
  return call;
}

function resultOf(result: JsonObject): JsonObject {
  const { result: content, origin, ...rest } = result;
  const id = member(origin, "id");
  const name = textMember(origin, "tool_name");
  const given = member(origin, "arguments");
  return {
    role: "tool",
    ...(id === undefined || id === null ? {} : { tool_call_id: id }),
    ...(name === "" ? {} : { name }),
    content: content ?? "",
    ...rest,
    ...(isObject(given) && Object.keys(given).length > 0 ? { arguments: given } : {}),
  };
}

/** The meta of the first reply; null for a span without one. Uses no attribute: the outputs carry it whole. */
export function haystackMeta(facts: Facts): JsonObject | null {
  if (!facts.has(HAYSTACK_OUTPUT)) return null;
  const mark = facts.mark();
  const output = jsonOf(facts.value(HAYSTACK_OUTPUT));
  facts.release(mark);
  const own = member(repliesOf(output)[0], "meta");
  const given = own ?? listIn(output, "meta")[0] ?? member(output, "meta"); // of an embedder
  return isObject(given) ? given : null;
}

function repliesOf(output: Json): readonly Json[] {
  return listIn(output, "replies");
}

function listIn(output: Json, name: string): readonly Json[] {
  const list = member(output, name);
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}
