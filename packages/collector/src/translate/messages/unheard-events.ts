// Unheard events: content that a span has in events and in attributes. The fields of the run take one of them.
// Invariant unheard-events.1: an event that no field took stays in `events`, unless the run has the same text.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Attributes, AttributeValue } from "../../otlp/span.ts";
import { keptEvent, type SpanTalk, type TalkPart } from "./span-events.ts";

/** Marks the parts of the events that the result is made of. */
export function taken<R>(talk: SpanTalk, result: R | null, ...parts: readonly TalkPart[]): R | null {
  if (result !== null) for (const part of parts) talk.heard.add(part);
  return result;
}

/** unheard-events.1. */
export function unheardEvents(talk: SpanTalk, inputs: string, outputs: string): readonly JsonObject[] {
  const left = talk.spoken.filter(([part]) => !talk.heard.has(part));
  if (left.length === 0) return [];
  const isSaid = (value: AttributeValue): boolean => {
    if (typeof value !== "string") return false;
    const text = JSON.stringify(value).slice(1, -1);
    return text === "" || inputs.includes(text) || outputs.includes(text);
  };
  const events = new Set(left.map(([, event]) => event));
  return [...events].filter(({ attributes }) => !contentOf(attributes).every(isSaid)).map(keptEvent);
}

const NO_CONTENT = /^(?:gen_ai\.system|gen_ai\.provider\.name|event\.name|gen_ai\.message\.index)$/;
const PLACE = /^(?:index|role|message\.role)$/;
const ROLE = /^(?:system|developer|user|assistant|model|tool)$/;

function contentOf({ keys, values }: Attributes): readonly AttributeValue[] {
  return values.filter((value, at) => {
    const key = keys[at] ?? "";
    return (
      !NO_CONTENT.test(key) &&
      !(PLACE.test(key) && (typeof value === "number" || (typeof value === "string" && ROLE.test(value))))
    );
  });
}
