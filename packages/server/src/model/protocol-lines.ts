// Protocol lines: events of the thread protocol in the event log of a run that was started over the protocol.
// Invariants:
//   - A line with this prefix is no event of a REST stream: readers of runs and threads leave it out, or show it in
//     REST form (rest-event.ts).
//   - The text of a line is a ProtocolLine; the rest of the wire event follows from its place in the log.
import type { Json } from "@holdpoint/base/json/json.ts";

/** No stream mode has a name that begins so. */
export const PROTOCOL_PREFIX = "v3/";

/** Stands for lines that compaction removed; its text is their number. */
export const GONE_LINES = `${PROTOCOL_PREFIX}gone`;

export type ProtocolMethod =
  | "values"
  | "updates"
  | "messages"
  | "tools"
  | "lifecycle"
  | "checkpoints"
  | "tasks"
  | "custom"
  | "input.requested"
  | "input.answered";

export interface ProtocolLine {
  readonly namespace: readonly string[];
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly node?: string;
  readonly data: Json;
}

export function isProtocolLine(name: string): boolean {
  return name.startsWith(PROTOCOL_PREFIX);
}
