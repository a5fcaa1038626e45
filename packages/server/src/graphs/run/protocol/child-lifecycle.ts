// Child lifecycle: when the namespaces below the root begin and end, as read from the chunks of a run. Pure
// bookkeeping.
// Invariants:
//   - A namespace starts with the first chunk under it, once, and its parents before it.
//   - It ends with the task that it belongs to, after the namespaces below it; a task that pauses interrupts it.

export type Namespace = readonly string[];
/** `paused`: interrupted, by a pause that is not stored yet. */
export type GraphEnd = "completed" | "failed" | "interrupted" | "paused";

export interface ChildLifecycle {
  /** @returns namespaces that begin with a chunk of this one, outermost first. */
  seen(ns: Namespace): readonly Namespace[];
  /** @returns namespaces that end with a task, innermost first. */
  ended(task: Namespace): readonly Namespace[];
  /** @returns those that the end of the run leaves, innermost first. */
  left(): readonly Namespace[];
}

export function createChildLifecycle(): ChildLifecycle {
  const open = new Map<string, Namespace>();
  const joinNamespace = (ns: Namespace): string => ns.join("|");
  const take = (matches: (key: string) => boolean): readonly Namespace[] => {
    const ending = [...open].filter(([key]) => matches(key));
    for (const [key] of ending) open.delete(key);
    return ending.map(([, ns]) => ns).toSorted((one, other) => other.length - one.length);
  };
  return {
    seen(ns) {
      const begun: Namespace[] = [];
      for (let depth = 1; depth <= ns.length; depth++) {
        const prefix = ns.slice(0, depth);
        if (open.has(joinNamespace(prefix))) continue;
        open.set(joinNamespace(prefix), prefix);
        begun.push(prefix);
      }
      return begun;
    },
    ended(task) {
      const key = joinNamespace(task);
      return take((one) => one === key || one.startsWith(`${key}|`));
    },
    left: () => take(() => true),
  };
}
