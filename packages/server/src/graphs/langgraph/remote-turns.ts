// Remote turns: tasks of one run that call the same thread of another server. New input would give up the question of
// another task there, and a queued run would wait for its answer, which nobody could give before this run pauses.
// Rules:
//   - One task at a time calls a thread. A task that has asked there before this run comes first.
//   - While the question of another task is open there, a call leaves its task without one.

/** An interrupt as it is stored with its task. */
export interface RemoteQuestion {
  readonly id?: string;
  /** Absent in questions of this server. `thread`: server and id of the thread. */
  readonly remote?: { readonly graph_id: string; readonly thread: string; readonly task_id: string };
}

export interface Turn {
  /** @param asks the call has raised a question */
  leave(asks: boolean): void;
}

export interface RemoteTurns {
  /** @returns null while a question of another task is open on the thread */
  enter(thread: string, taskId: string): Promise<Turn | null>;
  /** This task has asked on the thread, and runs again. */
  expect(thread: string, taskId: string): void;
  /** The task has ended, or asks. */
  settle(taskId: string): void;
  /** All tasks run anew. */
  restart(): void;
}

interface AtThread {
  /** Tasks with a call in progress. */
  readonly inside: { readonly taskId: string }[];
  readonly expected: Set<string>;
  /** Tasks with an open question. */
  readonly asking: Set<string>;
}

export function createRemoteTurns(): RemoteTurns {
  const threads = new Map<string, AtThread>();
  let waiting: (() => void)[] = [];
  const changed = (): void => {
    for (const look of waiting.splice(0)) look();
  };
  const find = (thread: string): AtThread => {
    const known = threads.get(thread) ?? { inside: [], expected: new Set(), asking: new Set() };
    threads.set(thread, known);
    return known;
  };
  return {
    async enter(thread, taskId) {
      const { inside, expected, asking } = find(thread);
      const hasOther = (ids: Iterable<string>): boolean => [...ids].some((id) => id !== taskId);
      const isBehind = (): boolean =>
        hasOther(inside.map((one) => one.taskId)) || (!expected.has(taskId) && hasOther(expected));
      while (!hasOther(asking) && isBehind()) await new Promise<void>((look) => waiting.push(look));
      if (hasOther(asking)) return null;
      const own = { taskId };
      inside.push(own);
      expected.delete(taskId);
      asking.delete(taskId);
      return {
        leave(asks) {
          inside.splice(inside.indexOf(own), 1);
          if (asks) asking.add(taskId);
          changed();
        },
      };
    },
    expect: (thread, taskId) => void find(thread).expected.add(taskId),
    settle(taskId) {
      for (const { expected } of threads.values()) expected.delete(taskId);
      changed();
    },
    restart() {
      threads.clear();
      waiting = [];
    },
  };
}

/** Ends a task as a question does, without one. LangGraph knows its errors by these members. */
export function leavesTask(): Error {
  const error = new Error("another task of this run has asked on the same thread");
  return Object.assign(error, { name: "GraphInterrupt", is_bubble_up: true, interrupts: [] });
}
