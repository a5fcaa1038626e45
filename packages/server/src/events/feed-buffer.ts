// Feed buffer: the newest events of the inbox feed, one sequence for all readers (inbox-feed.2).
import type { JsonObject } from "@holdpoint/base/json/json.ts";

const EVENTS_KEPT = 1000;

export interface FeedEvent<Type> {
  readonly seq: number;
  readonly type: Type;
  readonly data: string;
  /** Null if too large to keep. */
  readonly metadata: JsonObject | null;
}

export interface FeedBuffer<Type> {
  add(event: Omit<FeedEvent<Type>, "seq">): void;
  /** Sequence number of the newest event. */
  readonly newest: () => number;
  /** Event ids contain the process, because sequence numbers restart with it. */
  findMemberId(seq: number): string;
  /** @returns the position after this id; null if the buffer lacks the events that followed it */
  findPosition(lastId: string): number | null;
  /** @returns the event after this position; null if there is none yet, "lost" if the buffer dropped it */
  after(position: number): FeedEvent<Type> | "lost" | null;
}

/** @param process identifies this process in event ids */
export function createFeedBuffer<Type>(process: string): FeedBuffer<Type> {
  const kept: FeedEvent<Type>[] = [];
  let seq = 0;
  return {
    add(event) {
      seq++;
      kept.push({ seq, ...event });
      if (kept.length > EVENTS_KEPT) kept.shift();
    },
    newest: () => seq,
    findMemberId: (at) => `${process}.${at}`,
    findPosition(lastId) {
      const [of, at] = lastId.split(".");
      const position = Number(at);
      return of === process && position <= seq && position >= seq - kept.length ? position : null;
    },
    after(position) {
      const index = position - (seq - kept.length);
      return index < 0 ? "lost" : (kept[index] ?? null);
    },
  };
}
