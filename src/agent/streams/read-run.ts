// Read run: the events of one run from some place on, in pieces ready for the wire, until the run has ended.
// Invariants:
//   read-run.1. Events come in order, each once. Where some are missing the reader is told, and not served as if none were.
//   read-run.2. A reader holds one piece at a time: however slow it is, it costs nobody but itself.
//   read-run.3. The stream ends when the run has ended, however that was found out.
//   read-run.4. A storage that fails ends no stream: the reader goes on from its place when the storage is back.
//   read-run.5. A piece is made in a slice of the event loop: many readers keep no other call waiting.
import type { AgentContext } from "../context.ts";
import { inSlice } from "../../base/slices.ts";
import { readUntilBack } from "../../base/storage-failure.ts";
import { END, wireBytes, wireText, type Batch, type LoggedEvent } from "../events/event-batch.ts";
import { droppedEvent, metadataEvent } from "../events/synthetic-events.ts";
import { createWakeSignal, CutOff, type Chunk, type Subscription } from "./subscription.ts";
import { withTexts } from "./hydrate-events.ts";
import { createSource, type Place } from "./event-source.ts";

/** Says by its name whether a reader wants an event; null is all of them. */
export type Wants = ((name: string) => boolean) | null;

export function readRun(agent: AgentContext, place: Place, attempt: number, wants: Wants): Subscription {
  const bell = createWakeSignal(agent.events, place.runId);
  const ending = agent.worker.ends.wait(place.runId);
  void ending.result.then(bell.ring);
  const log = agent.events.log(place.runId); // now: the run may end before its reader asks for the first piece
  const leave = (): void => {
    bell.leave();
    ending.leave();
  };
  const pick = (events: readonly LoggedEvent[]): readonly LoggedEvent[] =>
    wants === null ? events : events.filter(({ name }) => wants(name));
  const pieceOf = async (batch: Batch, from: number): Promise<Chunk> => {
    if (wants === null && batch.complete && from <= batch.first) return inSlice(() => wireBytes(batch));
    const events = await inSlice(() => pick(batch.events.filter(({ id }) => id >= from))); // read-run.5
    const shown = await withTexts(agent, place, events);
    return inSlice(() => wireText(shown, String));
  };
  /** read-run.4. @throws {CutOff} when the reader leaves, or the server stops, before the storage is back */
  const patiently = async <T>(read: () => Promise<T>): Promise<T> => {
    const found = await readUntilBack(agent.clock, read, () => bell.left() || agent.events.stopped());
    if (found === null) throw new CutOff("the storage is not back");
    return found;
  };
  async function* pieces(): AsyncGenerator<Chunk> {
    try {
      const source = createSource(agent, place, log);
      let next = place.after === null ? 0 : place.after + 1;
      let seen = place.after !== null;
      while (!bell.left()) {
        const found = await patiently(() => source.from(next));
        if (found === "nothing_yet") {
          await bell.next();
          continue;
        }
        if (!("events" in found)) {
          yield wireText(pick(found.last), String); // read-run.3
          return;
        }
        const first = found.events.find(({ id }) => id >= next);
        if (first !== undefined && first.id > next && first.name !== "metadata") {
          yield wireText([seen ? droppedEvent(next) : metadataEvent({ ...place, attempt })], String); // read-run.1
          if (seen) return;
        }
        const piece = await patiently(() => pieceOf(found, next));
        if (piece.length > 0) yield piece; // read-run.2
        if (found.events.at(-1)?.name === END) return;
        seen = true;
        next = found.last + 1;
      }
    } finally {
      leave();
    }
  }
  return { pieces: pieces(), leave };
}
