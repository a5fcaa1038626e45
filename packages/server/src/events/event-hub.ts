// Event hub: the event logs of the runs in progress in this process, on their way to storage and to readers.
// Invariants:
//   event-hub.1. Readers of a run are woken at once after a pause between events, and periodically during a burst. The
//     period grows with the number of readers, so that their cost does not slow the run down. The first event that has
//     readers does not wait for the end of the graph's step. Readers of a thread, and readers in other processes, are
//     woken after the events are stored.
//   - Events need no commit of their own: they join the run's next write, or gather for FLUSH_MS.
//   - Only the current attempt of a run can store events, and only together with the states they refer to.
//   event-hub.4. stop() disconnects every reader, so that its client reconnects to the next owner of the run. It tells
//     STOP_BATCH readers at a time, all within STOP_SPREAD_MS: their clients would all come back at once.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import { VALUES_ONLY, type Run } from "../model/model.ts";
import { isActive } from "../model/status.ts";
import type { EventTx, Wakes } from "../ports/ports.ts";
import { buildEndEvents } from "./end-events.ts";
import {
  createEventLog,
  type DrainedEvents,
  type EndEvents,
  type EventLog,
  type EventStart,
  type KeptLimits,
} from "./event-log.ts";
import { eventStart } from "./first-event-id.ts";

export interface EventLimits extends KeptLimits {
  /** Retention of a run's events after its end. */
  readonly keptMs: number;
  readonly resumableKeptMs: number;
  /** Time to keep events of runs that were started over the thread protocol. */
  readonly protocolKeptMs: number;
}

export interface EventHub extends Service {
  /** Opens the log of a new attempt. */
  open(run: Run, start: EventStart): EventLog;
  /** The run is no longer in progress here. */
  close(log: EventLog): void;
  log(runId: string): EventLog | null;
  /** Stores new events in a transaction that has verified the attempt of the run. */
  store(tx: EventTx, log: EventLog, end?: EndEvents): Promise<DrainedEvents>;
  /** Stores end events for a run that ended without being in progress anywhere, if it did. */
  storeLateEnd(tx: EventTx, run: Run): Promise<void>;
  /** Expiry of the events of a run that ends now. */
  goneAt(run: Run): number;
  readonly wakes: Wakes;
  readonly stopped: () => boolean;
  /** Calls back when the hub stops. @returns an unsubscribe function */
  onStop(callback: () => void): () => void;
}

export interface HubPorts {
  readonly wakes: Wakes;
  readonly clock: Clock;
  readonly limits: EventLimits;
}

type RunKey = Pick<Run, "runId" | "threadId">;

/** Time for which events without readers gather. */
const FLUSH_MS = 100;

