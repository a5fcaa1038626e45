// Batch: some events of a run in a row, and the texts they have: lines in storage, server-sent events on the wire.
// Invariant BA1: a batch is encoded for the wire once, however many read it.
import { sseText } from "../../http/sse.ts";

/** An event of a run, with its place in it. */
export interface LoggedEvent {
  readonly id: number;
  /** `values`, `updates|child:<uuid>`; or END, which closes the run's log. */
  readonly name: string;
  /** JSON text; null when only the reference is at hand. */
  readonly text: string | null;
  /** Where the text can be had again: a checkpoint's id, or AT_END for the state at the end of the run. */
  readonly reference: string | null;
}

/** The last event of a run. Those who read a run do not see it, those who read a thread see a run end. */
export const END = "end";
export const AT_END = "end";

export interface Batch {
  readonly first: number;
  readonly last: number;
  readonly events: readonly LoggedEvent[];
  /** Length of its texts, roughly what it takes in memory and in storage. */
  readonly units: number;
}

/** Lines and line breaks are the grammar of the wire and of storage: a node's name must not write any. */
export function eventName(name: string): string {
  return name.replaceAll(/[\r\n\t\0]/g, " ");
}

export function unitsOf({ name, text }: LoggedEvent): number {
  return name.length + (text?.length ?? 0) + 40;
}

export function batchOf(events: readonly LoggedEvent[]): Batch {
  const units = events.reduce((sum, event) => sum + unitsOf(event), 0);
  return { first: events[0]?.id ?? 0, last: events.at(-1)?.id ?? 0, events, units };
}

const encoded = new WeakMap<Batch, Uint8Array>();

/** All events of a batch, for readers who take them all. */
export function wireBytes(batch: Batch): Uint8Array {
  let bytes = encoded.get(batch);
  if (bytes === undefined) encoded.set(batch, (bytes = Buffer.from(wireTextOf(batch.events)))); // BA1
  return bytes;
}

export function wireTextOf(events: readonly LoggedEvent[], idOf: (id: number) => string = String): string {
  let text = "";
  for (const event of events) {
    if (event.name !== END && event.text !== null) {
      text += sseText({ event: event.name, data: event.text, id: idOf(event.id) });
    }
  }
  return text;
}
