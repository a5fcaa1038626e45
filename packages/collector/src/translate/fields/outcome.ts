// Outcome: success or error, and the error text. A span with the status ok is a success, even with a recorded
// exception. The backend's own SDK is the exception: it sets ok before it records the failure of the run.
import type { SpanEvent } from "../../otlp/span.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { signs, sources } from "../attributes/known-keys.ts";
import { attributeText, type SpanEventContent } from "../messages/span-events.ts";

const ERROR_TYPE = sources("error.type");
const TOOL_STATUS = sources("gen_ai.tool.status");
const LEVEL = sources("langfuse.observation.level");
const LEVEL_MESSAGE = sources("langfuse.observation.status_message");
const ERROR_TEXT = sources("error", "error.message", "exception.message");
const TOOL_FAILED = sources("lk.function_tool.is_error");
const TOOL_OUTPUT = sources("lk.pii.function_tool.output", "lk.function_tool.output");
const SUCCESS = sources("success");
const OWN_SDK = signs("langsmith.span.id", "langsmith.span.kind", "langsmith.trace.id");
const OK = 1;
const ERROR = 2;

/** "" for success. */
export function formatError(facts: Facts, eventContent: SpanEventContent): string {
  const { span } = facts;
  const exception = eventContent.exceptions.findLast((event) => !escaped(event)) ?? eventContent.exceptions.at(-1);
  if (span.statusCode === OK && !(exception !== undefined && facts.has(OWN_SDK))) return "";
  const type = facts.peek(ERROR_TYPE); // copied to the metadata
  if (span.statusCode !== ERROR && exception === undefined && type === "" && !saysFailed(facts)) return "";
  return (
    (exception === undefined ? "" : exceptionText(exception)) ||
    span.statusMessage.toWellFormed() ||
    facts.text(LEVEL_MESSAGE).toWellFormed() ||
    facts.text(ERROR_TEXT).toWellFormed() ||
    (toolFailed(facts) ? facts.peek(TOOL_OUTPUT).toWellFormed() : "") || // LiveKit: the output is the failure
    type.toWellFormed() ||
    "error"
  );
}

/** Senders that leave the status unset and state the failure in an attribute of their own. */
function saysFailed(facts: Facts): boolean {
  if (facts.peek(TOOL_STATUS).toLowerCase() === "error" || facts.peek(LEVEL).toUpperCase() === "ERROR") return true;
  if (toolFailed(facts)) return true;
  return facts.span.name.startsWith("claude_code.") && isFalse(facts.slotValue(SUCCESS.slots[0] ?? -1));
}

function toolFailed(facts: Facts): boolean {
  return isTrue(facts.slotValue(TOOL_FAILED.slots[0] ?? -1));
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}

function isFalse(value: unknown): boolean {
  return value === false || value === "false";
}

function escaped(event: SpanEvent): boolean {
  const value = event.attributes.values[event.attributes.keys.lastIndexOf("exception.escaped")];
  return value === true || value === "true" || value === "True";
}

function exceptionText(event: SpanEvent): string {
  const type = attributeText(event, "exception.type");
  const message = attributeText(event, "exception.message");
  const stack = attributeText(event, "exception.stacktrace");
  const head = message === "" ? type : type === "" || message.startsWith(type) ? message : `${type}: ${message}`;
  const text = stack === "" ? head : head === "" ? stack : `${head}\n\nStacktrace:\n${stack}`;
  return text.toWellFormed();
}
