// Item size: about how much memory a span or a log record takes while its trace waits for a decision.
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, AttributeValue, Span } from "../otlp/span.ts";

const ITEM_BYTES = 1024;
const VALUE_BYTES = 32;
const BYTES_A_CHARACTER = 2;

/** Its texts, and a fixed part for the rest. */
export function estimateSize(item: Span | LogRecord): number {
  const own = ITEM_BYTES + sumSizes(item.attributes.values);
  if ("severity" in item) return own + sizeOfValue(item.body);
  return item.events.reduce((sum, { attributes }) => sum + VALUE_BYTES + sumSizes(attributes.values), own);
}

function sumSizes(values: readonly AttributeValue[]): number {
  return values.reduce<number>((sum, value) => sum + sizeOfValue(value), 0);
}

function sizeOfValue(value: AttributeValue): number {
  if (typeof value === "string") return VALUE_BYTES + BYTES_A_CHARACTER * value.length;
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  if (value instanceof Uint8Array) return VALUE_BYTES + value.length;
  return VALUE_BYTES + sumSizes(isList(value) ? value : value.values);
}

function isList(value: Attributes | readonly AttributeValue[]): value is readonly AttributeValue[] {
  return Array.isArray(value);
}
