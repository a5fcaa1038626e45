// Forward queue: the requests that destinations still have to get, in order, with one cursor per destination. In durable
// mode the requests are in segments of their own in the spool's folder, in memory mode here.
// Invariants:
//   - In durable mode add() resolves when the request is on disk.
//   - A request goes when every destination has passed it.
//   - Beyond `bytesMax` or REQUESTS_MAX the oldest requests go before that: each destination that had not passed them
//     counts them as lost. A slow destination delays no other, and no sender.
import type { ForwardRequest } from "./forward-request.ts";
import type { ForwardStore, Place, StoredForward } from "./forward-store.ts";

export interface ForwardQueue {
  /** Rejects when the request cannot be written. */
  readonly add: (request: ForwardRequest) => Promise<void>;
  /** Requests from the destination's cursor on, up to `bytesMax` but at least one. Empty: it has passed all. */
  readonly next: (destination: string, bytesMax: number) => readonly NumberedRequest[];
  /** Moves the cursor over this request and all before it. */
  readonly pass: (destination: string, number: number) => void;
  /** Bytes and requests that the destination has not passed. */
  readonly countWaiting: (destination: string) => { readonly bytes: number; readonly requests: number };
  readonly countLost: (destination: string) => number;
  readonly close: () => Promise<void>;
}

export interface NumberedRequest {
  readonly number: number;
  readonly stored: StoredForward;
}

export interface ForwardQueueOptions {
  readonly destinations: readonly string[];
  readonly bytesMax: number;
  /** New requests, or lost ones: destinations may look again. */
  readonly onChange: () => void;
}

const REQUESTS_MAX = 100_000;

interface Cursor {
  /** Number of the next request. */
  at: number;
  lost: number;
}

export function createForwardQueue(options: ForwardQueueOptions, store: ForwardStore): ForwardQueue {
  const cursors = new Map<string, Cursor>();
  /** Requests by number: `requests[n - first]`. */
  let requests: StoredForward[] = [...store.recovered];
  let first = 0;
  /** The place after the newest request; null before the first one. */
  let end: Place | null = findEnd(requests.at(-1));
  let bytes = requests.reduce((sum, request) => sum + request.bytes, 0);
  for (const name of options.destinations) {
    const passed = store.passedBy(name);
    const at = requests.findIndex((request) => passed === null || isAfter(request, passed));
    cursors.set(name, { at: at < 0 ? requests.length : at, lost: 0 });
  }

  const findCursor = (name: string): Cursor => cursors.get(name) ?? { at: first + requests.length, lost: 0 };

  function trim(): void {
    let gone = Math.min(...[...cursors.values()].map(({ at }) => at)) - first;
    for (let at = 0; at < gone; at++) bytes -= requests[at]?.bytes ?? 0;
    while (gone < requests.length - 1 && (bytes > options.bytesMax || requests.length - gone > REQUESTS_MAX))
      bytes -= requests[gone++]?.bytes ?? 0;
    if (gone === 0) return;
    first += gone;
    for (const cursor of cursors.values()) {
      cursor.lost += Math.max(0, first - cursor.at);
      cursor.at = Math.max(cursor.at, first);
    }
    requests = requests.slice(gone);
    store.release(requests[0] ?? null);
  }

  function savePlaces(): void {
    const findPlace = (name: string, at: number): Place =>
      requests[at - first]?.place ?? end ?? store.passedBy(name) ?? START;
    store.savePassed(new Map([...cursors].map(([name, { at }]) => [name, findPlace(name, at)])));
  }

  return {
    async add(request) {
      const stored = await store.append(request);
      requests.push(stored);
      end = findEnd(stored);
      bytes += stored.bytes;
      if (bytes > options.bytesMax || requests.length > REQUESTS_MAX) trim();
      options.onChange();
    },
    next(name, bytesMax) {
      const from = findCursor(name).at - first;
      let to = from;
      for (let sum = 0; to < requests.length; to++) {
        sum += requests[to]?.bytes ?? 0;
        if (to > from && sum > bytesMax) break;
      }
      return requests.slice(from, to).map((stored, index) => ({ number: first + from + index, stored }));
    },
    pass(name, number) {
      const cursor = findCursor(name);
      cursor.at = Math.max(cursor.at, number + 1);
      trim();
      savePlaces();
    },
    countWaiting(name) {
      const left = requests.slice(findCursor(name).at - first);
      return { bytes: left.reduce((sum, one) => sum + one.bytes, 0), requests: left.length };
    },
    countLost: (name) => findCursor(name).lost,
    async close() {
      savePlaces();
      await store.close();
    },
  };
}

const START: Place = { segment: 0, offset: 0 };

function findEnd(last: StoredForward | undefined): Place | null {
  return last === undefined ? null : { segment: last.place.segment, offset: last.place.offset + last.bytes };
}

function isAfter({ place }: StoredForward, passed: Place): boolean {
  return place.segment > passed.segment || (place.segment === passed.segment && place.offset >= passed.offset);
}
