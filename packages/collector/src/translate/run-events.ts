// Run events: the time of the first token, and the events of the span that no other field used.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Facts } from "./attributes/span-facts.ts";
import { sources, type Sources } from "./attributes/known-keys.ts";
import { toJson } from "./attributes/plain-values.ts";
import type { SpanEventContent } from "./messages/span-events.ts";
import type { Times } from "./span-times.ts";
import { plusSeconds, rfc3339, unixNanoOfMs } from "../shared/rfc3339.ts";

/** Time to the first token: source, seconds in one unit of it. */
const FIRST_TOKEN: readonly (readonly [Sources, number])[] = [
  [sources("gen_ai.response.time_to_first_chunk", "gen_ai.client.operation.time_to_first_chunk"), 1],
  [sources("ai.response.msToFirstChunk", "ai.stream.msToFirstChunk", "ttft_ms"), 0.001],
  [sources("gen_ai.server.time_to_first_token", "gen_ai.latency.time_to_first_token"), 1],
  [sources("lk.response.ttft", "lk.response.ttfb"), 1],
];
/** The same as a separate time: ISO 8601 text, also as JSON text. */
const FIRST_TOKEN_AT = sources("langfuse.observation.completion_start_time", "mastra.completion_start_time");

/** @param spare events whose content no field took */
export function eventsText(
  facts: Facts,
  eventContent: SpanEventContent,
  { start, end }: Pick<Times, "start" | "end">,
  spare: readonly JsonObject[],
): string {
  const events: JsonObject[] = firstTokenAt(facts, start);
  for (const [from, unit] of events.length > 0 ? [] : FIRST_TOKEN) {
    const wait = facts.count(from);
    if (wait === undefined) continue;
    const seconds = Number(wait) * unit;
    const spanSeconds = end.sec - start.sec + (end.nano - start.nano) / 1e9;
    const isMs = unit === 1 && seconds > spanSeconds && seconds / 1000 <= spanSeconds; // Strands
    events.push({ name: "new_token", time: rfc3339(plusSeconds(start, isMs ? seconds / 1000 : seconds)) });
    break;
  }
  events.push(...eventContent.kept, ...spare);
  return events.length === 0 ? "" : JSON.stringify(events);
}

/** Mastra gives every model call the time of the agent's first token: one before the call is none of it. */
function firstTokenAt(facts: Facts, start: Times["start"]): JsonObject[] {
  if (!facts.has(FIRST_TOKEN_AT)) return [];
  const mark = facts.mark();
  const text = toJson(facts.value(FIRST_TOKEN_AT));
  const ms = typeof text === "string" && /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  const startMs = start.sec * 1000 + Math.floor(start.nano / 1e6);
  if (ms >= startMs) return [{ name: "new_token", time: rfc3339(unixNanoOfMs(ms)) }];
  facts.release(mark);
  return [];
}
