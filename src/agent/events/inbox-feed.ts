// Inbox feed: tells those who watch the inbox what has come, gone and been claimed, as it is committed.
// Invariants:
//   inbox-feed.1. What is told has been committed: an item that is announced can be answered.
//   inbox-feed.2. Bounded, however slow a reader is: EVENTS_KEPT events are kept for all of them together. Who asks for one that is
//        not kept any more, or that an earlier process has told, is told to load the list again.
//   inbox-feed.3. A reader sees the items of its scope and no others.
//   inbox-feed.4. Until somebody has watched, nothing is kept: a server whose inbox nobody watches pays nothing.
//   inbox-feed.5. A reader has its place from watch() to leave(), however long nothing happens: a dropped connection frees it at once.
import { isoTime } from "../../base/clock.ts";
import { ApiError } from "../../base/api-error.ts";
import type { NewId } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json/json.ts";
import type { SseEvent } from "../../http/server/sse.ts";
import { itemSummary } from "../serializers/inbox-item.ts";
import type { Interrupt, Scope } from "../model/model.ts";
import type { Wakes } from "../ports/ports.ts";
import { inScope } from "../auth/scope.ts";

/**
 * `added`: it waits from now on, or waits again. `answered`, `expired` and `removed`: it does not wait any more; answered
 * says by whom, removed says why.
 */
type InboxEventType = "added" | "claimed" | "released" | "answered" | "expired" | "removed";

/** `thread_busy`: a sibling was answered; if it still waits after that, it is added again. */
type RemovedWhy = "abandoned" | "thread_busy" | "deleted";

export interface InboxFeed {
  readonly added: (items: readonly Interrupt[], metadata: JsonObject) => void;
  changed(type: "claimed" | "released", item: Interrupt, metadata: JsonObject): void;
  /** Items of a thread that has gone on; their states say what became of each. */
  left(items: readonly Interrupt[], metadata: JsonObject): void;
  /** Items whose deadline has failed their thread. */
  expired(items: readonly Interrupt[], metadata: JsonObject): void;
  deleted(items: readonly Interrupt[], metadata: JsonObject): void;
  /** Items have come or gone in another process: readers are told to load the list again. */
  changedElsewhere(): void;
  /** Calls back with every item that is added, in this process. */
  onAdded(callback: (items: readonly Interrupt[]) => void): void;
  /** @param lastId where an earlier reading ended. @throws {ApiError} `overloaded` */
  watch(scope: Scope, lastId: string | null): InboxReading;
  /** Ends every reading. */
  close(): void;
}

export interface InboxReading {
  readonly events: AsyncIterable<SseEvent>;
  /** The reader has gone. */
  readonly leave: () => void;
}

/** What readers of the inbox listen to, so that other processes know that there are some. */
const CHANGES = "inbox";
const EVENTS_KEPT = 1000;
const READERS_MAX = 1000;
/** Metadata kept with an event, for scopes; of threads with more, scoped readers are told to load the list. */
const METADATA_UNITS_MAX = 4096;

interface Kept {
  readonly seq: number;
  readonly type: InboxEventType | "reload";
  readonly data: string;
  readonly metadata: JsonObject | null;
}

/** A reader's place. */
interface Seat {
  readonly left: () => boolean;
  readonly leave: () => void;
  /** Resolves when there is more to read, or the reader has left. */
  readonly change: () => Promise<void>;
}

