// SSE: events over time → the text of a `text/event-stream` reply.
// Invariants:
//   - An event without an id has no `id:` line: an empty one would reset the reader's position.
//   - A heartbeat is a comment with one newline. After two, clients of the official SDK see an unnamed event.
//   - A disconnected reader ends its source.
//   - The first heartbeat comes soon: some proxies hold the headers back until the body begins.
import type { Clock } from "../../clock.ts";
import { repeatedWait } from "./repeated-wait.ts";

export interface SseEvent {
  readonly event: string;
  /** JSON text without line breaks. */
  readonly data: string;
  readonly id: string | null;
}

/** For a reply whose pieces have to arrive as they are written: a proxy that compresses would collect them first. */
export const UNBUFFERED: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no", // nginx-style proxies
};

export const SSE_HEADERS: Readonly<Record<string, string>> = { "Content-Type": "text/event-stream", ...UNBUFFERED };

/** How a stream shows that it lives. */
export interface Heartbeat {
  readonly everyMs: number;
  /** One line. */
  readonly comment?: string;
  /** Also while pieces arrive: some clients measure the time between comments. */
  readonly isSteady?: boolean;
}

const COMMENT = ": hb\n";
const FIRST_MS = 1000;

export function sseText({ event, data, id }: SseEvent): string {
  return `event: ${event}\ndata: ${data}\n${id === null ? "" : `id: ${id}\n`}\n`;
}

/** @param pieces of the stream, as they arrive. Between them, a heartbeat after every `everyMs` of silence. */
export async function* withHeartbeats(
  pieces: AsyncIterable<string | Uint8Array>,
  clock: Clock,
  { everyMs, comment = COMMENT, isSteady = false }: Heartbeat,
): AsyncGenerator<string | Uint8Array> {
  const source = pieces[Symbol.asyncIterator]();
  try {
    let next = repeatedWait(source.next(), clock);
    let dueAt = clock.monotonic() + Math.min(everyMs, FIRST_MS);
    for (;;) {
      const result = await next.within(Math.max(0, dueAt - clock.monotonic()));
      if (result?.done === true) return;
      const isDue = clock.monotonic() >= dueAt;
      if (result === null || (isSteady && isDue)) yield comment;
      if (result === null || isDue || !isSteady) dueAt = clock.monotonic() + everyMs;
      if (result === null) continue;
      yield result.value;
      next = repeatedWait(source.next(), clock);
    }
  } finally {
    void source.return?.(); // not awaited: a source that waits for its next event would block here
  }
}
