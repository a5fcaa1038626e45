// Graph marks: what the checkpoints of a thread say of the nodes of its graph. Pure.
import type { ThreadState } from "../../api/types.ts";

export interface NodeStory {
  /** How often it ran to its end, as far as the loaded checkpoints tell. */
  readonly times: number;
  readonly failed: boolean;
  /** Checkpoints that it ran from, the newest first. */
  readonly checkpoints: readonly string[];
}

interface Task {
  readonly name?: unknown;
  readonly error?: unknown;
  readonly interrupts?: unknown;
}

/**
 * @param states the newest first. A task of the newest that has not ended does not count; one that asked does when the
 * graph went on from there, and not by a new input or an edit.
 */
export function storiesOf(states: readonly ThreadState[]): ReadonlyMap<string, NodeStory> {
  const stories = new Map<string, NodeStory>();
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
 * The ways that were gone, as "source target": from what ran at a checkpoint to what ran at the one after it. Where
 * several ran at once, each may have led to each.
 */
export function waysOf(states: readonly ThreadState[]): ReadonlySet<string> {
  const byId = new Map(states.map((state) => [state.checkpoint?.checkpoint_id, state]));
  const ways = new Set<string>();
  for (const state of states) {
    const before = byId.get(state.parent_checkpoint?.checkpoint_id);
    if (before === undefined || state.metadata["source"] !== "loop") continue; // an input or an edit begins anew
    const targets = namesOf(state);
    for (const source of namesOf(before)) {
      for (const target of targets.length === 0 ? ["__end__"] : targets) ways.add(`${source} ${target}`);
    }
  }
  return ways;
}

const namesOf = ({ tasks }: ThreadState): readonly string[] =>
  (tasks as readonly Task[]).map(({ name }) => name).filter((name) => typeof name === "string");

/** Nodes at which the thread stands: with a question, or held back at a breakpoint. */
export function pausedNodes(newest: ThreadState | undefined, status: string): ReadonlySet<string> {
  if (newest === undefined || status !== "interrupted") return new Set();
  const asking = (newest.tasks as readonly Task[]).filter(
    ({ interrupts }) => Array.isArray(interrupts) && interrupts.length > 0,
  );
  const names = asking.map(({ name }) => String(name));
  return new Set(names.length > 0 ? names : newest.next);
}
