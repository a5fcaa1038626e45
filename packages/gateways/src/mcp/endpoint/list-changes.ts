// List changes: notifies readers of a changed list of assistants. Without a reader, nothing reads the storage.
import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import type { Clock } from "@holdpoint/base/clock.ts";

const POLL_MS = 5000;

/** @param version changes with every change of the assistants, in any process */
export function createListChanges(version: () => Promise<string>, clock: Pick<Clock, "after">): ServerEventBus {
  const listeners = new Set<(event: ServerEvent) => void>();
  let seen: string | null = null;
  let cancel: (() => void) | null = null;
  const versionOr = async (known: string | null): Promise<string | null> => {
    try {
      return await version();
    } catch {
      return known; // the storage is busy, or closed by now
    }
  };
  const publish = (event: ServerEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const poll = async (): Promise<void> => {
    const now = await versionOr(seen);
    if (seen !== null && now !== seen) publish({ kind: "tools_list_changed" });
    seen = now;
    if (listeners.size > 0) cancel = clock.after(POLL_MS, () => void poll());
  };
  return {
    publish,
    subscribe(listener) {
      listeners.add(listener);
      if (listeners.size === 1) void poll();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        cancel?.();
        seen = null;
      };
    },
  };
}
