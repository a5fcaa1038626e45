// Pending tasks: what a run has seen of the tasks of its newest checkpoints, namespace by namespace.
// Filled by the saver as the library writes; read when the run pauses or ends.
import type { LibraryCheckpoint } from "./decode-checkpoint.ts";

export interface RaisedInterrupt {
  readonly id?: string;
  readonly value?: unknown;
  readonly response_schema?: unknown;
}

export interface PendingTask {
  readonly interrupts: readonly RaisedInterrupt[];
  /** Answers that the task has used and saved. */
  readonly answersSaved: number;
  /** It has written results: it will not run again. */
  readonly finished: boolean;
}

export interface PendingGraph {
  readonly checkpointId: string;
  readonly step: number;
  /** Node names that can be the name of a pending task, in the order in which the library makes tasks. */
  readonly channelNames: readonly string[];
  readonly sends: readonly { readonly node: string }[];
  readonly tasks: ReadonlyMap<string, PendingTask>;
  /** The run itself wrote this checkpoint. */
  readonly written: boolean;
}

export interface PendingTasks {
  checkpointPut(ns: string, saved: LibraryCheckpoint, metadata: { readonly step?: number }): void;
  checkpointRead(
    ns: string,
    saved: LibraryCheckpoint,
    metadata: { readonly step?: number },
    writes: readonly (readonly [taskId: string, channel: string, value: unknown])[],
  ): void;
  writesPut(ns: string, checkpointId: string, taskId: string, writes: readonly (readonly [string, unknown])[]): void;
  graphs(): ReadonlyMap<string, PendingGraph>;
}

const NULL_TASK = "00000000-0000-0000-0000-000000000000";

export function createPendingTasks(): PendingTasks {
  const graphs = new Map<string, PendingGraph & { readonly tasks: Map<string, PendingTask> }>();
  /** Writes for a checkpoint that is still to come: with durability `exit` the library hands them over first. */
  const early = new Map<string, { readonly checkpointId: string; readonly tasks: Map<string, PendingTask> }>();
  const note = (ns: string, saved: LibraryCheckpoint, step: number | undefined, written: boolean): void => {
    const sends = saved.channel_values["__pregel_tasks"];
    // The library may put a checkpoint again when it exits, and hand over its writes before.
    const same = [graphs.get(ns), early.get(ns)].find((known) => known?.checkpointId === saved.id);
    graphs.set(ns, {
      checkpointId: saved.id,
      step: (step ?? -1) + 1,
      channelNames: Object.keys(saved.channel_versions),
      sends: Array.isArray(sends) ? (sends as { readonly node: string }[]) : [],
      tasks: same?.tasks ?? new Map(),
      written,
    });
  };
  return {
    checkpointPut: (ns, saved, metadata) => note(ns, saved, metadata.step, true),
    checkpointRead(ns, saved, metadata, writes) {
      if (graphs.get(ns)?.checkpointId === saved.id) return;
      note(ns, saved, metadata.step, false);
      const byTask = Map.groupBy(writes, ([taskId]) => taskId);
      // An interrupt from an earlier run counts only when the task raises it again.
      for (const [taskId, list] of byTask)
        put(
          ns,
          saved.id,
          taskId,
          list.filter(([, channel]) => channel !== "__interrupt__").map(([, c, v]) => [c, v]),
        );
    },
    writesPut: put,
    graphs: () => graphs,
  };

  function put(
    ns: string,
    checkpointId: string,
    taskId: string,
    writes: readonly (readonly [string, unknown])[],
  ): void {
    if (taskId === NULL_TASK) return;
    const tasks = tasksOf(ns, checkpointId);
    const interrupts: RaisedInterrupt[] = [];
    let answersSaved = 0;
    let finished = false;
    for (const [channel, value] of writes) {
      if (channel === "__interrupt__") interrupts.push(...(Array.isArray(value) ? value : [value]));
      else if (channel === "__resume__") answersSaved = Array.isArray(value) ? value.length : 1;
      else if (channel !== "__error__" && channel !== "__error_source_node__") finished = true;
    }
    // At exit the library writes everything again, also the questions of tasks that have finished since.
    tasks.set(taskId, { interrupts: finished ? [] : interrupts, answersSaved, finished });
  }

  function tasksOf(ns: string, checkpointId: string): Map<string, PendingTask> {
    const graph = graphs.get(ns);
    if (graph?.checkpointId === checkpointId) return graph.tasks;
    const waiting = early.get(ns);
    if (waiting?.checkpointId === checkpointId) return waiting.tasks;
    const tasks = new Map<string, PendingTask>();
    early.set(ns, { checkpointId, tasks });
    return tasks;
  }
}
