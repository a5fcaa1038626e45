// Task key: the token that a node sends along with a side effect, so that a repeat can be recognised.
// LangGraph copies `configurable` into every task before the task's id is known. So the key is an object that
// becomes text when it is used, and then reads the task it is used in.
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