export function createEventHub(ports: HubPorts): EventHub {
  const { wakes, clock, limits } = ports;
  const logs = new Map<string, EventLog>();
  const onStop = new Set<() => void>();
  let stopped = false;
  const flushLater = createFlushTimer(clock, () => {
    if (stopped) return;
    for (const log of logs.values()) flush(log);
  });
  const goneAt: EventHub["goneAt"] = ({ request }) => {
    const { resumable, protocol } = request.stream ?? VALUES_ONLY;
    const keptMs = resumable ? limits.resumableKeptMs : limits.keptMs;
    return clock.now() + (protocol === true ? limits.protocolKeptMs : keptMs);
  };

  wakes.onRemoteListener((key) => {
    const log = logs.get(key);
    if (log === undefined) return;
    if (log.hasFresh()) flush(log);
    else wakes.wake(key); // events stored before it listened
  });

  return {
    name: "streams",
    wakes,
    store: (tx, log, end) => storeEvents(tx, log, end, { wakes, limits }),
    stopped: () => stopped,
    log: (runId) => logs.get(runId) ?? null,
    goneAt,
    async storeLateEnd(tx, run) {
      if (isActive(run.status) || run.attempt === 0) return;
      const end = buildEndEvents({ run, pause: null, interrupts: [] }, [], () => null, goneAt(run));
      const start = await eventStart(tx, run);
      const log = createEventLog({
        run,
        start,
        limits,
        isRead: () => false,
        onEvent: () => undefined,
        now: clock.now,
      });
      await tx.appendEvents(log.drain(end).rows);
    },
    open(run, start) {
      const isRead = (): boolean => wakes.listeners(run.runId) > 0;
      const wakeSoon = createReaderWakeup(ports, run, {
        first: () => wakeReadersOfRun(wakes, log),
        next: () => wakeReaders(wakes, log),
      });
      const log = createEventLog({
        run,
        start,
        limits,
        isRead,
        onEvent() {
          if (isRead() || wakes.listeners(run.threadId) > 0 || isReadElsewhere(wakes, run)) wakeSoon();
          flushLater();
        },
        now: clock.now,
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
      await tellAll(clock, onStop);
    },
  };
}

/** Readers in other processes read stored events (event-hub.1). */
function isReadElsewhere(wakes: Wakes, { runId, threadId }: RunKey): boolean {
  return wakes.hasRemoteListeners(runId) || wakes.hasRemoteListeners(threadId);
}

function flush(log: EventLog): void {
  if (log.hasFresh()) log.flush?.();
}

function wakeReadersOfRun(wakes: Wakes, log: EventLog): void {
  log.seal();
  wakes.wake(log.runId);
}

function wakeReaders(wakes: Wakes, log: EventLog): void {
  wakeReadersOfRun(wakes, log);
  if (wakes.listeners(log.threadId) > 0 || isReadElsewhere(wakes, log)) flush(log);
}

async function storeEvents(
  tx: EventTx,
  log: EventLog,
  end: EndEvents | undefined,
  { wakes, limits }: Pick<HubPorts, "wakes" | "limits">,
): Promise<DrainedEvents> {
  const drained = log.drain(end ?? null);
  if (drained.rows.length > 0) await tx.appendEvents(drained.rows);
  if (drained.exceedsLimits) await tx.trimEvents(log.threadId, log.runId, limits.eventsMax, limits.bytesMax);
  return {
    ...drained,
    committed() {
      drained.committed();
      if (end !== undefined || wakes.hasRemoteListeners(log.runId)) wakes.wake(log.runId);
      if (log.hasFresh() && isReadElsewhere(wakes, log)) flush(log); // published during the transaction
      wakes.wake(log.threadId); // event-hub.1
    },
  };
}

function createFlushTimer(clock: Clock, flushAll: () => void): () => void {
  let pending = false;
  return () => {
    if (pending) return;
    pending = true;
    clock.after(FLUSH_MS, () => {
      pending = false;
      flushAll();
    });
  };
}

const WAKE_EVERY_MS = 10;
/** A wake-up costs about a tenth of this per reader, in server and client. */
const WAKE_EVERY_MS_PER_READER = 0.5;
const WAKE_EVERY_MS_MAX = 100;

/**
 * event-hub.1.
 * @param wake `first` is for the first event that has readers of the run, and does not count as a wake-up of a burst
 * @returns a function to call for each event
 */
function createReaderWakeup(
  { wakes, clock }: HubPorts,
  { runId, threadId }: RunKey,
  wake: { readonly first: () => void; readonly next: () => void },
): () => void {
  const readers = (): number => wakes.listeners(runId) + wakes.listeners(threadId);
  const everyMs = (): number =>
    Math.min(WAKE_EVERY_MS_MAX, Math.max(WAKE_EVERY_MS, WAKE_EVERY_MS_PER_READER * readers()));
  let pending = false;
  let wokenAt = -Infinity;
  const wakeNow = (): void => {
    pending = false;
    wokenAt = clock.monotonic();
    wake.next();
  };
  let isFirst = true;
  return () => {
    if (pending) return;
    if (isFirst && wakes.listeners(runId) > 0) {
      isFirst = false;
      queueMicrotask(wake.first); // a graph has up to a millisecond of work left in this turn
      return;
    }
    pending = true;
    const waitMs = wokenAt + everyMs() - clock.monotonic();
    if (waitMs > 0) clock.after(waitMs, wakeNow);
    else setImmediate(wakeNow);
  };
}

const STOP_BATCH = 64;
const STOP_PAUSE_MS = 20;
const STOP_SPREAD_MS = 2000;

/** event-hub.4. */
export async function tellAll(clock: Pick<Clock, "after">, readers: Iterable<() => void>): Promise<void> {
  const all = [...readers];
  const batches = Math.ceil(all.length / STOP_BATCH);
  const pauseMs = Math.min(STOP_PAUSE_MS, STOP_SPREAD_MS / batches);
  for (let batch = 0; batch < batches; batch++) {
    if (batch > 0) await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
    for (const tell of all.slice(batch * STOP_BATCH, (batch + 1) * STOP_BATCH)) tell();
  }
}
