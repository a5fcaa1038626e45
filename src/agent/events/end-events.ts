// Endings: the events that tell how a run ended. They are made from what the end's transaction stores, and told after it.
// Invariant end-events.1: nobody sees a pause that cannot be answered yet: what shows it comes with, or after, its commit.
import type { Interrupt } from "../model/model.ts";
import { VALUES_ONLY } from "../model/model.ts";
import type { HeldEvent, RunEnd, RunEvent } from "../ports/ports.ts";
import { interruptToWire, runEndError, runEndToText } from "../serializers/api-objects.ts";
import { AT_END } from "./event-batch.ts";
import { endMark } from "./end-mark.ts";
import type { Ending } from "./event-log.ts";

export interface LoggedEnd extends Omit<RunEnd, "valuesText"> {
  /** What waits on the thread from then on. */
  readonly pending?: readonly Interrupt[];
  /** What waited until then. */
  readonly closed?: readonly Interrupt[];
}

/** A breakpoint asks nothing. */
export function questionIds(waiting: readonly Interrupt[]): readonly string[] {
  return waiting.filter(({ kind }) => kind !== "breakpoint").map(({ interruptId }) => interruptId);
}

/** @param valuesText the state at the end, as JSON text */
export function endingOfLog(
  end: LoggedEnd,
  held: readonly HeldEvent[],
  valuesText: () => string | null,
  goneAt: number,
): Ending {
  const mark = endMark(end.run, questionIds(end.pending ?? []), questionIds(end.closed ?? []));
  return { events: endingEvents(end, held, valuesText), text: JSON.stringify(mark), goneAt };
}

export function endingEvents(
  end: Omit<RunEnd, "valuesText">,
  held: readonly HeldEvent[],
  valuesText: () => string | null,
): readonly RunEvent[] {
  const { run, pause, interrupts } = end;
  if (pause === null) {
    return run.endedBy === "done" ? [] : [{ name: "error", data: JSON.stringify(runEndError(run)) }];
  }
  const { modes } = run.request.stream ?? VALUES_ONLY;
  const questions = interrupts.map((interrupt) => interruptToWire(interrupt, true));
  const byLibraryId = new Map(interrupts.map((interrupt, at) => [interrupt.libraryId, questions[at] ?? {}]));
  const events: RunEvent[] = held.map(({ name, text }) => ({ name, data: text(byLibraryId) }));
  if (modes.includes("updates")) events.push({ name: "updates", data: JSON.stringify({ __interrupt__: questions }) });
  if (modes.includes("values")) {
    const text = (): string => runEndToText({ ...end, valuesText: valuesText() });
    events.push({ name: "values", data: { reference: AT_END, text } });
  }
  return events;
}
