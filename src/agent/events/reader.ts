// Reader: the events of one run from some place on, in pieces ready for the wire, until the run has ended.
// It reads from the log while the run is in progress here. Any number of readers see the same events.
// Invariants:
//   RE1. Events come in order, each once.
//   RE2. A reader holds one piece at a time: how slow it is costs nothing but its own time.
//   RE3. Whoever leaves waits for nothing any more.
import type { Agent } from "../agent.ts";
import { END, wireBytes, wireTextOf, type Batch } from "./batch.ts";
import type { EventLog } from "./log.ts";

export type Piece = string | Uint8Array;

export interface Reading {
  readonly pieces: AsyncIterable<Piece>;
  /** The reader has gone. */
  readonly leave: () => void;
}

/** The run is taken up elsewhere, or later: the connection is cut, so that its client comes again. */
class CutOff extends Error {
  override readonly name = "CutOff";
}

/**
 * @param from the id of the first event to read
 * @param wants says by their names which events are read; null for all
 */
export function readRun(
  agent: Agent,
  run: { readonly threadId: string; readonly runId: string },
  from: number,
  wants: ((name: string) => boolean) | null,
): Reading {
  const { events } = agent;
  let log: EventLog | null = events.log(run.runId);
  const state = { left: false };
  let woken = false;
  let wake: () => void = () => undefined;
  const onWake = (): void => {
    woken = true;
    wake();
  };
  const stopListening = events.wakes.listen(run.runId, onWake);
  const stopWatchingTheHub = events.onStop(onWake);
  const ending = agent.worker.ends.wait(run.runId);
  void ending.result.then(onWake);
  const leave = (): void => {
    state.left = true;
    stopListening();
    stopWatchingTheHub();
    ending.leave();
    onWake();
  };
  const change = async (): Promise<void> => {
    if (!woken) await new Promise<void>((resolve) => (wake = resolve));
    woken = false;
  };
  async function* pieces(): AsyncGenerator<Piece> {
    let position = from;
    try {
      while (!state.left) {
        log ??= events.log(run.runId);
        const batch = log?.from(position) ?? null;
        if (batch !== null) {
          const piece = pieceOf(batch, position, wants);
          position = batch.last + 1;
          if (piece.length > 0) yield piece;
          if (batch.events.at(-1)?.name === END) return;
          continue;
        }
        if (events.stopped()) throw new CutOff("the server stops");
        await change(); // RE3
      }
    } finally {
      leave();
    }
  }
  return { pieces: pieces(), leave };
}

function pieceOf(batch: Batch, position: number, wants: ((name: string) => boolean) | null): Piece {
  if (wants === null && position <= batch.first) return wireBytes(batch);
  return wireTextOf(batch.events.filter(({ id, name }) => id >= position && (wants === null || wants(name))));
}
