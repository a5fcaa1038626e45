// Event filter: which events of a thread a reader wants (docs/reference/thread-protocol.md). Pure.
// Invariants:
//   - `custom` includes every `custom:<name>`; a named channel includes only itself.
//   - A segment without ":" also matches the segment whose name it is; a depth counts only with namespaces.
import type { EventFilterBody } from "@holdpoint/api/protocol.ts";
import type { Namespace } from "./convert/channel.ts";

export interface EventFilter {
  readonly channels: ReadonlySet<string>;
  readonly namespaces: readonly Namespace[];
  readonly depth: number;
  /** Null replays the retained events by the rules of a new page; a number replays everything after it. */
  readonly since: number | null;
}

export interface Filtered {
  readonly channel: string;
  readonly namespace: Namespace;
}

export function toEventFilter({ channels, namespaces, depth, since }: EventFilterBody): EventFilter {
  return { channels: new Set(channels), namespaces: namespaces ?? [], depth: depth ?? Infinity, since: since ?? null };
}

const CHANNELS = ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"];

export function isKnownChannel(channel: string): boolean {
  return CHANNELS.includes(channel) || channel.startsWith("custom:");
}

export function matches({ channels, namespaces, depth }: EventFilter, { channel, namespace }: Filtered): boolean {
  const wanted = channels.has(channel) || (channel.startsWith("custom:") && channels.has("custom"));
  if (!wanted) return false;
  if (namespaces.length === 0) return true;
  return namespaces.some((prefix) => isPrefix(prefix, namespace) && namespace.length - prefix.length <= depth);
}

function isPrefix(prefix: Namespace, namespace: Namespace): boolean {
  return (
    prefix.length <= namespace.length &&
    prefix.every((segment, at) => {
      const own = namespace[at] ?? "";
      return own === segment || (!segment.includes(":") && own.split(":")[0] === segment);
    })
  );
}
