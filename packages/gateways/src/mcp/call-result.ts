// Call result: the outcome of a run as the result of a tool call, for a model and for a program.
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { exceedsBytes } from "@holdpoint/base/json/json-size.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Outcome } from "../calls/follow-thread.ts";
import { RESUME_TOOL } from "./tools.ts";

export interface ResultOptions {
  /** Lines before the result: who answered elsewhere. */
  readonly notes: readonly string[];
  readonly linkTo: (item: InboxItem) => string;
  readonly isForPeopleOnly: (item: InboxItem) => boolean;
}

const TEXT_UNITS_MAX = 200_000;
/** No model reads more, and the SDK writes a result in one piece. */
const VALUES_BYTES_MAX = 4 * 1024 * 1024;

export function callResult(outcome: Outcome, options: ResultOptions): CallToolResult {
  const place = { thread_id: outcome.threadId, run_id: outcome.runId };
  const { notes } = options;
  switch (outcome.kind) {
    case "completed":
      return completed(notes, outcome.values, place);
    case "failed": {
      const error = `${outcome.error}: ${outcome.message}`;
      return { ...result([...notes, error], { status: "failed", ...place, error }), isError: true };
    }
    case "cancelled":
      return { ...result([...notes, "The run was cancelled."], { status: "cancelled", ...place }), isError: true };
    case "paused": {
      const interrupts = outcome.items.map((item) => interruptOf(item, options));
      const lines = outcome.items.map((item) => lineOf(item, options));
      const text = [...notes, `The run is paused on thread ${outcome.threadId}: it waits for an answer.`, ...lines];
      const [first] = outcome.items;
      const link = first === undefined ? {} : { link: options.linkTo(first) };
      return result(text, { status: "paused", ...place, interrupts, ...link });
    }
    default:
      return outcome satisfies never;
  }
}

interface Place extends JsonObject {
  readonly thread_id: string;
  readonly run_id: string;
}

function completed(notes: readonly string[], values: Json, place: Place): CallToolResult {
  const head = { status: "completed", ...place };
  if (!exceedsBytes(values, VALUES_BYTES_MAX)) return result([...notes, textOf(values)], { ...head, values });
  const where = `GET /threads/${place.thread_id}/state`;
  const text = `The result has more than ${VALUES_BYTES_MAX} bytes as JSON, and is not shown here: ${where} has it.`;
  return result([...notes, text], { ...head, values_omitted: true });
}

function result(lines: readonly string[], structured: JsonObject): CallToolResult {
  return { content: [{ type: "text", text: lines.join("\n") }], structuredContent: { ...structured } };
}

function interruptOf(item: InboxItem, { linkTo, isForPeopleOnly }: ResultOptions): JsonObject {
  return {
    id: item.id,
    kind: item.kind,
    title: item.title,
    value: item.value as Json,
    ...(item.response_schema === undefined ? {} : { response_schema: item.response_schema as JsonObject }),
    people_only: isForPeopleOnly(item),
    link: linkTo(item),
  };
}

function lineOf(item: InboxItem, { linkTo, isForPeopleOnly }: ResultOptions): string {
  const how = isForPeopleOnly(item)
    ? `Only a person may answer: ${linkTo(item)}`
    : `Answer with the tool \`${RESUME_TOOL}\` (interrupt_id ${item.id}), or at ${linkTo(item)}`;
  return `- ${item.title} (${item.kind}). ${how}`;
}

/** The last message of a conversation; other values as JSON. */
function textOf(values: Json): string {
  const messages = isJsonObject(values) ? values["messages"] : undefined;
  const last = Array.isArray(messages) ? (messages.at(-1) as Json | undefined) : undefined;
  const content = isJsonObject(last ?? null) ? (last as JsonObject)["content"] : undefined;
  const text = contentText(content ?? null) ?? JSON.stringify(values);
  return text.length <= TEXT_UNITS_MAX ? text : `${text.slice(0, TEXT_UNITS_MAX)}…`;
}

function contentText(content: Json): string | null {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  const parts = (content as readonly Json[]).flatMap((part) => {
    const text = isJsonObject(part) ? part["text"] : undefined;
    return typeof text === "string" ? [text] : [];
  });
  return parts.length === 0 ? null : parts.join("");
}
