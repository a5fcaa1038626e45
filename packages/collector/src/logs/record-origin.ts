// Record origin: what a log record has beside its text: severity, scope and resource, as attributes of the event that
// it becomes. Senders mostly use one scope and one resource for a call's span and its records, so only the rest is
// added, and a plain INFO is not.
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, AttributeValue, Span } from "../otlp/span.ts";
import { plain } from "../translate/attributes/plain-values.ts";

export type AddedAttribute = readonly [key: string, value: AttributeValue];

const INFO = 9;
const WARN = 13;
const PLAIN_TEXT = /^(?:info(?:rmation)?)?$/i;

/** None for an INFO, the level of events, or without a severity. */
export function listSeverity({ severity, severityText }: LogRecord): readonly AddedAttribute[] {
  const isPlain = (severity === 0 || (severity >= INFO && severity < WARN)) && PLAIN_TEXT.test(severityText);
  return isPlain ? [] : [["severity", severityText === "" ? severity : severityText]];
}

/** What the span does not say already. */
export function listOriginAttributes(
  { resource, scope }: LogRecord,
  span: Pick<Span, "resource" | "scope">,
): AddedAttribute[] {
  const added: AddedAttribute[] = [];
  if (scope.name !== "" && scope.name !== span.scope.name) added.push(["otel.scope.name", scope.name]);
  if (scope.version !== "" && scope.version !== span.scope.version) added.push(["otel.scope.version", scope.version]);
  addRest(added, "otel.scope.attributes", scope.attributes, span.scope.attributes);
  addRest(added, "otel.resource", resource.attributes, span.resource.attributes);
  return added;
}

function addRest(added: AddedAttribute[], name: string, { keys, values }: Attributes, known: Attributes): void {
  if (keys.length === 0 || keys === known.keys) return;
  const rest = keys.flatMap((key, at) => {
    const value = values[at] ?? null;
    const knownAt = known.keys.lastIndexOf(key);
    return knownAt >= 0 && isEqual(value, known.values[knownAt] ?? null) ? [] : [[key, value] as const];
  });
  if (rest.length > 0) added.push([name, { keys: rest.map(([key]) => key), values: rest.map(([, value]) => value) }]);
}

function isEqual(one: AttributeValue, other: AttributeValue): boolean {
  if (one === other) return true;
  return (
    typeof one === "object" && typeof other === "object" && JSON.stringify(plain(one)) === JSON.stringify(plain(other))
  );
}
