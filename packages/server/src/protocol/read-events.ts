// Read events: the protocol events of a thread for one reader: stored events, then new ones.
// Invariants:
//   - Events come in the order of their seq, each once. Only stored events are shown, so that every process shows the same.
//   - A replay follows replay-rules.ts.
//   - A thread that does not exist, or is not within the reader's scope, is silent; both look the same. A thread that
//     leaves the scope disconnects its reader.
//   - A reader holds one page of rows at a time. It ends only when its thread is deleted; the last event closes the
//     questions that it was shown.
//   - A storage that fails ends no reader: it goes on from its place when the storage is back.
//   - A wake reaches all readers of a thread in one turn: those at the same place share one query and one copy of its
//     rows. A read that has begun takes no further readers: they may be woken by a later commit.
//   - A shared read decides nothing for a reader: scope, filter and replay rules come after it.
import { retryWhileUnavailable } from "@holdpoint/base/storage-failure.ts";
import { inScope } from "../auth/scope.ts";
import type { AgentContext } from "../context/context.ts";
import type { Scope, Thread } from "../model/model.ts";
import type { StoredEvents } from "../ports/ports.ts";
import { createWakeSignal, CutOff } from "../runs/streams/subscription.ts";
import { convertedRow, wantedBy } from "./convert/converted-row.ts";
import { type EventFilter, matches } from "./event-filter.ts";
import { createSelection } from "./shared-selection.ts";
import { toEventRow, baselineSeq } from "./convert/event-place.ts";
import { admits, attachedTo, type Attached } from "./replay-rules.ts";
import { type WireEvent, wireEvent } from "./convert/wire-event.ts";
import type { ClosedHow } from "../events/thread-note.ts";

export interface ReadQuery {
  readonly threadId: string;
  readonly filter: EventFilter;
  /** Asked each time: it may change while the reader stays. */
  readonly scope: () => Scope;
  /** The thread exists, and is within the scope. */
  readonly onAttached: () => void;
}

/** Events of one row, of rows of a replay, or of the baseline. The first look that finds nothing gives an empty piece. */
export interface Piece {
  readonly isBaseline: boolean;
  /** Stored after the reader attached. */
  readonly isLive: boolean;
  readonly events: readonly WireEvent[];
}

export interface Reading {
  /** Ends when the thread is deleted. @throws {CutOff} when the server stops, or after cut(). */
  readonly events: AsyncGenerator<Piece>;
  readonly leave: () => void;
  /** Ends the reading with CutOff: its caller may not read the thread any more. */
  readonly cut: () => void;
  /** Looks at the thread again: the scope may have changed. */
  readonly look: () => void;
}

/** The thread left the scope of its reader: its owner changed, or the rights of the reader. */
export class OutOfReach extends CutOff {}

export function readEvents(agent: AgentContext, query: ReadQuery): Reading {
  const { threadId, filter, onAttached } = query;
  const signal = createWakeSignal(agent.events, threadId);
  const { since } = filter;
  let isCut = false;
  let isCaughtUp = false;
  const select = createSelection(filter);
  const requests = createShownRequests();
  const wanted = wantedBy(filter);
  const whenAvailable = <T>(read: () => Promise<T>): Promise<{ readonly found: T }> =>
    readWhenAvailable(agent, signal.left, read);
  const openNow = async (): Promise<(interruptId: string) => boolean> => {
    const { found } = await whenAvailable(() => agent.storage.read(async (tx) => tx.interrupts(threadId, "open")));
    const open = new Set(found.map(({ interruptId }) => interruptId));
    return (interruptId) => open.has(interruptId);
  };
  /** The events of rows that come together, row by row. */
  async function* shown(rows: readonly StoredEvents[], at: Attached): AsyncGenerator<Piece> {
    let isOpen: ((interruptId: string) => boolean) | null = null;
    for (const row of rows) {
      if (signal.left()) return;
      if (isCut) throw new CutOff("the caller may not read the thread any more");
      const { found } = await whenAvailable(() => convertedRow(agent, row, wanted));
      let events = select(found);
      const isLive = row.seq > at.replayed;
      if (!isLive && since === null && events.some(({ gate }) => gate.kind !== "none")) {
        if (isOpen === null && events.some(asksStorage)) isOpen = await openNow();
        events = events.filter(({ gate }) => admits(gate, at, isOpen ?? (() => true)));
      }
      requests.take(events);
      if (events.length > 0) yield { isBaseline: false, isLive, events };
    }
  }
  async function* events(): AsyncGenerator<Piece> {
    try {
      let attached: Attached | null = null;
      let baseline: readonly WireEvent[] = [];
      let last = since === null ? 0 : Math.max(0, toEventRow(since) - 1);
      while (!signal.left()) {
        if (isCut) throw new CutOff("the caller may not read the thread any more");
        const { found } = await whenAvailable(() => readNext(agent, query, last, attached));
        if (found === "deleted") {
          yield { isBaseline: false, isLive: true, events: requests.deleted(last, agent.clock.now()) };
          return;
        }
        if (found === "out_of_reach") throw new OutOfReach("the thread left the scope of its reader");
        const newest = typeof found === "object" && "rows" in found ? found.rows.at(-1)?.seq : undefined;
        const isBehind = newest !== undefined && newest <= (attached?.replayed ?? 0);
        if (attached !== null && baseline.length > 0 && !isBehind) {
          requests.take(baseline);
          yield { isBaseline: true, isLive: false, events: baseline };
          baseline = [];
        }
        if (found === "nothing_yet") {
          if (!isCaughtUp) yield { isBaseline: false, isLive: true, events: [] };
          isCaughtUp = true;
          await signal.next();
          continue;
        }
        if ("runs" in found) {
          attached = found;
          onAttached();
          baseline = found.baseline.filter((event) => matches(filter, event));
          continue;
        }
        if (attached === null) continue;
        yield* joined(shown(found.rows, attached));
        last = newest ?? last;
      }
    } finally {
      signal.leave();
    }
  }
  const cut = (): void => {
    isCut = true;
    signal.wake();
  };
  return { events: events(), leave: signal.leave, cut, look: signal.wake };
}

