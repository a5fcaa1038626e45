// Records for tests: a plain one of each kind, with the members that a test cares about as changes.
import { newThread, NO_TTL } from "../threads/new-thread.ts";
import type { Assistant, Interrupt, Run, RunRequest, Thread } from "./model.ts";

export const plainRequest: RunRequest = {
  command: null,
  config: {},
  context: null,
  interruptBefore: null,
  interruptAfter: null,
  durability: "async",
  checkpointId: null,
  goesFirst: false,
  user: null,
  permissions: [],
};

export const threadRecord = (changes: Pick<Thread, "threadId"> & Partial<Thread>): Thread => ({
  ...newThread(changes.threadId, {}, NO_TTL, 1),
  updatedAt: 2,
  stateUpdatedAt: 2,
  ...changes,
});

/** A run in the queue. */
export const runRecord = (changes: Pick<Run, "runId" | "threadId"> & Partial<Run>): Run => ({
  assistantId: "assistant",
  graphId: "graph",
  status: "pending",
  endedBy: null,
  cancelReason: null,
  attempt: 0,
  crashes: 0,
  suspicions: 0,
  alone: 0,
  storageFailures: 0,
  workerId: null,
  createdAt: 1,
  updatedAt: 2,
  metadata: {},
  multitaskStrategy: "enqueue",
  dueAt: null,
  request: plainRequest,
  input: null,
  error: null,
  checkpointId: null,
  overlay: null,
  pausedOn: [],
  ...changes,
});

/** An open question. */
export const interruptRecord = (
  changes: Pick<Interrupt, "interruptId" | "threadId"> & Partial<Interrupt>,
): Interrupt => ({
  libraryId: changes.interruptId,
  taskId: "task",
  graphNs: "",
  checkpointId: "c",
  rootCheckpointId: "c",
  index: 0,
  ns: ["a:1"],
  position: 0,
  value: null,
  responseSchema: null,
  state: "open",
  createdAt: 1,
  runId: "r",
  graphId: "graph",
  assistantId: "assistant",
  node: "b",
  kind: "question",
  claim: null,
  expiresAt: null,
  onExpiry: null,
  answer: null,
  review: null,
  snoozedUntil: null,
  priority: 2,
  escalatesAt: null,
  failure: null,
  ...changes,
});

export const assistantRecord = (assistantId: string, changes: Partial<Assistant> = {}): Assistant => ({
  assistantId,
  graphId: "g",
  name: "n",
  description: null,
  metadata: {},
  config: {},
  context: {},
  version: 1,
  createdAt: 1,
  updatedAt: 1,
  ...changes,
});