/** @param onChange something has changed that readers in other processes do not see. */
export function createInboxFeed(newId: NewId, wakes: Pick<Wakes, "listen">, onChange: () => void): InboxFeed {
  const process = newId().slice(-12);
  const kept: Kept[] = [];
  const listeners: ((items: readonly Interrupt[]) => void)[] = [];
  let seq = 0;
  let watched = false;
  const closing = new AbortController();
  let readers = 0;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    const woken = [...waiting];
    waiting.clear();
    for (const resolve of woken) resolve();
  };

  const tell = (type: InboxEventType, item: Interrupt, metadata: JsonObject, more: JsonObject = {}): void => {
    onChange();
    if (!watched) return; // inbox-feed.4
    const data = JSON.stringify({ ...itemSummary(item), ...more });
    keep({ type, data, metadata: JSON.stringify(metadata).length > METADATA_UNITS_MAX ? null : metadata });
  };
  const keep = (event: Omit<Kept, "seq">): void => {
    seq++;
    kept.push({ seq, ...event });
    if (kept.length > EVENTS_KEPT) kept.shift(); // inbox-feed.2
    wake();
  };
  const removed = (item: Interrupt, metadata: JsonObject, reason: RemovedWhy): void =>
    tell("removed", item, metadata, { reason });
  const idOf = (at: number): string => `${process}.${at}`;
  /** The place after which to go on; null when what followed it is not kept. */
  const placeOf = (lastId: string): number | null => {
    const [of, at] = lastId.split(".");
    const place = Number(at);
    return of === process && place <= seq && place >= seq - kept.length ? place : null;
  };
  const reload = (): SseEvent => ({ event: "reload", data: "{}", id: idOf(seq) });

  const enter = (): Seat => {
    readers++;
    const leaveWakes = wakes.listen(CHANGES, () => undefined);
    let left = false;
    let wakeUp = (): void => undefined;
    return {
      left: () => left,
      change: () =>
        new Promise((resolve) => {
          wakeUp = resolve;
          waiting.add(resolve);
          if (left) resolve();
        }),
      leave() {
        if (left) return;
        left = true;
        leaveWakes();
        readers--;
        waiting.delete(wakeUp);
        wakeUp(); // inbox-feed.5: the generator may wait for an event that never comes
      },
    };
  };

  async function* watch(seat: Seat, scope: Scope, lastId: string | null): AsyncGenerator<SseEvent> {
    try {
      const known = lastId === null ? seq : placeOf(lastId);
      let place: number = known ?? seq;
      yield known === null ? reload() : { event: "ready", data: "{}", id: idOf(place) };
      while (!closing.signal.aborted && !seat.left()) {
        if (place < seq - kept.length) {
          place = seq;
          yield reload(); // inbox-feed.2
        }
        const next: Kept | undefined = kept[place - (seq - kept.length)];
        if (next === undefined) {
          await seat.change();
          continue;
        }
        place = next.seq;
        const { type, data, metadata } = next;
        if (type === "reload" || (scope !== null && metadata === null)) yield reload();
        else if (scope === null || inScope(metadata ?? {}, scope)) yield { event: type, data, id: idOf(place) }; // inbox-feed.3
      }
    } finally {
      seat.leave();
    }
  }

  return {
    added(items, metadata) {
      for (const item of items) tell("added", item, metadata);
      if (items.length > 0) for (const listener of listeners) listener(items);
    },
    changed: (type, item, metadata) => tell(type, item, metadata),
    left(items, metadata) {
      for (const item of items) {
        const { answer } = item;
        if (item.state === "answered" && answer !== null) {
          tell("answered", item, metadata, { by: answer.by, at: isoTime(answer.at), answer_run_id: answer.runId });
        } else removed(item, metadata, item.state === "open" ? "thread_busy" : "abandoned");
      }
    },
    expired(items, metadata) {
      for (const item of items) tell("expired", item, metadata);
    },
    deleted(items, metadata) {
      for (const item of items) removed(item, metadata, "deleted");
    },
    changedElsewhere() {
      if (readers > 0) keep({ type: "reload", data: "{}", metadata: null });
    },
    onAdded: (callback) => void listeners.push(callback),
    watch(scope, lastId) {
      if (readers >= READERS_MAX) {
        throw new ApiError(
          "overloaded",
          `${READERS_MAX} readers watch the inbox already.`,
          {},
          { "Retry-After": "30" },
        );
      }
      watched = true;
      const seat = enter();
      return { events: watch(seat, scope, lastId), leave: seat.leave };
    },
    close() {
      closing.abort();
      wake();
    },
  };
}
