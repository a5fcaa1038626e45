// Read events: the protocol events of a thread for one reader: what is kept, and then what comes.
// Invariants:
//   read-events.1. Events come in the order of their seq, each once. Only what is stored is shown, so that every process shows the same.
//   read-events.2. A replay follows replay-rules.ts.
//   read-events.3. A thread that does not exist, or is not within the reader's scope, is silent; both look the same. A thread
//        that leaves the scope disconnects its reader.
//   read-events.4. A reader holds one row at a time. It ends only when its thread is deleted.
//   read-events.5. A storage that fails ends no reader: it goes on from its place when the storage is back.
import { retryWhileUnavailable } from "../../base/storage-failure.ts";
import { inScope } from "../auth/scope.ts";
import type { AgentContext } from "../context.ts";
import type { Scope } from "../model/model.ts";
import type { StoredEvents } from "../ports/ports.ts";
import { createWakeSignal, CutOff } from "../streams/subscription.ts";
import { convertedRow } from "./convert/converted-row.ts";
import { type EventFilter, matches } from "./event-filter.ts";
import { createSelection } from "./shared-selection.ts";
import { rowOf } from "./convert/event-place.ts";
import { admits, attachedTo, type Attached } from "./replay-rules.ts";
import type { WireEvent } from "./convert/wire-event.ts";

export interface ReadQuery {
  readonly threadId: string;
  readonly filter: EventFilter;
  /** Asked each time: it may change while the reader stays. */
  readonly scope: () => Scope;
  /** The thread exists, and is within the scope. */
  readonly onAttached: () => void;
}

/** Events of one row, or of the baseline. */
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
  const select = createSelection(filter);
  /** read-events.5. */
  const whenAvailable = async <T>(read: () => Promise<T>): Promise<{ readonly found: T }> => {
    const found = await retryWhileUnavailable(
      agent.clock,
      async () => ({ found: await read() }),
      () => signal.left() || agent.events.stopped(),
    );
    if (found === null) throw new CutOff("the storage is not back");
    return found;
  };
  const openNow = async (events: readonly WireEvent[]): Promise<(interruptId: string) => boolean> => {
    if (!events.some(({ gate }) => gate.kind === "question" || gate.kind === "closed")) return () => true;
    const { found } = await whenAvailable(() => agent.storage.read(async (tx) => tx.interrupts(threadId, "open")));
    const open = new Set(found.map(({ interruptId }) => interruptId));
    return (interruptId) => open.has(interruptId);
  };
  const admitted = async (events: readonly WireEvent[], at: Attached, row: number): Promise<readonly WireEvent[]> => {
    const wanted = select(events);
    if (wanted.every(({ gate }) => gate.kind === "none")) return wanted;
    const place = { row, since, isOpen: await openNow(wanted) };
    return wanted.filter(({ gate }) => admits(gate, at, place));
  };
  async function* events(): AsyncGenerator<Piece> {
    try {
      let attached: Attached | null = null;
      let baseline: readonly WireEvent[] = [];
      let last = since === null ? 0 : Math.max(0, rowOf(since) - 1);
      while (!signal.left()) {
        if (isCut) throw new CutOff("the caller may not read the thread any more");
        const { found } = await whenAvailable(() => nextOf(agent, query, last, attached));
        if (found === "deleted") return; // read-events.4
        if (found === "out_of_reach") throw new OutOfReach("the thread left the scope of its reader");
        const isBehind = typeof found === "object" && "seq" in found && found.seq <= (attached?.replayed ?? 0);
        if (attached !== null && baseline.length > 0 && !isBehind) {
          yield { isBaseline: true, isLive: false, events: baseline };
          baseline = [];
        }
        if (found === "nothing_yet") {
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
        const converted = await whenAvailable(() => convertedRow(agent, found));
        last = found.seq;
        const shown = await admitted(converted.found, attached, found.seq);
        const isLive = found.seq > attached.replayed;
        if (shown.length > 0) yield { isBaseline: false, isLive, events: shown };
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

/** The first look attaches; each other one takes a row. */
async function nextOf(
  agent: AgentContext,
  { threadId, scope, filter }: ReadQuery,
  after: number,
  attached: Attached | null,
): Promise<StoredEvents | Attached | "nothing_yet" | "deleted" | "out_of_reach"> {
  return agent.storage.read(async (tx) => {
    const thread = await tx.thread(threadId);
    if (thread === null) return attached === null ? "nothing_yet" : "deleted"; // read-events.3
    if (!inScope(thread.metadata, scope())) return attached === null ? "nothing_yet" : "out_of_reach"; // read-events.3
    if (attached !== null) {
      const [row] = await tx.events(threadId, { runId: null, afterSeq: after, fromId: 0, limit: 1 });
      return row ?? "nothing_yet";
    }
    return attachedTo(agent, tx, thread, filter);
  });
}
