// Stream modes: the modes of a request → those of LangGraph, and its chunks in one form.
// Invariant: LangGraph always streams `values`: the run's own end comes from them, requested or not.
import type { StreamRequest } from "../../model/model.ts";
import type { RawEvent } from "../langgraph/compiled-graph.ts";
import type { Chunk } from "../langgraph/stream-chunk.ts";

export interface StreamPlan {
  /** One mode as text: then LangGraph's chunks come bare. */
  readonly libraryModes: string | readonly string[];
  readonly subgraphs: boolean;
  /** All inner events, by LangGraph's `streamEvents`: the chunks come in events of the run itself. */
  readonly raw: boolean;
  /** LangGraph's stream of the thread protocol: messages come as content blocks. */
  readonly v3: boolean;
}

/** All that the channels of the thread protocol show. */
const PROTOCOL_MODES = ["values", "updates", "messages", "tools", "custom", "tasks"];

const ROOT: readonly string[] = [];

export function choosePlan(request: StreamRequest): StreamPlan {
  if (request.protocol === true) return { libraryModes: PROTOCOL_MODES, subgraphs: true, raw: false, v3: true };
  const modes = new Set<string>(["values"]);
  for (const mode of request.modes) {
    if (mode === "messages" || mode === "messages-tuple") modes.add("messages");
    else if (mode === "lifecycle") modes.add("tasks");
    else if (mode !== "events") modes.add(mode);
  }
  const raw = request.modes.includes("events");
  const subgraphs = request.subgraphs || request.modes.includes("lifecycle");
  return { libraryModes: modes.size === 1 && !raw && !subgraphs ? "values" : [...modes], subgraphs, raw, v3: false };
}

export function toChunk(item: unknown, { libraryModes, subgraphs }: StreamPlan): Chunk {
  if (typeof libraryModes === "string") return { ns: ROOT, mode: libraryModes, payload: item };
  const parts = item as readonly unknown[];
  return subgraphs
    ? { ns: parts[0] as readonly string[], mode: parts[1] as string, payload: parts[2] }
    : { ns: ROOT, mode: parts[0] as string, payload: parts[1] };
}

/** The chunk in an event of the run itself; null for all inner events. */
export function chunkInEvent(event: RawEvent, runId: string, plan: StreamPlan): Chunk | null {
  const own = event.event === "on_chain_stream" && event.run_id === runId && Array.isArray(event.data.chunk);
  return own ? toChunk(event.data.chunk, plan) : null;
}
