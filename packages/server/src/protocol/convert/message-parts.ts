// Message parts: a message as REST streams show it → its blocks, in the form of the thread protocol. Pure.
// Invariants:
//   - Text and reasoning of a message are one block each, and each tool call is one: REST streams show neither begin
//     nor end of a block.
//   - The parts of a chunk are its additions, those of a message so far are complete.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export type BlockKind = "reasoning" | "text" | "tool";

export interface MessagePart {
  readonly kind: BlockKind;
  /** Identifies a tool call within its message. */
  readonly key: string;
  readonly text: string;
  /** Id of a tool call; not every chunk repeats them. */
  readonly id?: string;
  readonly name?: string;
}

/** Chunks of a message have this member, whole messages do not. */
export function isChunk(message: JsonObject): boolean {
  return "tool_call_chunks" in message;
}

export function listMessageParts(message: JsonObject): readonly MessagePart[] {
  const parts: MessagePart[] = [];
  const add = (kind: "reasoning" | "text", text: Json | undefined): void => {
    if (typeof text === "string" && text !== "") parts.push({ kind, key: kind, text });
  };
  const { content } = message;
  if (typeof content === "string") add("text", content);
  for (const block of listObjects(content)) {
    add("reasoning", block["reasoning"] ?? block["thinking"]);
    if (block["type"] === "text") add("text", block["text"]);
  }
  return [...joined(parts), ...listObjects(message["tool_call_chunks"]).map(toolPart), ...wholeCalls(message)];
}

function joined(parts: readonly MessagePart[]): readonly MessagePart[] {
  const byKind = Map.groupBy(parts, ({ kind }) => kind);
  return [...byKind].map(([kind, some]) => ({ kind, key: kind, text: some.map(({ text }) => text).join("") }));
}

function toolPart(chunk: JsonObject, at: number): MessagePart {
  const { id, name, args, index } = chunk;
  return {
    kind: "tool",
    key: `tool ${JSON.stringify(index ?? id ?? at)}`,
    text: typeof args === "string" ? args : "",
    ...(typeof id === "string" ? { id } : {}),
    ...(typeof name === "string" ? { name } : {}),
  };
}

function wholeCalls(message: JsonObject): readonly MessagePart[] {
  if (isChunk(message)) return [];
  return listObjects(message["tool_calls"]).map((call, at) =>
    toolPart({ ...call, args: JSON.stringify(call["args"]) }, at),
  );
}

function listObjects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
}

export function startBlock({ kind, id, name }: MessagePart): JsonObject {
  if (kind === "text") return { type: "text", text: "" };
  if (kind === "reasoning") return { type: "reasoning", reasoning: "" };
  return { type: "tool_call_chunk", id: id ?? null, name: name ?? null, args: "" };
}

export function buildDelta({ kind }: MessagePart, added: string): JsonObject {
  if (kind === "text") return { type: "text-delta", text: added };
  if (kind === "reasoning") return { type: "reasoning-delta", reasoning: added };
  return { type: "tool-call-delta", args: added };
}

export function wholeBlock({ kind, text, id, name }: MessagePart): JsonObject {
  if (kind === "text") return { type: "text", text };
  if (kind === "reasoning") return { type: "reasoning", reasoning: text };
  const call = { id: id ?? null, name: name ?? null };
  try {
    return { type: "tool_call", ...call, args: JSON.parse(text === "" ? "{}" : text) as Json };
  } catch {
    return { type: "invalid_tool_call", ...call, args: text, error: "The arguments are not JSON." };
  }
}
