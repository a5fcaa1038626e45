// Raw body: a request and its response as the API of a model has them, one attribute a member: `llm.<provider>.<member>`
// of LiteLLM, whose span stands below that of the call. The tokens count there.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { toJson } from "../attributes/plain-values.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { readConversation } from "../forms/envelopes.ts";
import { contentWithin } from "../forms/python-text.ts";
import { countVectors } from "../forms/vectors.ts";
import { found, renameUsage, type Found } from "../messages/content.ts";

const ASKED: ReadonlySet<string> = new Set(["messages", "contents", "input", "prompt", "texts"]);
/** The first of these begins the response: members of the request come before it. */
const ANSWERED: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "choices",
  "candidates",
  "output",
  "content",
  "completion",
  "data",
  "embeddings",
  "results",
  "usage",
  "usageMetadata",
  "metrics",
  "stringified_raw_response",
]);

export function hasRawBody(facts: Facts): boolean {
  return facts.familySize("raw") > 0;
}

export function readRawBody(facts: Facts, side: "input" | "output"): Found | null {
  if (!hasRawBody(facts)) return null;
  const members = facts
    .family("raw")
    .map(({ rest, value }): [string, Json] => [
      rest.slice(rest.indexOf(".") + 1),
      value === "None" ? null : contentWithin(toJson(value)),
    ]);
  const first = members.findIndex(([name]) => ANSWERED.has(name));
  const end = first === -1 ? members.length : first;
  if (!members.some(([name], at) => at >= end || ASKED.has(name))) return null;
  const body = Object.fromEntries(side === "input" ? members.slice(0, end) : members.slice(end));
  return Object.keys(body).length === 0 ? null : found(readBody(body, side));
}

function readBody(body: JsonObject, side: "input" | "output"): JsonObject {
  const read = readConversation(body, { role: side === "input" ? "user" : "assistant", isCall: true });
  if (read === null) return countVectors(body) ?? body;
  const { messages, rest } = side === "input" ? read : renameUsage(read);
  return { messages, ...rest };
}
