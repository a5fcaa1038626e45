// Read body: reads the bytes of one request and counts them on arrival.
// Invariants:
//   - It keeps at most `bytesMax` bytes, regardless of Content-Length, and each byte only after its
//   admission.
//   read-body.2. The watch closes a stalled or slow request: after PROGRESS_MS without PROGRESS_BYTES, or after BODY_MS.
//   - It reads and discards a refused body, up to DISCARD_BYTES_MAX, so that the sender can read the reply.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { Clock } from "@holdpoint/base/clock.ts";
import { freeBuffer } from "../shared/free-buffer.ts";

export type BodyOutcome =
  | { readonly kind: "read"; readonly body: Buffer }
  | { readonly kind: "too_large" }
  | { readonly kind: "no_room" }
  | { readonly kind: "too_slow" }
  /** The sender disconnected: no reply is possible. */
  | { readonly kind: "gone" };

export interface BodyLimits {
  readonly bytesMax: number;
  readonly contentLength: number | null;
  readonly grow: (bytes: number) => boolean;
}

const AT_ONCE_BYTES = 1024 * 1024;
const DISCARD_BYTES_MAX = 16 * 1024 * 1024;
const PROGRESS_MS = 10_000;
const PROGRESS_BYTES = 1024;
/** As the time limit of a request in HTTP, which gRPC does not have. */
const BODY_MS = 300_000;
const EMPTY = Buffer.alloc(0);

export function readBody(request: Readable, limits: BodyLimits, watch: ProgressWatch): Promise<BodyOutcome> {
  const { contentLength, bytesMax } = limits;
  if (contentLength !== null && contentLength > bytesMax) return Promise.resolve({ kind: "too_large" });
  // One allocation for the usual body; for a large Content-Length, memory grows with the bytes that arrive.
  const expected = contentLength !== null && contentLength <= AT_ONCE_BYTES ? contentLength : 0;
  if (expected > 0 && !limits.grow(expected)) return Promise.resolve({ kind: "no_room" });
  return new Promise((resolve) => {
    let whole: Buffer | null = null;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stopWatching = watch.add({ bytes: () => bytes, tooSlow: () => finish({ kind: "too_slow" }) });
    const onData = (chunk: Buffer): void => {
      const before = bytes;
      bytes += chunk.length;
      if (bytes > bytesMax) return finish({ kind: "too_large" });
      if (bytes > expected && !limits.grow(bytes - Math.max(before, expected))) return finish({ kind: "no_room" });
      if (chunks.length === 0 && whole === null && (expected === 0 || chunk.length === expected)) {
        chunks.push(chunk);
        return;
      }
      if (expected === 0) return void chunks.push(chunk);
      whole ??= Buffer.allocUnsafeSlow(expected);
      chunk.copy(whole, before);
      freeBuffer(chunk);
    };
    const onEnd = (): void => {
      if (chunks.length <= 1) return finish({ kind: "read", body: whole ?? chunks[0] ?? EMPTY });
      const body = Buffer.concat(chunks);
      chunks.forEach(freeBuffer);
      finish({ kind: "read", body });
    };
    const onGone = (): void => finish({ kind: "gone" });
    function finish(outcome: BodyOutcome): void {
      stopWatching();
      // No event follows the end, and removing four listeners costs more than leaving them.
      if (outcome.kind !== "read") request.off("data", onData).off("end", onEnd);
      resolve(outcome);
    }
    request.on("data", onData);
    request.on("end", onEnd);
    request.on("close", onGone);
    request.on("error", onGone);
  });
}

export function discard(request: IncomingMessage): void {
  let bytes = 0;
  request.on("error", () => undefined);
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    freeBuffer(chunk);
    if (bytes > DISCARD_BYTES_MAX) request.destroy();
  });
}

interface Watched {
  readonly bytes: () => number;
  readonly tooSlow: () => void;
}

/** One timer for all active bodies. */
export interface ProgressWatch {
  readonly add: (watched: Watched) => () => void;
}

export function createProgressWatch(clock: Clock): ProgressWatch {
  const active = new Set<Watched & { readonly begun: number; since: number; seen: number }>();
  let armed = false;
  const checkProgress = (): void => {
    armed = false;
    const now = clock.monotonic();
    for (const body of active) {
      if (now - body.since < PROGRESS_MS) continue;
      const bytes = body.bytes();
      if (bytes - body.seen < PROGRESS_BYTES || now - body.begun > BODY_MS) body.tooSlow(); // read-body.2
      body.seen = bytes;
      body.since = now;
    }
    arm();
  };
  const arm = (): void => {
    if (armed || active.size === 0) return;
    armed = true;
    clock.after(PROGRESS_MS / 5, checkProgress);
  };
  return {
    add(watched) {
      const begun = clock.monotonic();
      const body = { ...watched, begun, since: begun, seen: 0 };
      active.add(body);
      arm();
      return () => void active.delete(body);
    },
  };
}
