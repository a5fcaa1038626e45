// Events: a stream of server-sent events that stays open while it has listeners. Uses fetch instead of EventSource,
// which cannot send the key.
// Invariants:
//   - A broken stream reconnects with backoff, after the last event read.
//   - Without listeners, the connection closes and callbacks stop.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { request } from "./client.ts";
import { ApiProblem } from "./problem.ts";

export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

export type StreamState = "connecting" | "open" | "closed";

const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 15_000;

/** @returns stops reading. */
export function listen(
  path: string,
  onEvent: (event: StreamEvent) => void,
  onState: (state: StreamState) => void,
): () => void {
  const stop = new AbortController();
  void read(path, onEvent, onState, stop.signal);
  return () => stop.abort();
}

async function read(
  path: string,
  onEvent: (event: StreamEvent) => void,
  onState: (state: StreamState) => void,
  signal: AbortSignal,
): Promise<void> {
  let lastId: string | null = null;
  let failures = 0;
  while (!signal.aborted) {
    onState("connecting");
    try {
      const headers = { accept: "text/event-stream", ...(lastId === null ? {} : { "last-event-id": lastId }) };
      const response = await request("GET", path, { headers, signal });
      onState("open");
      const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      const reader = events?.getReader();
      for (;;) {
        const next = await reader?.read();
        if (next === undefined || next.done) break;
        failures = 0;
        lastId = next.value.id ?? lastId;
        onEvent({ event: next.value.event ?? "message", data: JSON.parse(next.value.data) as unknown });
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem && error.status === 401) return onState("closed");
      failures++;
    }
    onState("closed");
    await pause(Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** failures), signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => resolve(clearTimeout(timer)), { once: true });
  });
}
