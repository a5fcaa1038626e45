// Task watch: namespace and path of the tasks of a run, as LangGraph passes them to its callbacks.
// Node names suffice to place the tasks of a state graph (open-interrupts.ts). Tasks of the functional API have names
// that no graph declares, and parents that no checkpoint names: only the engine knows their namespaces.
// Invariant: a namespace is the engine's own text; this file never builds one.

export interface WatchedTask {
  readonly ns: string;
  /**
   * `["__pregel_pull", node]`, `["__pregel_push", position, …]`, or `["__pregel_push", <path of the caller>, position,
   * …]`.
   */
  readonly path: readonly unknown[];
}

export interface TaskWatch {
  /** For the `callbacks` of a run. A plain object: any copy of LangGraph accepts it. */
  readonly callback: object;
  of(taskId: string): WatchedTask | undefined;
}

/** Limit of remembered tasks; an older one gets its place as in an unwatched run. */
const TASKS_MAX = 10_000;

export function createTaskWatch(): TaskWatch {
  const tasks = new Map<string, WatchedTask>();
  const note = (...[, , , , , meta]: ChainStart): void => {
    const ns = meta?.["langgraph_checkpoint_ns"];
    const path = meta?.["langgraph_path"];
    if (typeof ns !== "string" || !Array.isArray(path)) return;
    const taskId = ns.slice(ns.lastIndexOf(":") + 1);
    if (tasks.has(taskId)) return; // a step inside the task
    tasks.set(taskId, { ns, path });
    if (tasks.size <= TASKS_MAX) return;
    const [oldest] = tasks.keys();
    if (oldest !== undefined) tasks.delete(oldest);
  };
  return {
    callback: {
      name: "holdpoint_tasks",
      awaitHandlers: true, // before the task runs, not when a queue gets to it
      ignoreLLM: true,
      ignoreRetriever: true,
      ignoreAgent: true,
      handleChainStart: note,
    },
    of: (taskId) => tasks.get(taskId),
  };
}

/** The arguments of the library's `handleChainStart`. */
type ChainStart = [
  chain: unknown,
  input: unknown,
  id: unknown,
  parentId: unknown,
  tags: unknown,
  metadata?: Readonly<Record<string, unknown>>,
];
