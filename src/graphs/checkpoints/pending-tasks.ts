// Pending tasks: a run's view of the tasks of its newest checkpoints, by namespace.
// The run checkpointer fills it as LangGraph writes; the run reads it at its pause or end.
import type { LibraryCheckpoint } from "./decode-checkpoint.ts";

export interface RaisedInterrupt {
  readonly id?: string;
  readonly value?: unknown;
  readonly response_schema?: unknown;
}

export interface PendingTask {
  readonly interrupts: readonly RaisedInterrupt[];
  /** Answers that the task used and saved. */
  readonly answersSaved: number;
  /** It has written results and does not run again. */
  readonly finished: boolean;
}

export interface PendingGraph {
  readonly checkpointId: string;
  readonly step: number;
  /** Possible node names of a pending task, in LangGraph's task order. */
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

const NO_RESULTS = new Set(["__error__", "__error_source_node__", "__shown__"]);

export function createPendingTasks(): PendingTasks {
  const graphs = new Map<string, PendingGraph & { readonly tasks: Map<string, PendingTask> }>();
  /** Writes for a future checkpoint: with durability `exit` LangGraph passes them first. */
  const early = new Map<string, { readonly checkpointId: string; readonly tasks: Map<string, PendingTask> }>();
  const note = (ns: string, saved: LibraryCheckpoint, step: number | undefined, written: boolean): void => {
    const sends = saved.channel_values["__pregel_tasks"];
    // At exit LangGraph may put a checkpoint again, and pass its writes before it.
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
      // An interrupt of an earlier run counts only if the task raises it again.
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
      else if (!NO_RESULTS.has(channel)) finished = true;
    }
    // At exit LangGraph writes everything again, including interrupts of tasks that finished since.
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
