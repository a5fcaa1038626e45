// Notice stream: the `GET` stream of the 2025 revisions, with notifications outside of calls.
import type { ServerEventBus } from "@modelcontextprotocol/server";
import { once } from "node:events";
import type { Clock } from "@holdpoint/base/clock.ts";
import { SSE_HEADERS, withHeartbeats } from "@holdpoint/base/http/server/sse.ts";

const HEARTBEAT_MS = 15_000;
const CHANGED = `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n\n`;

/** Ends with the signal of the request. */
export function noticeStream(bus: ServerEventBus, clock: Clock, signal: AbortSignal): Response {
  const pieces = withHeartbeats(notices(bus, signal), clock, { everyMs: HEARTBEAT_MS });
  const encoder = new TextEncoder();
  const body = ReadableStream.from(
    (async function* bytes() {
      for await (const piece of pieces) yield typeof piece === "string" ? encoder.encode(piece) : piece;
    })(),
  );
  return new Response(body, { headers: { ...SSE_HEADERS } });
}

async function* notices(bus: ServerEventBus, signal: AbortSignal): AsyncGenerator<string> {
  let changed = Promise.withResolvers<boolean>();
  const leave = bus.subscribe(() => changed.resolve(true));
  const over = signal.aborted ? Promise.resolve(false) : once(signal, "abort").then(() => false);
  try {
    while (await Promise.race([changed.promise, over])) {
      changed = Promise.withResolvers<boolean>();
      yield CHANGED; // several changes before a reader comes back are one
    }
  } finally {
    leave();
  }
}
