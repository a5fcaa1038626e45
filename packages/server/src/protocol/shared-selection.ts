// Shared selection: the events of a row that match a filter, selected and encoded once for all readers with that filter.
// Invariants:
//   - Readers with equal filters share one list per row, and its bytes; both go with the row.
//   - Lists with events that depend on the reader (gates, a position) are not shared.
import { type EventFilter, matches } from "./event-filter.ts";
import type { WireEvent } from "./convert/wire-event.ts";

type Events = readonly WireEvent[];

const selections = new WeakMap<Events, Map<string, Events>>();
const encoded = new WeakMap<Events, Uint8Array>();

/** @returns a function that selects the events of a row */
export function createSelection(filter: EventFilter): (row: Events) => Events {
  const { channels, namespaces, depth, since } = filter;
  const key = JSON.stringify([[...channels].toSorted(), namespaces, depth]);
  const isAfter = ({ seq }: WireEvent): boolean => since === null || seq > since;
  return (row) => {
    const byFilter = selections.get(row) ?? new Map<string, Events>();
    selections.set(row, byFilter);
    let selected = byFilter.get(key);
    if (selected === undefined) byFilter.set(key, (selected = row.filter((event) => matches(filter, event))));
    return selected.every(isAfter) ? selected : selected.filter(isAfter);
  };
}

export function eventStreamBytes(events: Events): Uint8Array {
  let bytes = encoded.get(events);
  if (bytes === undefined) {
    let text = "";
    for (const event of events) text += `id: ${event.id}\nevent: ${event.method}\ndata: ${event.text}\n\n`;
    encoded.set(events, (bytes = Buffer.from(text)));
  }
  return bytes;
}
