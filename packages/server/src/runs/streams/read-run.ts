// Run reader: the encoded events of one run from a position to its end.
// Invariants:
//   - Events arrive in order, each once. A gap produces a synthetic event.
//   - A reader holds one chunk at a time, so that a slow reader has no effect on others.
//   - The stream ends when the run has ended, however the end is detected.
//   - A storage failure does not end a stream: the reader continues from its position once the storage is back.
//   - The stream of a pending run says once that its thread waits for a person.
//   - A chunk is encoded in a slice of the event loop, so that many readers do not delay other calls.
import type { AgentContext } from "../../context/context.ts";
import { inSlice } from "@holdpoint/base/slices.ts";
import { retryWhileUnavailable } from "@holdpoint/base/storage-failure.ts";
import { END, eventStreamBytes, eventStreamText, type Batch, type LoggedEvent } from "../../events/event-batch.ts";
import { restEvent } from "../../events/rest-event.ts";
import { droppedEvent, metadataEvent, waitingEvent } from "../../events/synthetic-events.ts";
import { createWakeSignal, CutOff, type Chunk, type Subscription } from "./subscription.ts";
import { withTexts } from "./hydrate-events.ts";
import { createEventSource, type StreamPosition } from "./event-source.ts";

/** Filter by event name; null accepts all. */
export type Wants = ((name: string) => boolean) | null;

export function readRun(agent: AgentContext, position: StreamPosition, attempt: number, wants: Wants): Subscription {
  const wakeSignal = createWakeSignal(agent.events, position.runId);
  const waiter = agent.worker.ends.wait(position.runId);
  void waiter.result.then(wakeSignal.wake);
  const log = agent.events.log(position.runId); // now: the run may end before the reader requests the first chunk
  const leave = (): void => {
    wakeSignal.leave();
    waiter.leave();
  };
  const pick = (events: readonly LoggedEvent[]): readonly LoggedEvent[] =>
    wants === null
      ? events
      : events.map(restEvent).filter((event): event is LoggedEvent => event !== null && wants(event.name));
  const buildChunk = async (batch: Batch, from: number): Promise<Chunk> => {
    if (wants === null && batch.complete && from <= batch.first) return inSlice(() => eventStreamBytes(batch));
    const events = await inSlice(() => pick(batch.events.filter(({ id }) => id >= from)));
    const shown = await withTexts(agent, position, events);
    return inSlice(() => eventStreamText(shown, String));
  };
  /** @throws {CutOff} if the reader leaves, or the server stops, before the storage is back */
  const retryUntilBack = async <T>(read: () => Promise<T>): Promise<T> => {
    const found = await retryWhileUnavailable(agent.clock, read, () => wakeSignal.left() || agent.events.stopped());
    if (found === null) throw new CutOff("the storage is not back");
    return found;
  };
  async function* chunks(): AsyncGenerator<Chunk> {
    try {
      const source = createEventSource(agent, position, log);
      let next = position.after === null ? 0 : position.after + 1;
      let seen = position.after !== null;
      let said = false;
      while (!wakeSignal.left()) {
        const found = await retryUntilBack(() => source.from(next));
        if (found === "nothing_yet") {
          await wakeSignal.next();
          continue;
        }
        if ("waits" in found) {
          const isNew = wakeSignal.listen(position.threadId); // the thread may pause
          if (found.waits !== null && !said) {
            said = true;
            yield eventStreamText([waitingEvent(found.waits)], String);
          }
          if (!isNew) await wakeSignal.next();
          continue;
        }
        wakeSignal.unlisten(position.threadId);
        if (!("events" in found)) {
          yield eventStreamText(pick(found.last), String);
          return;
        }
        const first = found.events.find(({ id }) => id >= next);
        if (first !== undefined && first.id > next && first.name !== "metadata") {
          yield eventStreamText([seen ? droppedEvent(next) : metadataEvent({ ...position, attempt })], String);
          if (seen) return;
        }
        const chunk = await retryUntilBack(() => buildChunk(found, next));
        if (chunk.length > 0) yield chunk;
        if (found.events.at(-1)?.name === END) return;
        seen = true;
        next = found.last + 1;
      }
    } finally {
      leave();
    }
  }
  return { chunks: chunks(), leave };
}
