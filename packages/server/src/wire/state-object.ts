// State object: a saved state → the JSON object of a thread's state.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt } from "../model/model.ts";
import { graphPath } from "../model/interrupt.ts";
import type { StateSnapshot } from "../ports/ports.ts";
import { serializeInterrupt } from "./api-objects.ts";

/** With `namespace`, which clients of the thread protocol read: the graph of the task, as `input.requested` names it. */
function placed(interrupt: Interrupt, resumable: boolean): JsonObject {
  return { ...serializeInterrupt(interrupt, resumable), namespace: graphPath(interrupt) };
}

/**
 * A saved state, with stored interrupts instead of the library's.
 * @param known interrupts of the thread
 * @param newest true for the current state of the thread, which shows the open interrupts. They include those of tasks
 *   called by another task, which the library's states do not list.
 */
export function serializeState(state: StateSnapshot, known: readonly Interrupt[], newest: boolean): JsonObject {
  const last = new Map<string, Interrupt>();
  for (const interrupt of known) {
    const other = last.get(interrupt.libraryId);
    if (other === undefined || other.index <= interrupt.index) last.set(interrupt.libraryId, interrupt);
  }
  const shown = (raised: { readonly id: string | null; readonly value: Json }): readonly JsonObject[] => {
    const row = raised.id === null ? undefined : last.get(raised.id);
    if (row === undefined) return [{ id: raised.id, value: raised.value, resumable: false, ns: [], when: "during" }];
    return [placed(row, false)];
  };
  const open = known.filter(({ state }) => state === "open").toSorted((a, b) => a.position - b.position);
  const openIn = (taskId: string): readonly JsonObject[] =>
    open.filter(({ ns }) => ns.some((part) => part.endsWith(`:${taskId}`))).map((interrupt) => placed(interrupt, true));
  const convert = (one: StateSnapshot): JsonObject => {
    const tasks = one.tasks.map((task) => ({
      id: task.id,
      name: task.name,
      path: task.path,
      error: task.error,
      interrupts: newest ? openIn(task.id) : task.interrupts.flatMap(shown),
      checkpoint: task.checkpoint,
      state: task.state === null ? null : convert(task.state),
      result: task.result,
    }));
    // The library treats a task with a saved answer as done. A task with an open interrupt is next nevertheless.
    const asking = tasks.filter((task) => newest && task.interrupts.length > 0).map((task) => task.name);
    return {
      values: one.values,
      next: [...one.next, ...withoutEach(asking, one.next)],
      tasks,
      metadata: one.metadata,
      created_at: one.createdAt,
      checkpoint: one.checkpoint === null ? null : { ...one.checkpoint },
      parent_checkpoint: one.parentCheckpoint === null ? null : { ...one.parentCheckpoint },
      interrupts: tasks.flatMap((task) => task.interrupts),
    };
  };
  return convert(state);
}

/** The names that remain when each of `known` takes away one equal name: `next` has one entry for each task. */
function withoutEach(names: readonly string[], known: readonly string[]): readonly string[] {
  const rest = [...known];
  return names.filter((name) => {
    const at = rest.indexOf(name);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}
