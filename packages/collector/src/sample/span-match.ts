// Span match: the conditions of rules that drop spans or sample traces. All conditions of a rule must hold.
import { z } from "zod";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, Span } from "../otlp/span.ts";
import { matchesGlob } from "../redact/path-pattern.ts";

const glob = z.string().min(1).max(1000);

export const CONDITIONS = {
  span: glob.optional().describe("Name of the span. Stars stand for any text."),
  scope: glob.optional().describe("Name of the instrumentation scope."),
  attribute: z.string().min(1).max(1000).optional().describe("Key of an attribute of the span or its resource."),
  equals: z.union([z.string(), z.number(), z.boolean()]).optional().describe("Value of that attribute, with stars."),
};

export interface SpanConditions {
  readonly span?: string | undefined;
  readonly scope?: string | undefined;
  readonly attribute?: string | undefined;
  readonly equals?: string | number | boolean | undefined;
}

export function hasConditions({ attribute, scope, span }: SpanConditions): boolean {
  return span !== undefined || scope !== undefined || attribute !== undefined;
}

/** Matches an item. For a log record, the name of its event counts as the name. */
export function matches(conditions: SpanConditions, item: Span | LogRecord): boolean {
  const { attribute, equals, scope, span } = conditions;
  if (span !== undefined && !matchesGlob(span, item.name)) return false;
  if (scope !== undefined && !matchesGlob(scope, item.scope.name)) return false;
  if (attribute === undefined) return true;
  return hasValue(item.attributes, attribute, equals) || hasValue(item.resource.attributes, attribute, equals);
}

function hasValue({ keys, values }: Attributes, key: string, wanted: SpanConditions["equals"]): boolean {
  const at = keys.lastIndexOf(key);
  if (at < 0) return false;
  const value = values[at];
  if (wanted === undefined) return true;
  if (typeof value === "object") return false;
  return typeof wanted === "string" ? matchesGlob(wanted, String(value)) : String(value) === String(wanted);
}
