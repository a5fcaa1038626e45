// Processing: the steps from a body to sealed batches, as the receiver, the spool and the metrics see them: in this
// thread, or in worker threads (workers/).
import { kindOf } from "../logs/record-kinds.ts";
import { type Decoded, itemsOf } from "../otlp/decoded.ts";
import { decode } from "../receive/decode-body.ts";
import type { BodyOf, ReadItems, ReadItemsOf } from "../receive/read-items.ts";
import type { Pipeline } from "./pipeline.ts";

export interface Processing extends Pick<Pipeline, "recall" | "heldBytes" | "heldBytesOf" | "stats" | "flush"> {
  readonly read: ReadItemsOf;
  /** Called after a worker thread has fed items: there may be room for more. */
  readonly onRoom: (listener: () => void) => void;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** CPU seconds of each worker thread. */
  readonly threads: () => Promise<readonly number[]>;
  /** Of worker threads that crashed. */
  readonly restarts: () => number;
}

/** In this thread: no copy, no message. */
export function createLocalProcessing(pipeline: Pipeline): Processing {
  const itemsFrom = (decoded: Decoded, { context, signal }: BodyOf): ReadItems => ({
    signal,
    items: itemsOf(decoded),
    rejected: decoded.rejected,
    reason: decoded.reason,
    repairedTexts: decoded.repairedTexts,
    isNothingStored: isNothingStored(decoded),
    feed: (request) => pipeline.feed(decoded, context, request),
    discard: () => undefined,
  });
  return {
    ...pipeline,
    onRoom: () => undefined, // the caller awaits each feed
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    threads: () => Promise.resolve([]),
    restarts: () => 0,
    read(body, of) {
      const step = decode(body, of.format, of.signal);
      return step instanceof Promise ? step.then((decoded) => itemsFrom(decoded, of)) : itemsFrom(step, of);
    },
  };
}

/** Log records of which none is about generative AI. */
export function isNothingStored({ records, spans }: Decoded): boolean {
  return spans.length === 0 && records.length > 0 && records.every((record) => kindOf(record) === "other");
}
