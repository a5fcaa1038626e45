// Haystack: its generators carry model, tokens and finish reason as the meta of each reply.
import { member } from "../attributes/indexed.ts";
import { isObject, toJson } from "../attributes/plain-values.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { HAYSTACK_OUTPUT } from "../attributes/usage-keys.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

/** The meta of the first reply; null for a span without one. Uses no attribute: the outputs carry it whole. */
export function haystackMeta(facts: Facts): JsonObject | null {
  if (!facts.has(HAYSTACK_OUTPUT)) return null;
  const mark = facts.mark();
  const output = toJson(facts.value(HAYSTACK_OUTPUT));
  facts.release(mark);
  const own = member(listReplies(output)[0], "meta");
  const given = own ?? listIn(output, "meta")[0] ?? member(output, "meta"); // of an embedder
  return isObject(given) ? given : null;
}

function listReplies(output: Json): readonly Json[] {
  return listIn(output, "replies");
}

function listIn(output: Json, name: string): readonly Json[] {
  const list = member(output, name);
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}
