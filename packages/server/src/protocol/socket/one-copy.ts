// One copy: live events that several subscriptions of a socket match are sent once.
// Invariants:
//   one-copy.1. A live event is sent by the first subscription that reaches it. A replay is sent whole: its subscriber has
//        not seen the events.
//   - The memory of a socket does not grow with its events: positions decide, because every subscription reads in the
//     order of `seq`.
import { type EventFilter, matches } from "../event-filter.ts";
import type { Piece } from "../read-events.ts";
import type { WireEvent } from "../convert/wire-event.ts";

export interface Followed {
  readonly filter: EventFilter;
  /** The first live event that the subscription had, and the last. Null before the first. */
  live: { readonly from: number; to: number } | null;
}

/** @param others the other subscriptions of the socket @returns the events to send */
export function firstCopies(
  own: Followed,
  others: Iterable<Followed>,
  { events, isLive }: Piece,
): readonly WireEvent[] {
  const [first] = events;
  const last = events.at(-1);
  if (!isLive || first === undefined || last === undefined) return events;
  own.live ??= { from: first.seq, to: first.seq };
  own.live.to = last.seq; // before anything is sent: another subscription may look while this one waits
  const rest = [...others].filter((other) => other !== own);
  return events.filter((event) => !rest.some((other) => hasSent(other, event))); // one-copy.1
}

function hasSent({ filter, live }: Followed, event: WireEvent): boolean {
  return live !== null && live.from <= event.seq && event.seq <= live.to && matches(filter, event);
}
