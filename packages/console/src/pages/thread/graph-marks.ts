// Graph marks: the state of the graph's nodes, derived from the checkpoints of a thread. Pure.
import type { ThreadState } from "../../api/types.ts";

export interface NodeHistory {
  /** Number of completed executions in the loaded checkpoints. */
  readonly times: number;
  readonly failed: boolean;
  /** Checkpoints from which it ran, newest first. */
  readonly checkpoints: readonly string[];
}

interface Task {
  readonly name?: unknown;
  readonly error?: unknown;
  readonly interrupts?: unknown;
}

/**
 * @param states newest first. An unfinished task of the newest state does not count; a task with an interrupt counts if
 * the graph continued from there, and not through a new input or an edit.
 */
export function buildHistories(states: readonly ThreadState[]): ReadonlyMap<string, NodeHistory> {
  const stories = new Map<string, NodeHistory>();
  const passed = new Set(
    states
      .filter(({ metadata }) => metadata["source"] === "loop")
      .map((state) => state.parent_checkpoint?.checkpoint_id),
  );
  states.forEach((state, at) => {
    for (const { name, error, interrupts } of state.tasks as readonly Task[]) {
      if (typeof name !== "string") continue;
      const failed = error !== null && error !== undefined;
      const waits = Array.isArray(interrupts) && interrupts.length > 0;
      const story = stories.get(name) ?? { times: 0, failed: false, checkpoints: [] };
      const wentOn = !waits || passed.has(state.checkpoint?.checkpoint_id);
      const ended = at > 0 && wentOn && !failed;
      stories.set(name, {
        times: story.times + (ended ? 1 : 0),
        failed: story.failed || (failed && at === 0),
        checkpoints: [...story.checkpoints, state.checkpoint?.checkpoint_id ?? ""],
      });
    }
  });
  return stories;
}

/**
 * The taken edges, as "source target": from the nodes of a checkpoint to the nodes of the next one. After parallel
 * nodes, each may have led to each.
 */
export function traversedEdges(states: readonly ThreadState[]): ReadonlySet<string> {
  const byId = new Map(states.map((state) => [state.checkpoint?.checkpoint_id, state]));
  const ways = new Set<string>();
  for (const state of states) {
    const before = byId.get(state.parent_checkpoint?.checkpoint_id);
    if (before === undefined || state.metadata["source"] !== "loop") continue; // an input or an edit starts afresh
    const targets = listTaskNames(state);
    for (const source of listTaskNames(before)) {
      for (const target of targets.length === 0 ? ["__end__"] : targets) ways.add(`${source} ${target}`);
    }
  }
  return ways;
}

const listTaskNames = ({ tasks }: ThreadState): readonly string[] =>
  (tasks as readonly Task[]).map(({ name }) => name).filter((name) => typeof name === "string");

/** Nodes where the thread is paused: at an interrupt or at a breakpoint. */
export function pausedNodes(newest: ThreadState | undefined, status: string): ReadonlySet<string> {
  if (newest === undefined || status !== "interrupted") return new Set();
  const asking = (newest.tasks as readonly Task[]).filter(
    ({ interrupts }) => Array.isArray(interrupts) && interrupts.length > 0,
  );
  const names = asking.map(({ name }) => String(name));
  return new Set(names.length > 0 ? names : newest.next);
}
