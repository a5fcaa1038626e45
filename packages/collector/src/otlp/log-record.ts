// Log record: one OTLP LogRecord, the result of both decoders. Invariants: those of span.ts, with one difference: the
// ids of a log record are optional.
import type { Attributes, AttributeValue, Resource, Scope, UnixNano } from "./span.ts";

export interface LogRecord {
  /** "" for none, as `spanId`. */
  readonly traceId: string;
  readonly spanId: string;
  /** `event_name`, or the attribute `event.name` of older senders; "" for none. */
  readonly name: string;
  /** The observed time when there is no other; `NO_TIME` without both. */
  readonly time: UnixNano;
  /** 1 to 24; 0 unspecified. */
  readonly severity: number;
  readonly severityText: string;
  readonly body: AttributeValue;
  readonly attributes: Attributes;
  readonly droppedAttributes: number;
  readonly resource: Resource;
  readonly scope: Scope;
}

export const SEVERITY_MAX = 24;

/** `event_name` of the record is newer than the attribute. */
export function nameOfEvent(given: string, { keys, values }: Attributes): string {
  if (given !== "") return given;
  const value = values[keys.lastIndexOf("event.name")];
  return typeof value === "string" ? value : "";
}