/** @throws {CutOff} when the reader leaves or the server stops first */
async function readWhenAvailable<T>(
  { clock, events }: AgentContext,
  left: () => boolean,
  read: () => Promise<T>,
): Promise<{ readonly found: T }> {
  const found = await retryWhileUnavailable(
    clock,
    async () => ({ found: await read() }),
    () => left() || events.stopped(),
  );
  if (found === null) throw new CutOff("the storage is not back");
  return found;
}

const JOINED_UNITS = 64 * 1024;

/** Joins short rows of a replay: each piece costs a write to the connection. */
async function* joined(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let waiting: Piece[] = [];
  let units = 0;
  const take = (): Piece => {
    const [first, ...more] = waiting as [Piece, ...Piece[]];
    waiting = [];
    units = 0;
    return more.length === 0 ? first : { ...first, events: [first, ...more].flatMap(({ events }) => events) };
  };
  for await (const piece of pieces) {
    waiting.push(piece);
    for (const { text } of piece.events) units += text.length;
    if (piece.isLive || units >= JOINED_UNITS) yield take();
  }
  if (waiting.length > 0) yield take();
}

/** Whether a question is open now decides about the event. */
function asksStorage({ gate }: WireEvent): boolean {
  return gate.kind === "question" || gate.kind === "closed";
}

/** The first look attaches; each other one takes rows of the replay, or those that came later. */
async function readNext(
  agent: AgentContext,
  { threadId, scope, filter }: ReadQuery,
  after: number,
  attached: Attached | null,
): Promise<{ readonly rows: readonly StoredEvents[] } | Attached | "nothing_yet" | "deleted" | "out_of_reach"> {
  if (attached === null) {
    return agent.storage.read(async (tx) => {
      const thread = await tx.thread(threadId);
      const isThere = thread !== null && inScope(thread.metadata, scope());
      return isThere ? attachedTo(agent, tx, thread, filter) : "nothing_yet";
    });
  }
  const { thread, rows } = await rowsAfter(agent, threadId, after);
  if (thread === null) return "deleted";
  if (!inScope(thread.metadata, scope())) return "out_of_reach";
  const behind = rows.filter(({ seq }) => seq <= attached.replayed);
  if (behind.length > 0) return { rows: behind };
  return rows.length > 0 ? { rows } : "nothing_yet";
}

/**
 * The questions that a reader was shown and that still wait, for the last event of a deleted thread. Nothing of a deleted
 * thread is stored, so the event is made for each reader. Its id is that of the questions: a client that reconnected
 * meanwhile sees it once.
 */
interface ShownRequests {
  readonly take: (events: readonly WireEvent[]) => void;
  /** @param row the last one that was read @returns nothing if no question waits */
  readonly deleted: (row: number, timestamp: number) => readonly WireEvent[];
}

function createShownRequests(): ShownRequests {
  const waiting = new Set<string>();
  return {
    take(events) {
      for (const { gate } of events) {
        if (gate.kind === "question") waiting.add(gate.interruptId);
        else if (gate.kind === "closed") for (const id of gate.interruptIds) waiting.delete(id);
      }
    },
    deleted(row, timestamp) {
      const [first] = waiting;
      if (first === undefined) return [];
      const how: ClosedHow = "deleted";
      const id = `${first}:deleted:answered`;
      const parts = {
        seq: baselineSeq(row, Infinity),
        id,
        method: "input.answered",
        namespace: [],
        timestamp,
      } as const;
      return [wireEvent(parts, JSON.stringify({ interrupt_ids: [...waiting], how }))];
    },
  };
}

/** The rows of a thread that follow a place, read once for all readers that wait at that place. */
interface RowsAfter {
  /** Null if the thread does not exist. */
  readonly thread: Thread | null;
  readonly rows: readonly StoredEvents[];
}

/** Rows that are read together: one transaction for all of them. */
const PAGE = { limit: 64, bytesMax: 128 * 1024 };

const inFlight = new WeakMap<AgentContext, Map<string, Promise<RowsAfter>>>();

/** @param after number of the last row that the reader has */
function rowsAfter(agent: AgentContext, threadId: string, after: number): Promise<RowsAfter> {
  const reads = inFlight.get(agent) ?? new Map<string, Promise<RowsAfter>>();
  inFlight.set(agent, reads);
  const key = `${threadId}/${after}`;
  const shared = reads.get(key);
  if (shared !== undefined) return shared;
  // A storage may begin the work at once: the others that one wake reaches ask in the same turn.
  const own = Promise.resolve().then(() =>
    agent.storage.read(async (tx) => {
      reads.delete(key);
      const thread = await tx.thread(threadId);
      const place = { runId: null, afterSeq: after, fromId: 0 };
      const rows = thread === null ? [] : await tx.events(threadId, { ...place, ...PAGE });
      return { thread, rows };
    }),
  );
  reads.set(key, own);
  own.catch(() => void (reads.get(key) === own && reads.delete(key)));
  return own;
}
