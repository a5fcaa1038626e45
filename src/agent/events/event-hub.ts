// Hub: the logs of the runs that are in progress in this process, on their way to storage and to readers.
// Invariants:
//   event-hub.1. Readers of a run are woken at once after a silence, and then now and then while events come about: many events
//        become one piece, the more of them the more readers there are, so that what readers cost does not slow the run
//        down. Readers of a thread, and those in other processes, are woken when the events are stored.
//   event-hub.2. Events need no commit of their own: they go with what the run stores anyway, or gather for FLUSH_MS.
//   event-hub.3. Only the present attempt of a run can store events, and none without the states that they refer to.
//   event-hub.4. After stop() every reader is cut off, so that its client comes again to whoever has the run then.
import type { Clock } from "../../base/clock.ts";
import type { Service } from "../../base/lifecycle.ts";
import { VALUES_ONLY, type Run } from "../model/model.ts";
import type { Tx, Wakes } from "../ports/ports.ts";
import { isActive } from "../model/status.ts";
import { endingOfLog } from "./end-events.ts";
import {
  createEventLog,
  type Ending,
  type EventLog,
  type EventStart,
  type KeptLimits,
  type Taken,
} from "./event-log.ts";
import { eventStart } from "./first-event-id.ts";

export interface EventLimits extends KeptLimits {
  /** How long a run's events are kept after its end. */
  readonly keptMs: number;
  readonly resumableKeptMs: number;
  /** Of runs that were started over the thread protocol. */
  readonly protocolKeptMs: number;
}

export interface EventHub extends Service {
  /** The log of an attempt that begins. */
  open(run: Run, start: EventStart): EventLog;
  /** The run is in progress here no more. */
  close(log: EventLog): void;
  log(runId: string): EventLog | null;
  /** Adds what is new in the log to a transaction that has found the run in its attempt. */
  store(tx: Tx, log: EventLog, ending?: Ending): Promise<Taken>;
  /** For a run that ended, if it did, when it was not in progress anywhere: an end that readers of its events find. */
  storeLateEnding(tx: Tx, run: Run): Promise<void>;
  /** When the events of a run that ends now may go. */
  goneAt(run: Run): number;
  readonly wakes: Wakes;
  readonly stopped: () => boolean;
  /** Calls back when the hub stops. @returns the way to be called no more. */
  onStop(callback: () => void): () => void;
}

const TELL_EVERY_MS = 10;
/** A piece costs about a tenth of this for each reader, here and there. */
const TELL_EVERY_MS_A_READER = 0.5;
const TELL_EVERY_MS_MAX = 100;

/** How long events that nobody waits for gather. */
const FLUSH_MS = 100;

export function createEventHub(ports: {
  readonly wakes: Wakes;
  readonly clock: Clock;
  readonly limits: EventLimits;
}): EventHub {
  const { wakes, clock, limits } = ports;
  const logs = new Map<string, EventLog>();
  const onStop = new Set<() => void>();
  let flushing = false;
  let stopped = false;

  /** They read what is stored (event-hub.1). */
  const isReadElsewhere = ({ runId, threadId }: Pick<Run, "runId" | "threadId">): boolean =>
    wakes.hasRemoteListeners(runId) || wakes.hasRemoteListeners(threadId);
  const tellReaders = (log: EventLog): void => {
    log.seal();
    wakes.wake(log.runId);
    if (wakes.listeners(log.threadId) > 0 || isReadElsewhere(log)) flush(log);
  };
  const flushAll = (): void => {
    flushing = false;
    if (stopped) return;
    for (const log of logs.values()) flush(log);
  };
  const flush = (log: EventLog): void => {
    if (log.hasFresh()) log.storedBy?.();
  };
  const store: EventHub["store"] = async (tx, log, ending) => {
    const taken = log.take(ending ?? null);
    if (taken.rows.length > 0) await tx.appendEvents(taken.rows);
    if (taken.tooMuch) await tx.trimEvents(log.threadId, log.runId, limits.eventsMax, limits.bytesMax);
    return {
      ...taken,
      settle() {
        taken.settle();
        if (ending !== undefined || wakes.hasRemoteListeners(log.runId)) wakes.wake(log.runId);
        if (log.hasFresh() && isReadElsewhere(log)) flush(log); // it came while this was on its way
        wakes.wake(log.threadId); // event-hub.1
      },
    };
  };

  const goneAt: EventHub["goneAt"] = ({ request }) => {
    const { resumable, protocol } = request.stream ?? VALUES_ONLY;
    const keptMs = resumable ? limits.resumableKeptMs : limits.keptMs;
    return clock.now() + (protocol === true ? limits.protocolKeptMs : keptMs);
  };

  wakes.onRemoteListener((key) => {
    const log = logs.get(key);
    if (log === undefined) return;
    if (log.hasFresh()) flush(log);
    else wakes.wake(key); // what was stored before it listened
  });

  return {
    name: "streams",
    wakes,
    store,
    stopped: () => stopped,
    log: (runId) => logs.get(runId) ?? null,
    goneAt,
    async storeLateEnding(tx, run) {
      if (isActive(run.status) || run.attempt === 0) return;
      const ending = endingOfLog({ run, pause: null, interrupts: [] }, [], () => null, goneAt(run));
      const log = createEventLog(
        run,
        await eventStart(tx, run),
        limits,
        () => false,
        () => undefined,
      );
      await tx.appendEvents(log.take(ending).rows);
    },
    open(run, start) {
      const isRead = (): boolean => wakes.listeners(run.runId) > 0;
      const tellEveryMs = (): number =>
        Math.min(TELL_EVERY_MS_MAX, Math.max(TELL_EVERY_MS, TELL_EVERY_MS_A_READER * wakes.listeners(run.runId)));
      let telling = false;
      let toldAt = -Infinity;
      const tell = (): void => {
        telling = false;
        toldAt = clock.monotonic();
        tellReaders(log);
      };
      const tellSoon = (): void => {
        if (telling) return;
        telling = true;
        const waitMs = toldAt + tellEveryMs() - clock.monotonic();
        if (waitMs > 0) clock.after(waitMs, tell);
        else setImmediate(tell); // event-hub.1
      };
      const log = createEventLog(run, start, limits, isRead, () => {
        if (isRead() || wakes.listeners(run.threadId) > 0 || isReadElsewhere(run)) tellSoon();
        if (flushing) return;
        flushing = true;
        clock.after(FLUSH_MS, flushAll); // event-hub.2
      });
      logs.set(run.runId, log);
      return log;
    },
    close(log) {
      if (logs.get(log.runId) === log) logs.delete(log.runId);
    },
    onStop(callback) {
      onStop.add(callback);
      return () => onStop.delete(callback);
    },
    start: () => Promise.resolve(),
    async stop() {
      stopped = true; // event-hub.4
      for (const callback of onStop) callback();
    },
  };
}
