// Outcome: success or error, and the text that says what went wrong.
// A span that its author marked as ok is a success, also when it recorded an exception on the way.
import type { SpanEvent } from "../../otlp/span.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { sources } from "../attributes/known-keys.ts";
import { attributeText, type SpanTalk } from "./span-events.ts";

const ERROR_TYPE = sources("error.type");
const TOOL_STATUS = sources("gen_ai.tool.status");
const OK = 1;
const ERROR = 2;

/** "" for success. */
export function errorOf(facts: Facts, talk: SpanTalk): string {
  const { span } = facts;
  if (span.statusCode === OK) return "";
  const exception = talk.exceptions.findLast((event) => !escaped(event)) ?? talk.exceptions.at(-1);
  const type = facts.text(ERROR_TYPE);
  const toolFailed = facts.peek(TOOL_STATUS).toLowerCase() === "error";
  if (span.statusCode !== ERROR && exception === undefined && type === "" && !toolFailed) return "";
  return (
    (exception === undefined ? "" : exceptionText(exception)) ||
    span.statusMessage.toWellFormed() ||
    type.toWellFormed() ||
    "error"
  );
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
