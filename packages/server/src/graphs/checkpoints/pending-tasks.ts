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
  /** It threw. */
  readonly failed: boolean;
}

export interface PendingGraph {
  readonly checkpointId: string;
  readonly step: number;
  /** It holds an input that no task has taken yet. */
  readonly isInput: boolean;
  /** Possible node names of a pending task, in LangGraph's task order. */
  readonly channelNames: readonly string[];
  readonly sends: readonly { readonly node: string }[];
  readonly tasks: ReadonlyMap<string, PendingTask>;
  /** The run itself wrote this checkpoint. */
  readonly written: boolean;
}

/** The library's metadata of a checkpoint, as far as this file reads them. */
export interface CheckpointKind {
  readonly step?: number;
  readonly source?: string;
}

export interface PendingTasks {
  checkpointPut(ns: string, saved: LibraryCheckpoint, metadata: CheckpointKind): void;
  checkpointRead(
    ns: string,
    saved: LibraryCheckpoint,
    metadata: CheckpointKind,
    writes: readonly (readonly [taskId: string, channel: string, value: unknown])[],
  ): void;
  writesPut(ns: string, checkpointId: string, taskId: string, writes: readonly (readonly [string, unknown])[]): void;
  graphs(): ReadonlyMap<string, PendingGraph>;
  /** An update has written to the newest step of the root graph, and no checkpoint has taken it. */
  isUpdated(): boolean;
}

/** The task of an input, an update and a goto. */
export const NULL_TASK = "00000000-0000-0000-0000-000000000000";

const RAISED_AGAIN: ReadonlySet<string> = new Set(["__interrupt__", "__error__"]);

const NO_RESULTS = new Set(["__error__", "__error_source_node__", "__shown__"]);

export function createPendingTasks(): PendingTasks {
  const graphs = new Map<string, PendingGraph & { readonly tasks: Map<string, PendingTask> }>();
  let updatedAt: string | null = null;
  /** Writes for a future checkpoint: with durability `exit` LangGraph passes them first. */
  const early = new Map<string, { readonly checkpointId: string; readonly tasks: Map<string, PendingTask> }>();
  const note = (ns: string, saved: LibraryCheckpoint, metadata: CheckpointKind, written: boolean): void => {
    const sends = saved.channel_values["__pregel_tasks"];
    // At exit LangGraph may put a checkpoint again, and pass its writes before it.
    const same = [graphs.get(ns), early.get(ns)].find((known) => known?.checkpointId === saved.id);
    graphs.set(ns, {
      checkpointId: saved.id,
      step: (metadata.step ?? -1) + 1,
      isInput: metadata.source === "input",
      channelNames: Object.keys(saved.channel_versions),
      sends: Array.isArray(sends) ? (sends as { readonly node: string }[]) : [],
      tasks: same?.tasks ?? new Map(),
      written,
    });
  };
  return {
    checkpointPut: (ns, saved, metadata) => note(ns, saved, metadata, true),
    checkpointRead(ns, saved, metadata, writes) {
      if (graphs.get(ns)?.checkpointId === saved.id) return;
      note(ns, saved, metadata, false);
      const byTask = Map.groupBy(writes, ([taskId]) => taskId);
      // An interrupt or an error of an earlier run counts only if the task raises it again.
      for (const [taskId, list] of byTask)
        put(
          ns,
          saved.id,
          taskId,
          list.filter(([, channel]) => !RAISED_AGAIN.has(channel)).map(([, c, v]) => [c, v]),
        );
    },
    writesPut: put,
    graphs: () => graphs,
    isUpdated: () => updatedAt !== null && updatedAt === graphs.get("")?.checkpointId,
  };

  function put(
    ns: string,
    checkpointId: string,
    taskId: string,
    writes: readonly (readonly [string, unknown])[],
  ): void {
    if (taskId === NULL_TASK) {
      if (ns === "" && writes.some(([channel]) => channel !== "__resume__")) updatedAt = checkpointId;
      return;
    }
    const tasks = findTasks(ns, checkpointId);
    const interrupts: RaisedInterrupt[] = [];
    let answersSaved = 0;
    let finished = false;
    let failed = false;
    for (const [channel, value] of writes) {
      if (channel === "__interrupt__") interrupts.push(...(Array.isArray(value) ? value : [value]));
      else if (channel === "__resume__") answersSaved = Array.isArray(value) ? value.length : 1;
      else if (channel === "__error__") failed = true;
      else if (!NO_RESULTS.has(channel)) finished = true;
    }
    // At exit LangGraph writes everything again, including interrupts of tasks that finished since.
    finished &&= !failed;
    tasks.set(taskId, { interrupts: finished ? [] : interrupts, answersSaved, finished, failed });
  }

  function findTasks(ns: string, checkpointId: string): Map<string, PendingTask> {
    const graph = graphs.get(ns);
    if (graph?.checkpointId === checkpointId) return graph.tasks;
    const waiting = early.get(ns);
    if (waiting?.checkpointId === checkpointId) return waiting.tasks;
    const tasks = new Map<string, PendingTask>();
    early.set(ns, { checkpointId, tasks });
    return tasks;
  }
}
