// Failed item: which spans and log records count as errors for `error` of a rule: those whose run has an error, any
// exception, and log records of severity ERROR. Many senders leave the status unset, and state the failure in an
// attribute. translate/fields/outcome.ts reads the same attributes; a test keeps the two alike
// (pipeline/failed-spans.test.ts).
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, AttributeValue, Span } from "../otlp/span.ts";

/** Events that are an error of their span. */
const EXCEPTIONS: ReadonlySet<string> = new Set(["exception", "gen_ai.client.operation.exception"]);
const OK = 1;
const ERROR = 2;
const ERROR_SEVERITY = 17;
const CLAUDE_CODE = "claude_code.";

/** What the events of an agent mean is known elsewhere (logs/failed-record.ts). */
export type IsFailedRecord = (record: LogRecord) => boolean;

export function isError(item: Span | LogRecord, isFailedRecord: IsFailedRecord): boolean {
  if ("severity" in item) return item.severity >= ERROR_SEVERITY || isFailedRecord(item);
  const { attributes, events, name, statusCode } = item;
  if (statusCode === ERROR || events.some((event) => EXCEPTIONS.has(event.name))) return true;
  if (statusCode === OK) return false;
  return sayFailed(attributes) || (name.startsWith(CLAUDE_CODE) && is(findValue(attributes, "success"), false));
}

/** Attributes with a meaning for spans of every name. */
export function sayFailed(attributes: Attributes): boolean {
  return (
    findText(attributes, "error.type") !== "" ||
    findText(attributes, "gen_ai.tool.status").toLowerCase() === "error" ||
    findText(attributes, "langfuse.observation.level").toUpperCase() === "ERROR" ||
    is(findValue(attributes, "lk.function_tool.is_error"), true)
  );
}

function is(value: AttributeValue, wanted: boolean): boolean {
  return value === wanted || value === String(wanted);
}

function findText(attributes: Attributes, key: string): string {
  const value = findValue(attributes, key);
  return typeof value === "string" ? value : "";
}

function findValue({ keys, values }: Attributes, key: string): AttributeValue {
  return values[keys.lastIndexOf(key)] ?? null;
}
