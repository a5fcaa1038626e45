// Notice sender: the lines for the other processes, as few statements as possible (notices.1).
import type { Client } from "pg";

/** For every process. */
export const CHANNEL = "holdpoint";
/** For API processes. */
export const CALLS_CHANNEL = "holdpoint_calls";
/** For workers. */
export const RUNS_CHANNEL = "holdpoint_runs";
const FOR_CALLS: ReadonlySet<string> = new Set(["wake", "ended", "gone", "inbox"]);
/** The line of a run that waits in the queue. */
export const QUEUED = "queued";
/** NOTIFY takes less than 8,000 bytes. */
const PAYLOAD_MAX = 7500;
const PENDING_MAX = 10_000;
/** The line of a gap: notices may be missing. */
export const MISSED = "missed";

export interface NoticeSender {
  /** Begins every payload, so that a process skips its own. */
  readonly self: string;
  /** Null while there is no connection: the lines wait for the next one. */
  client: Client | null;
  pending: Set<string>;
  sending: Promise<void> | null;
  stopped: boolean;
}

export function sendLine(sender: NoticeSender, line: string): void {
  if (sender.stopped) return;
  if (sender.pending.size >= PENDING_MAX) sender.pending = new Set([MISSED]);
  sender.pending.add(line);
  sender.sending ??= new Promise((resolve) => setImmediate(resolve))
    .then(() => flush(sender))
    .finally(() => {
      sender.sending = null;
      if (sender.client !== null) sendPending(sender);
    });
}

/** Sends the lines that wait for a connection. */
export function sendPending(sender: NoticeSender): void {
  if (sender.pending.size > 0) sendLine(sender, sender.pending.values().next().value ?? MISSED);
}

async function flush(sender: NoticeSender): Promise<void> {
  const { client, self } = sender;
  if (client === null) return; // after the reconnect
  const lines = [...sender.pending];
  sender.pending = new Set();
  try {
    for (const [channel, payload] of payloads(lines)) {
      await client.query({
        name: "notify",
        text: "SELECT pg_notify($1, $2)",
        values: [channel, `${self}\n${payload}`],
      });
    }
  } catch {
    sender.pending = new Set([MISSED]);
    client.end().catch(() => undefined); // it may be dead without a signal
  }
}

/** `[channel, payload]` for each channel with lines. */
function payloads(lines: readonly string[]): readonly (readonly [string, string])[] {
  const made: (readonly [string, string])[] = [];
  const open = new Map<string, string>();
  for (const line of lines) {
    const channel = channelFor(line.split(" ", 1)[0] ?? "");
    const before = open.get(channel);
    const isFull = before !== undefined && before.length + line.length >= PAYLOAD_MAX;
    if (isFull) made.push([channel, before]);
    open.set(channel, before === undefined || isFull ? line : `${before}\n${line}`);
  }
  return [...made, ...open];
}

function channelFor(kind: string): string {
  if (kind === QUEUED) return RUNS_CHANNEL;
  return FOR_CALLS.has(kind) ? CALLS_CHANNEL : CHANNEL;
}
