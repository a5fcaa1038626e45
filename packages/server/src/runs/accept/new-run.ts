// New run: the row of an accepted run. Pure.
import type { Assistant, Encoded, Run, RunRequest } from "../../model/model.ts";
import type { RunCall } from "./run-request.ts";

export interface NewRun {
  readonly runId: string;
  readonly threadId: string;
  readonly call: RunCall;
  readonly assistant: Assistant;
  /** The run starts at once, as attempt 1. */
  readonly claimed: boolean;
  readonly workerId: string | null;
  readonly dueAt: number | null;
  readonly request: RunRequest;
  readonly input: Encoded | null;
  readonly at: number;
}

export function newRun({
  runId,
  threadId,
  call,
  assistant,
  claimed,
  workerId,
  dueAt,
  request,
  input,
  at,
}: NewRun): Run {
  const { assistantId, graphId } = assistant;
  return {
    runId,
    threadId,
    assistantId,
    graphId,
    status: claimed ? "running" : "pending",
    endedBy: null,
    cancelReason: null,
    attempt: claimed ? 1 : 0,
    crashes: 0,
    suspicions: 0,
    alone: 0,
    storageFailures: 0,
    workerId,
    createdAt: at,
    updatedAt: at,
    metadata: { ...call.metadata, created_by: "system", graph_id: graphId, assistant_id: assistantId },
    multitaskStrategy: call.multitaskStrategy,
    dueAt,
    request,
    input,
    error: null,
    checkpointId: null,
    overlay: null,
    pausedOn: [],
  };
}
