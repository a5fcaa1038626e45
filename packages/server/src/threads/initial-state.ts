// Initial state: a new thread with a state from supersteps of updates, computed before any write.
// Invariants:
//   - If the graph rejects an update, no thread is created.
//   - Its breakpoint has the rules of the graph's own assistant. Another assistant that continues it brings those of
//     its own (run-target.ts).
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../context/context.ts";
import { buildBreakpoint } from "../interrupts/breakpoint.ts";
import { checkGoto } from "../interrupts/node-names.ts";
import { builtInAssistantId } from "../model/built-in-assistant.ts";
import type { Interrupt, Thread, WriteSet } from "../model/model.ts";
import { applyRules } from "../model/review/review-rules.ts";
import type { StateUpdate, Tx } from "../ports/ports.ts";

export interface BuiltThread {
  readonly thread: Thread;
  readonly set: WriteSet;
  /** The breakpoint of the new thread, if it has next nodes; without rules yet. */
  readonly waiting: readonly Interrupt[];
}

/** @throws {ApiError} `thread_without_graph`, `assistant_not_found`, `state_update_invalid`, `node_unknown` */
export async function buildThread(
  agent: AgentContext,
  thread: Thread,
  supersteps: readonly (readonly StateUpdate[])[],
): Promise<BuiltThread> {
  const { threadId, createdAt: at } = thread;
  const graphId = thread.metadata["graph_id"];
  if (typeof graphId !== "string") {
    throw new ApiError("thread_without_graph", "supersteps need metadata.graph_id, the graph that they belong to.");
  }
  const graph = agent.graphs.describe(graphId);
  if (graph === null) {
    throw new ApiError("assistant_not_found", `There is no graph "${graphId}".`, {
      known_graphs: agent.graphs.list().map((graph) => graph.graphId),
    });
  }
  for (const { command } of supersteps.flat()) checkGoto(graph, command?.["goto"] ?? undefined);
  const operationId = agent.newId();
  const address = { threadId, graphId, ns: "", checkpointId: null };
  const { set, checkpoint, next } = await agent.graphs.build(address, supersteps, { graph_id: graphId }, operationId);
  const run = { runId: "", graphId, assistantId: builtInAssistantId(graphId) };
  const waiting =
    next.length > 0 ? [buildBreakpoint({ run, threadId, checkpointId: checkpoint.checkpoint_id, next, at })] : [];
  const paused = waiting.length > 0 ? ({ status: "interrupted", pause: "breakpoint" } as const) : {};
  return { thread: { ...thread, ...paused, graphId, checkpointId: checkpoint.checkpoint_id }, set, waiting };
}

export async function findInitialItems(
  tx: Pick<Tx, "assistant">,
  { thread: { startedBy, createdAt: at }, waiting }: BuiltThread,
): Promise<readonly Interrupt[]> {
  const items: Interrupt[] = [];
  for (const item of waiting) {
    const assistant = (await tx.assistant(item.assistantId))?.metadata ?? {};
    items.push(applyRules(assistant, item, { startedBy, at }));
  }
  return items;
}
