// Event order: events of a run in the order in which they come about, although long ones become text later than short
// ones.
// Invariant event-order.1: while an event becomes text, all later events wait behind it.
import type { RunEvent } from "../../agent/ports/ports.ts";

export interface EventOrder {
  readonly emit: (event: RunEvent) => void;
  emitLater(make: () => Promise<RunEvent>): void;
  /** Resolves when all events so far are emitted; undefined when none waits. @throws any error of `make` */
  done(): Promise<void> | undefined;
}

export function createEventOrder(emit: (event: RunEvent) => void): EventOrder {
  let last: Promise<void> | undefined;
  const after = (work: () => Promise<void> | void): void => {
    const next = (last ?? Promise.resolve()).then(work); // event-order.1
    const clear = (): void => {
      if (last === next) last = undefined;
    };
    next.then(clear, clear);
    last = next;
  };
  return {
    emit(event) {
      if (last === undefined) emit(event);
      else after(() => emit(event));
    },
    emitLater: (make) => after(async () => emit(await make())),
    done: () => last,
  };
}
