// State lines: the checkpoints and states of subgraphs → lines of the thread protocol, in pairs.
// Invariant state-lines.1: a state is bounded. A longer one is left out, with the checkpoint before it: clients replace
// their state by what comes, so a part of one would be wrong.
import type { RunEvent } from "../../../ports/ports.ts";
import { PROTOCOL_PREFIX } from "../../../model/protocol-lines.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";

/** Longest state, in UTF-16 units of its event. */
const STATE_UNITS_MAX = 1024 * 1024;

export interface StateLines {
  /** @param line waits for its state, which the library sends next */
  checkpoint(line: JsonObject): void;
  state(line: JsonObject): void;
  /** Call before anything else is sent. */
  readonly flush: () => void;
}

export function createStateLines(emit: (event: RunEvent) => void): StateLines {
  let waiting: JsonObject | null = null;
  const flush = (): void => {
    if (waiting !== null) emit({ name: `${PROTOCOL_PREFIX}checkpoints`, data: JSON.stringify(waiting) });
    waiting = null;
  };
  return {
    checkpoint(line) {
      flush();
      waiting = line;
    },
    state(line) {
      const data = JSON.stringify(line);
      if (data.length > STATE_UNITS_MAX) {
        waiting = null; // state-lines.1
        return;
      }
      flush();
      emit({ name: `${PROTOCOL_PREFIX}values`, data });
    },
    flush,
  };
}
