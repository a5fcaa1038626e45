// Idempotency key: the token a node sends with a side effect, so that the receiver recognises a repeat.
// LangGraph copies `configurable` into every task before the task's id is known. So the key is an object that becomes
// text on use, and then reads its task.
// Invariant idempotency-key.1: the text is the same in every attempt of a task, and differs between tasks.
import type { Library } from "../langgraph/library.ts";

export interface TaskKey {
  toString(): string;
  toJSON(): string;
  [Symbol.toPrimitive](): string;
}

export function createTaskKey(library: Library, threadId: string, runId: string): TaskKey {
  const text = (): string => {
    const configurable = library.langgraph.getConfig()?.configurable as Readonly<Record<string, unknown>> | undefined;
    const task = configurable?.["checkpoint_ns"];
    return `${threadId}/${typeof task === "string" && task !== "" ? task : runId}`; // idempotency-key.1
  };
  return { toString: text, toJSON: text, [Symbol.toPrimitive]: text };
}
