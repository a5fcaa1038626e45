// Breakpoint: a pause that asks nothing, as an item of the inbox. Nothing but the inbox sees it as an interrupt.
// Invariant breakpoint.1: a breakpoint's id is the id of the checkpoint it stands at, in the form of an interrupt's id: 32 hex
// digits. So it names one pause, and answering it twice is told apart from going on at the next one.
import type { Interrupt, Run } from "../model/model.ts";

export function breakpointAt(
  threadId: string,
  checkpointId: string,
  next: readonly string[],
  asked: Pick<Run, "runId" | "graphId" | "assistantId">,
  at: number,
): Interrupt {
  return {
    ...asked,
    threadId,
    interruptId: checkpointId.replaceAll("-", ""), // breakpoint.1
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
    answer: null,
  };
}
