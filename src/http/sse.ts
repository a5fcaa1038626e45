// SSE: events over time → the text of a `text/event-stream` reply.
// Invariants:
//   SE1. An event without an id has no `id:` line: an empty one would clear the reader's place.
//   SE2. A heartbeat is a comment with one newline. With two, clients of the official SDK see an event of no name.
//   SE3. A reader that goes away ends its source.
import type { Clock } from "../base/clock.ts";

export interface SseEvent {
  readonly event: string;
  /** JSON text without line breaks. */
  readonly data: string;
  readonly id: string | null;
}

export const SSE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no", // proxies of the nginx family pass events on at once
};

const HEARTBEAT = ": hb\n";

export function sseText({ event, data, id }: SseEvent): string {
  return `event: ${event}\ndata: ${data}\n${id === null ? "" : `id: ${id}\n`}\n`; // SE1
}

/** @param pieces of the stream as they come about. Between them, a heartbeat whenever `everyMs` pass in silence. */
export async function* withHeartbeats(
  pieces: AsyncIterable<string | Uint8Array>,
  clock: Clock,
  everyMs: number,
): AsyncGenerator<string | Uint8Array> {
  const source = pieces[Symbol.asyncIterator]();
  try {
    let next = source.next();
    for (;;) {
      const { promise: silence, resolve } = Promise.withResolvers<null>();
      const cancel = clock.after(everyMs, () => resolve(null));
      const result = await Promise.race([next, silence]).finally(cancel);
      if (result === null) {
        yield HEARTBEAT; // SE2
        continue;
      }
      if (result.done === true) return;
      yield result.value;
      next = source.next();
    }
  } finally {
    void source.return?.(); // SE3; not awaited: a source that waits for its next event would keep the reader here
  }
}
