// Raised before: the interrupts that tasks had when a run began.
import type { RemoteQuestion, RemoteTurns } from "../langgraph/remote-turns.ts";

type Write = readonly [taskId: string, channel: string, value: unknown];

/** @param raised by task */
export function readRaised(writes: readonly Write[], raised: Map<string, readonly unknown[]>): void {
  for (const [taskId, list] of Map.groupBy(writes, ([id]) => id)) {
    const interrupts = list.filter(([, channel]) => channel === "__interrupt__");
    if (interrupts.length === 0) continue;
    raised.set(
      taskId,
      interrupts.flatMap(([, , value]) => value),
    );
  }
}

/** Channels of a task that runs again. */
const AT_REST: ReadonlySet<string> = new Set(["__interrupt__", "__resume__", "__error__"]);

/** Tasks that have asked on another server, and call it again in this run. */
export function noteAskers(writes: readonly Write[], turns: Pick<RemoteTurns, "expect">): void {
  const done = new Set(writes.flatMap(([taskId, channel]) => (AT_REST.has(channel) ? [] : taskId)));
  for (const [taskId, channel, value] of writes) {
    if (channel !== "__interrupt__" || done.has(taskId)) continue;
    for (const { remote } of (Array.isArray(value) ? value : [value]) as readonly RemoteQuestion[])
      if (remote?.task_id === taskId) turns.expect(remote.thread, taskId);
  }
}
