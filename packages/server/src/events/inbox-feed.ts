// Inbox feed: publishes changes of the inbox to its readers after their commits.
// Invariants:
//   inbox-feed.1. Every event follows its commit, so an announced item can be answered.
//   inbox-feed.2. A bounded buffer serves all readers, however slow: EVENTS_KEPT events. A client whose Last-Event-ID
//        is
//     no longer buffered, or comes from an earlier process, gets a `reload` event.
//   - A reader gets the events of items in its scope, and no others.
//   - Without a first reader, the feed keeps no events and costs nothing.
//   inbox-feed.5. A reader counts from watch() to leave(), even without events: a dropped connection frees it at once.
import { isoTime } from "@holdpoint/base/clock.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { SseEvent } from "@holdpoint/base/http/server/sse.ts";
import { inScope } from "../auth/scope.ts";
import type { AuditVia, Interrupt, Scope } from "../model/model.ts";
import type { Wakes } from "../ports/ports.ts";
import { itemSummary } from "../wire/inbox-item.ts";
import { createFeedBuffer, type FeedBuffer } from "./feed-buffer.ts";
import { createFeedReaders, type FeedReader } from "./feed-readers.ts";

/**
 * `added`: the item is open, again or for the first time. `updated`: a vote, a follow-up date, a comment, an escalation. `answered`, `expired` and `removed`: it is closed. `answered`
 * names the author, `removed` the reason.
 */
type InboxEventType = "added" | "claimed" | "released" | "updated" | "answered" | "expired" | "removed";

/** `thread_busy`: a sibling was answered. If the item is open afterwards, it is added again. */
type RemovalReason = "abandoned" | "thread_busy" | "deleted";

export interface InboxFeed {
  readonly added: (items: readonly Interrupt[], metadata: JsonObject) => void;
  changed(type: "claimed" | "released" | "updated", item: Interrupt, metadata: JsonObject): void;
  /** Items of a thread that continued. Their states determine the events. @param via channel of their answers */
  closed(items: readonly Interrupt[], metadata: JsonObject, via?: AuditVia): void;
  /** Items whose deadline failed their thread. */
  expired(items: readonly Interrupt[], metadata: JsonObject): void;
  deleted(items: readonly Interrupt[], metadata: JsonObject): void;
  /** The inbox changed in another process, so readers reload the list. */
  changedElsewhere(): void;
  /** Calls back with the items added in this process. */
  onAdded(callback: (items: readonly Interrupt[]) => void): void;
  /** Calls back with each item that was answered in this process, and the channel of its answer. */
  onAnswered(callback: (item: Interrupt, via: AuditVia) => void): void;
  /** @param lastId the last event of an earlier subscription. @throws {ApiError} `overloaded` */
  watch(scope: Scope, lastId: string | null): InboxSubscription;
  /** Ends every subscription. */
  close(): void;
}

export interface InboxSubscription {
  readonly events: AsyncIterable<SseEvent>;
  /** Call when the reader disconnects. */
  readonly leave: () => void;
}

/** Maximum size of metadata kept for scope checks. Beyond it, scoped readers get `reload`. */
const METADATA_UNITS_MAX = 4096;

type Buffer = FeedBuffer<InboxEventType | "reload">;

/** @param onChange called for changes that readers in other processes do not see */
export function createInboxFeed(newId: NewId, wakes: Pick<Wakes, "listen">, onChange: () => void): InboxFeed {
  const buffer: Buffer = createFeedBuffer(newId().slice(-12));
  const readers = createFeedReaders(wakes);
  const listeners: ((items: readonly Interrupt[]) => void)[] = [];
  const answerListeners: ((item: Interrupt, via: AuditVia) => void)[] = [];
  const closing = new AbortController();
  let watched = false;

  const publish = (type: InboxEventType, item: Interrupt, metadata: JsonObject, more: JsonObject = {}): void => {
    onChange();
    if (!watched) return;
    const data = JSON.stringify({ ...itemSummary(item), ...more });
    buffer.add({ type, data, metadata: JSON.stringify(metadata).length > METADATA_UNITS_MAX ? null : metadata });
    readers.wake();
  };
  const removed = (item: Interrupt, metadata: JsonObject, reason: RemovalReason): void =>
    publish("removed", item, metadata, { reason });

  return {
    added(items, metadata) {
      for (const item of items) publish("added", item, metadata);
      if (items.length > 0) for (const listener of listeners) listener(items);
    },
    changed: (type, item, metadata) => publish(type, item, metadata),
    closed(items, metadata, via = "api") {
      for (const item of items) {
        const { answer } = item;
        if (item.state === "answered" && answer !== null) {
          for (const tell of answerListeners) tell(item, via);
          publish("answered", item, metadata, { by: answer.by, at: isoTime(answer.at), answer_run_id: answer.runId });
        } else removed(item, metadata, item.state === "open" ? "thread_busy" : "abandoned");
      }
    },
    expired(items, metadata) {
      for (const item of items) publish("expired", item, metadata);
    },
    deleted(items, metadata) {
      for (const item of items) removed(item, metadata, "deleted");
    },
    changedElsewhere() {
      if (readers.count() === 0) return;
      buffer.add({ type: "reload", data: "{}", metadata: null });
      readers.wake();
    },
    onAdded: (callback) => void listeners.push(callback),
    onAnswered: (callback) => void answerListeners.push(callback),
    watch(scope, lastId) {
      const reader = readers.enter();
      watched = true;
      return { events: readFeed(buffer, reader, { scope, lastId, closing: closing.signal }), leave: reader.leave };
    },
    close() {
      closing.abort();
      readers.wake();
    },
  };
}

async function* readFeed(
  buffer: Buffer,
  reader: FeedReader,
  { scope, lastId, closing }: { readonly scope: Scope; readonly lastId: string | null; readonly closing: AbortSignal },
): AsyncGenerator<SseEvent> {
  const reload = (): SseEvent => ({ event: "reload", data: "{}", id: buffer.findMemberId(buffer.newest()) });
  try {
    const known = lastId === null ? buffer.newest() : buffer.findPosition(lastId);
    let position: number = known ?? buffer.newest();
    yield known === null ? reload() : { event: "ready", data: "{}", id: buffer.findMemberId(position) };
    while (!closing.aborted && !reader.left()) {
      let next = buffer.after(position);
      if (next === "lost") {
        position = buffer.newest();
        yield reload(); // inbox-feed.2
        next = buffer.after(position);
      }
      if (next === null || next === "lost") {
        if (next === null) await reader.change();
        continue;
      }
      position = next.seq;
      const { type, data, metadata } = next;
      if (type === "reload" || (scope !== null && metadata === null)) yield reload();
      else if (scope === null || inScope(metadata ?? {}, scope)) {
        yield { event: type, data, id: buffer.findMemberId(position) };
      }
    }
  } finally {
    reader.leave();
  }
}
