// End events: the events that describe the end of a run. Derived from the data of its last transaction, and published
// after it.
// Invariants:
//   - A pause becomes visible with or after its commit, so that every visible pause can be answered.
import type { Interrupt } from "../model/model.ts";
import { VALUES_ONLY } from "../model/model.ts";
import type { HeldEvent, RunEnd, RunEvent } from "../ports/ports.ts";
import { serializeInterrupt } from "../wire/api-objects.ts";
import { runEndError, serializeRunEnd } from "../wire/run-end.ts";
import { AT_END } from "./event-batch.ts";
import { endMark } from "./end-mark.ts";
import type { EndEvents } from "./event-log.ts";

export interface LoggedEnd extends Omit<RunEnd, "valuesText"> {
  /** Open interrupts after the end. */
  readonly pending?: readonly Interrupt[];
  /** Interrupts closed by the end. */
  readonly closed?: readonly Interrupt[];
}

/** Ids without breakpoints. */
export function questionIds(waiting: readonly Interrupt[]): readonly string[] {
  return waiting.filter(({ kind }) => kind !== "breakpoint").map(({ interruptId }) => interruptId);
}

/** @param valuesText final state as JSON text */
export function buildEndEvents(
  end: LoggedEnd,
  held: readonly HeldEvent[],
  valuesText: () => string | null,
  goneAt: number,
): EndEvents {
  const mark = endMark(end.run, questionIds(end.pending ?? []), questionIds(end.closed ?? []));
  return { events: eventsOfEnd(end, held, valuesText), text: JSON.stringify(mark), goneAt };
}

export function eventsOfEnd(
  end: Omit<RunEnd, "valuesText">,
  held: readonly HeldEvent[],
  valuesText: () => string | null,
): readonly RunEvent[] {
  const { run, pause, interrupts } = end;
  if (pause === null) {
    return run.endedBy === "done" ? [] : [{ name: "error", data: JSON.stringify(runEndError(run)) }];
  }
  const { modes } = run.request.stream ?? VALUES_ONLY;
  const shown = interrupts.map((interrupt) => serializeInterrupt(interrupt, true));
  const byLibraryId = new Map(interrupts.map((interrupt, at) => [interrupt.libraryId, shown[at] ?? {}]));
  const events: RunEvent[] = held.map(({ name, text }) => ({ name, data: text(byLibraryId) }));
  if (modes.includes("updates")) events.push({ name: "updates", data: JSON.stringify({ __interrupt__: shown }) });
  if (modes.includes("values")) {
    const text = (): string => serializeRunEnd({ ...end, valuesText: valuesText() });
    events.push({ name: "values", data: { reference: AT_END, text } });
  }
  return events;
}
