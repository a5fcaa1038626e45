// Call result: the outcome of a run as the result of a tool call, for a model and for a program.
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Outcome } from "../calls/follow-thread.ts";
import { isTooLarge, omittedText, stateUrl } from "../calls/large-values.ts";
import { RESUME_TOOL } from "./tools.ts";

export interface ResultOptions {
  /** Lines before the result: who answered elsewhere. */
  readonly notes: readonly string[];
  readonly publicUrl: string;
  readonly linkTo: (item: InboxItem) => string;
  readonly isForPeopleOnly: (item: InboxItem) => boolean;
}

const TEXT_UNITS_MAX = 200_000;

export function callResult(outcome: Outcome, options: ResultOptions): CallToolResult {
  const place = { thread_id: outcome.threadId, run_id: outcome.runId };
  const { notes } = options;
  switch (outcome.kind) {
    case "completed":
      return completed(options, outcome.values, place);
    case "failed": {
      const error = `${outcome.error}: ${outcome.message}`;
      return { ...result([...notes, error], { status: "failed", ...place, error }), isError: true };
    }
    case "cancelled":
      return { ...result([...notes, "The run was cancelled."], { status: "cancelled", ...place }), isError: true };
    case "paused": {
      const interrupts = outcome.items.map((item) => toInterrupt(item, options));
      const lines = outcome.items.map((item) => formatLine(item, options));
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

/** What is too large is a link: the client reads it, or leaves it. */
function completed({ notes, publicUrl }: ResultOptions, values: Json, place: Place): CallToolResult {
  const head = { status: "completed", ...place };
  const url = stateUrl(publicUrl, place.thread_id);
  if (isTooLarge(values)) {
    return withState(result([...notes, omittedText(url)], { ...head, values_omitted: true, link: url }), url);
  }
  const text = findReplyText(values);
  if (text.length <= TEXT_UNITS_MAX) return result([...notes, text], { ...head, values });
  const shown = `${text.slice(0, TEXT_UNITS_MAX)}…`;
  return withState(result([...notes, shown, `The text is cut: GET ${url} has all of it.`], { ...head, values }), url);
}

function withState(made: CallToolResult, uri: string): CallToolResult {
  const link = { type: "resource_link" as const, uri, name: "state", mimeType: "application/json" };
  return { ...made, content: [...made.content, link] };
}

function result(lines: readonly string[], structured: JsonObject): CallToolResult {
  return { content: [{ type: "text", text: lines.join("\n") }], structuredContent: { ...structured } };
}

function toInterrupt(item: InboxItem, { linkTo, isForPeopleOnly }: ResultOptions): JsonObject {
  return {
    id: item.id,
    kind: item.kind,
    title: item.title,
    ...(isTooLarge(item.value) ? { value_omitted: true } : { value: item.value }),
    ...(item.response_schema === undefined ? {} : { response_schema: item.response_schema }),
    people_only: isForPeopleOnly(item),
    link: linkTo(item),
  };
}

function formatLine(item: InboxItem, { linkTo, isForPeopleOnly }: ResultOptions): string {
  const how = isForPeopleOnly(item)
    ? `Only a person may answer: ${linkTo(item)}`
    : `Answer with the tool \`${RESUME_TOOL}\` (interrupt_id ${item.id}), or at ${linkTo(item)}`;
  return `- ${item.title} (${item.kind}). ${how}`;
}

/** The last message of a conversation; other values as JSON. */
function findReplyText(values: Json): string {
  const messages = isJsonObject(values) ? values["messages"] : undefined;
  const last = Array.isArray(messages) ? (messages.at(-1) as Json | undefined) : undefined;
  const content = isJsonObject(last) ? last["content"] : undefined;
  return contentText(content ?? null) ?? JSON.stringify(values);
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
