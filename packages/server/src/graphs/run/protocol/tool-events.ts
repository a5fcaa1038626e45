// Tool events: the library's chunks about tools → events of the thread protocol.
// Invariants:
//   - A tool that pauses raises no tool-error: the engine's control flow is no failure.
//   - Inputs, outputs and messages of errors are bounded.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Codec } from "../../checkpoints/codec/value-codec.ts";

/** Longest input or output of a tool and of a task, in UTF-16 units of JSON. */
const VALUE_UNITS_MAX = 256 * 1024;

export interface ToolChunk {
  readonly event: string;
  readonly toolCallId?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly data?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
}

export function toolEvent(chunk: ToolChunk, codec: Codec): JsonObject | null {
  const id = { tool_call_id: chunk.toolCallId ?? "" };
  switch (chunk.event) {
    case "on_tool_start": {
      const input = parseInput(codec.toClientJson(chunk.input ?? null));
      return bounded({ event: "tool-started", ...id, tool_name: chunk.name ?? "unknown", input }, ["input"]);
    }
    case "on_tool_event": {
      const delta = typeof chunk.data === "string" ? chunk.data : codec.clientText(chunk.data ?? "");
      return { event: "tool-output-delta", ...id, delta };
    }
    case "on_tool_end":
      return bounded({ event: "tool-finished", ...id, output: codec.toClientJson(chunk.output ?? null) }, ["output"]);
    case "on_tool_error":
      if (isControlFlow(chunk.error)) return null;
      return { event: "tool-error", ...id, message: formatMessage(chunk.error) };
    default:
      return null;
  }
}

function isControlFlow(error: unknown): boolean {
  return typeof error === "object" && error !== null && "is_bubble_up" in error && error.is_bubble_up === true;
}

function formatMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, VALUE_UNITS_MAX);
}

/** Text that is JSON counts as its value. */
function parseInput(input: Json): Json {
  if (typeof input !== "string" || input.length > VALUE_UNITS_MAX) return input;
  try {
    return JSON.parse(input) as Json;
  } catch {
    return input;
  }
}

/** The event with each of these members cut to VALUE_UNITS_MAX, and marked as cut. */
export function bounded(data: JsonObject, members: readonly string[]): JsonObject {
  for (const member of members) {
    const text = data[member] === undefined ? "" : JSON.stringify(data[member]);
    if (text.length > VALUE_UNITS_MAX) return { ...data, [member]: text.slice(0, VALUE_UNITS_MAX), truncated: true };
  }
  return data;
}
