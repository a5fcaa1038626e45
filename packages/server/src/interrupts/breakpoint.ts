// Breakpoint: a pause without an interrupt, stored as an interrupt row for the inbox. Other code does not read it.
// Invariants:
//   - The id of a breakpoint is its checkpoint id in the form of an interrupt id: 32 hex digits. So it identifies one
//     pause, and a repeated answer does not continue the next one.
import type { Interrupt, Run } from "../model/model.ts";
import { readPriority } from "./priority.ts";

export interface BreakpointPause {
  /** The run that paused. */
  readonly run: Pick<Run, "runId" | "graphId" | "assistantId">;
  readonly threadId: string;
  readonly checkpointId: string;
  /** Nodes held back by the breakpoint. */
  readonly next: readonly string[];
  readonly at: number;
}

export function buildBreakpoint({ run, threadId, checkpointId, next, at }: BreakpointPause): Interrupt {
  return {
    runId: run.runId,
    graphId: run.graphId,
    assistantId: run.assistantId,
    threadId,
    interruptId: checkpointId.replaceAll("-", ""),
    libraryId: "",
    taskId: "",
    graphNs: "",
    checkpointId,
    rootCheckpointId: checkpointId,
    index: 0,
    ns: [],
    position: 0,
    value: null,
    responseSchema: null,
    state: "open",
    createdAt: at,
    node: next.join(", "),
    kind: "breakpoint",
    claim: null,
    expiresAt: null,
    onExpiry: null,
    review: null,
    snoozedUntil: null,
    priority: readPriority(null),
    escalatesAt: null,
    answer: null,
    failure: null,
  };
}
