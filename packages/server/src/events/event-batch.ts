// Event batch: consecutive events of a run, with two encodings: lines in storage, server-sent events for clients.
// Invariants:
//   - A batch is encoded for clients once, for any number of readers.
//   - buildEventRow and parseEvents are inverse, except for the text of a state stored elsewhere, and for removed lines
//     (GONE_LINES), which keep their ids.
import { sseText } from "@holdpoint/base/http/server/sse.ts";
import { GONE_LINES } from "../model/protocol-lines.ts";
import type { EventRow } from "../ports/ports.ts";
import { restEvent } from "./rest-event.ts";

/** An event of a run with its id. */
export interface LoggedEvent {
  /** Negative for an event without an id (synthetic-events.ts). */
  readonly id: number;
  /** `values`, `updates|child:<uuid>`; or END. */
  readonly name: string;
  /** JSON text; null if only the reference is in memory. */
  readonly text: string | null;
  /** Reference to the text: a checkpoint id, or AT_END for the result of the run. */
  readonly reference: string | null;
  /** Makes the text of a reference in memory until the state is stored, for a reader that comes in between. */
  render?: (() => string) | null;
}

/** The last event of a run. Readers of the run do not receive it; readers of the thread learn that the run ended. */
export const END = "end";
export const AT_END = "end";

export interface Batch {
  readonly first: number;
  readonly last: number;
  readonly events: readonly LoggedEvent[];
  /** Size of its texts, approximately that in memory and in storage. */
  readonly units: number;
  /** True if every event has its text. */
  readonly complete: boolean;
}

const UNITS_BESIDE_TEXT = 40;

export function countUnits({ name, text }: LoggedEvent): number {
  return name.length + (text?.length ?? 0) + UNITS_BESIDE_TEXT;
}

/** Both encodings use line breaks and tabs as delimiters, so event names must not contain them. */
export function eventName(name: string): string {
  return name.replaceAll(/[\r\n\t\0]/g, " ");
}

export function buildBatch(events: readonly LoggedEvent[]): Batch {
  const units = events.reduce((sum, event) => sum + countUnits(event), 0);
  const complete = events.every(({ text }) => text !== null);
  return { first: events[0]?.id ?? 0, last: events.at(-1)?.id ?? 0, events, units, complete };
}

const encoded = new WeakMap<Batch, Uint8Array>();

/** All events of a batch in one encoding, for readers of whole batches. */
export function eventStreamBytes(batch: Batch): Uint8Array {
  let bytes = encoded.get(batch);
  if (bytes === undefined) encoded.set(batch, (bytes = Buffer.from(eventStreamText(batch.events, String))));
  return bytes;
}

export function eventStreamText(events: readonly LoggedEvent[], shownId: (id: number) => string): string {
  let text = "";
  for (const logged of events) {
    const event = restEvent(logged);
    if (event === null || event.name === END || event.text === null) continue;
    text += sseText({ event: event.name, data: event.text, id: event.id < 0 ? null : shownId(event.id) });
  }
  return text;
}

const REFERENCE = "@"; // no JSON text begins with it

/** Encodes consecutive batches as one row. */
export function buildEventRow(
  run: { readonly threadId: string; readonly runId: string },
  batches: readonly Batch[],
  { goneAt, storedAt }: Pick<EventRow, "goneAt" | "storedAt">,
): EventRow {
  let lines = "";
  for (const { events } of batches) {
    for (const { name, text, reference } of events) {
      lines += `${name}\t${reference === null ? text : REFERENCE + reference}\n`;
    }
  }
  const { threadId, runId } = run;
  return { threadId, runId, first: batches[0]?.first ?? 0, last: batches.at(-1)?.last ?? 0, lines, goneAt, storedAt };
}

export function parseEvents({ first, lines }: Pick<EventRow, "first" | "lines">): readonly LoggedEvent[] {
  let next = first;
  return lines
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      const tab = line.indexOf("\t");
      const name = line.slice(0, tab);
      const kept = line.slice(tab + 1);
      const isReference = kept.startsWith(REFERENCE);
      next += name === GONE_LINES ? Number(kept) : 1;
      return {
        id: next - 1, // of the last one, for removed lines
        name,
        text: isReference ? null : kept,
        reference: isReference ? kept.slice(1) : null,
      };
    });
}

/** The lines of a row without those that `isGone` names; their ids stay taken. @returns null if none goes */
export function withoutLines(lines: string, isGone: (name: string, text: string) => boolean): string | null {
  let made = "";
  let gone = 0;
  let isChanged = false;
  const close = (): void => {
    if (gone > 0) made += `${GONE_LINES}\t${gone}\n`;
    gone = 0;
  };
  for (const line of lines.slice(0, -1).split("\n")) {
    const tab = line.indexOf("\t");
    const [name, text] = [line.slice(0, tab), line.slice(tab + 1)];
    if (name === GONE_LINES) gone += Number(text);
    else if (isGone(name, text)) {
      gone++;
      isChanged = true;
    } else {
      close();
      made += `${line}\n`;
    }
  }
  close();
  return isChanged ? made : null;
}
