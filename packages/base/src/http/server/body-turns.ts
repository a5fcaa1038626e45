// Body turns: large bodies take turns where the memory of the process is limited. As bytes, text and objects, each takes
// several times its size until its call is accepted.
// Invariants:
//   body-turns.1. A body counts from its first byte until the reply, and at most HELD_MS after its last one: a call that
//        waits for its run is accepted by then.
//   body-turns.2. Small bodies never wait. A large one that waits WAIT_MS_MAX is refused.
//   - Of a body that waits nothing is read: it stays with its sender.
import type { IncomingMessage } from "node:http";
import { ApiError } from "../../api-error.ts";

/** @param bytes of the large bodies in memory, with the next one @param isFirst there are no others */
export type TakesBodies = (bytes: number, isFirst: boolean) => boolean;

export interface BodyTurn {
  /** The body is read: its turn ends soon. */
  readonly read: () => void;
  readonly leave: () => void;
}

/** Waits until a body of this size may be read. @throws {ApiError} `overloaded` */
export type EnterBody = (bytes: number) => Promise<BodyTurn>;

const SMALL_BYTES = 512 * 1024;
const HELD_MS = 1000;
const LOOK_AGAIN_MS = 100;
const WAIT_MS_MAX = 30_000;
const NO_TURN: BodyTurn = { read: () => undefined, leave: () => undefined };

export function createBodyTurns(takes: TakesBodies | undefined, waitMsMax = WAIT_MS_MAX): EnterBody {
  let bytesIn = 0;
  let line: Promise<unknown> = Promise.resolve();
  const take = async (bytes: number, until: number): Promise<void> => {
    const fits = (): boolean => takes?.(bytesIn + bytes, bytesIn === 0) ?? true;
    while (!fits()) {
      if (performance.now() > until) throw new ApiError("overloaded", FULL, {}, { "Retry-After": "5" });
      await new Promise((resolve) => void setTimeout(resolve, LOOK_AGAIN_MS));
    }
    bytesIn += bytes;
  };
  return async (bytes) => {
    if (bytes <= SMALL_BYTES || takes === undefined) return NO_TURN;
    const until = performance.now() + waitMsMax;
    const turn = line.then(() => take(bytes, until));
    line = turn.catch(() => undefined);
    await turn;
    let isHeld = true;
    const leave = (): void => {
      if (isHeld) bytesIn -= bytes;
      isHeld = false;
    };
    return { leave, read: () => void setTimeout(leave, HELD_MS).unref() };
  };
}

const FULL = "The memory takes no large body at present: send it again.";

/** What the head of a request says about its body; in chunks it may be as long as the limit. */
export function declaredBytes({ headers }: Pick<IncomingMessage, "headers">, bytesMax: number): number {
  const isChunked = headers["transfer-encoding"] !== undefined;
  return isChunked ? bytesMax : Math.min(Number(headers["content-length"] ?? 0), bytesMax);
}
