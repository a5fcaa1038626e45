// Unused events: content that a span has in events and in attributes. The fields of the run take one of them.
// Invariant: an event that no field took stays in `events`, unless the run has the same text.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AttributeValue, SpanEvent } from "../../otlp/span.ts";
import { toJson } from "../attributes/plain-values.ts";
import { isWithin } from "../attributes/said.ts";
import { DETAILS, DETAILS_EVENT, keptEvent, type SpanEventContent, type EventContentPart } from "./span-events.ts";

/** Marks the parts of the events that the result is made of. */
export function markUsed<R>(
  eventContent: SpanEventContent,
  result: R | null,
  ...parts: readonly EventContentPart[]
): R | null {
  if (result !== null) for (const part of parts) eventContent.used.add(part);
  return result;
}

export function unusedEvents(eventContent: SpanEventContent, inputs: string, outputs: string): readonly JsonObject[] {
  const left = eventContent.partEvents.filter(([part]) => !eventContent.used.has(part));
  if (left.length === 0) return [];
  const said = inputs + outputs;
  const isSaid = (value: AttributeValue): boolean => typeof value !== "number" && isWithin(toJson(value), said);
  const events = new Set(left.map(([, event]) => event));
  return [...events].filter((event) => !listContent(event).every(isSaid)).map(keptEvent);
}

const NO_CONTENT = /^(?:gen_ai\.system|gen_ai\.provider\.name|event\.name|gen_ai\.message\.index)$/;
const PLACE = /^(?:index|role|message\.role)$/;
const ROLE = /^(?:system|developer|user|assistant|model|tool)$/;

/** The other attributes of an event with details complete the span's own. */
function listContent({ attributes: { keys, values }, name }: SpanEvent): readonly AttributeValue[] {
  return values.filter((value, at) => {
    const key = keys[at] ?? "";
    if (name === DETAILS_EVENT) return Object.hasOwn(DETAILS, key) && DETAILS[key] !== "tools";
    return (
      !NO_CONTENT.test(key) &&
      !(PLACE.test(key) && (typeof value === "number" || (typeof value === "string" && ROLE.test(value))))
    );
  });
}
