// Attach: a reader of a thread's events, within the rights of its caller now and later.
// Invariants:
//   - A reader is authorized again every RECHECK_MS, and when the credentials of its caller end in this process; it is
//     disconnected when it may not read any more.
//   - Readers are limited per thread and per process.
//   - A reader of a thread that does not exist, or is out of its scope, is disconnected after IDLE_MS. An authenticated
//     caller has at most IDLE_MAX such readers in a process.
//   - A position after the newest event is that of the newest event: later events follow.
//   attach.5. A process that stops takes no readers: their clients find another one, or try again.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { ANONYMOUS } from "../auth/authorize.ts";
import { inScope } from "../auth/scope.ts";
import { RECHECK_MS } from "../routes/while-admitted.ts";
import type { AgentContext } from "../context/context.ts";
import type { Caller, Scope } from "../model/model.ts";
import type { AccessRequest } from "../ports/ports.ts";
import { buildAsk } from "./command-call.ts";
import { positionAfter } from "./convert/event-place.ts";
import type { EventFilter } from "./event-filter.ts";
import { type Reading, readEvents } from "./read-events.ts";

const READERS_MAX = 256;
const PROCESS_READERS_MAX = 10_000;
const IDLE_MAX = 64;
const IDLE_MS = 10 * 60_000;

export interface ScopeWatch {
  readonly caller: Caller;
  readonly scope: () => Scope;
  /** Calls back after each renewed authorization, which may have another scope. @returns an unsubscribe function */
  onCheck(callback: () => void): () => void;
  readonly stop: () => void;
}

/** @param onLost the caller may not read the thread any more. @throws {ApiError} `forbidden`, `unauthenticated` */
export async function watchScope(
  agent: AgentContext,
  request: AccessRequest,
  threadId: string,
  onLost: (error: unknown) => void,
): Promise<ScopeWatch> {
  const { access } = agent;
  if (access === null) return UNWATCHED;
  const read = async (isRecheck: boolean): Promise<{ readonly caller: Caller; readonly scope: Scope }> => {
    const caller = await access.authenticate({ ...request, isRecheck });
    return { caller, scope: await buildAsk(agent, caller)("threads:read", { thread_id: threadId }) };
  };
  let now = await read(false);
  let cancel: () => void = () => undefined;
  let stopped = false;
  const callbacks = new Set<() => void>();
  const again = async (): Promise<void> => {
    cancel();
    try {
      now = await read(true);
      for (const callback of callbacks) callback();
      schedule();
    } catch (error) {
      if (!stopped) onLost(error);
    }
  };
  const schedule = (): void => {
    cancel();
    if (!stopped) cancel = agent.clock.after(RECHECK_MS, () => void again());
  };
  schedule();
  const unsubscribe = access.changes?.onEnded(now.caller.name, () => void again());
  return {
    caller: now.caller,
    scope: () => now.scope,
    onCheck(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    stop() {
      stopped = true;
      cancel();
      unsubscribe?.();
    },
  };
}

const UNWATCHED: ScopeWatch = {
  caller: ANONYMOUS,
  scope: () => null,
  onCheck: () => () => undefined,
  stop: () => undefined,
};

/** Readers of a process. */
interface Readers {
  all: number;
  /** Idle ones by caller. */
  readonly idle: Map<string, number>;
}

const readersByAgent = new WeakMap<AgentContext, Readers>();

/** @throws {ApiError} `too_many_streams`, `shutting_down` */
export async function attach(
  agent: AgentContext,
  threadId: string,
  filter: EventFilter,
  watch: ScopeWatch,
): Promise<Reading> {
  if (agent.events.stopped()) {
    throw new ApiError("shutting_down", "The server accepts no new streams.", {}, { "Retry-After": "1" }); // attach.5
  }
  const readers = readersByAgent.get(agent) ?? { all: 0, idle: new Map<string, number>() };
  readersByAgent.set(agent, readers);
  const { thread, newest } = await agent.storage.read(async (tx) => ({
    thread: await tx.thread(threadId),
    newest: await tx.newestEvents(threadId),
  }));
  const isIdle = thread === null || !inScope(thread.metadata, watch.scope());
  if (agent.events.wakes.listeners(threadId) >= READERS_MAX) {
    throw tooMany(`The thread has ${READERS_MAX} readers in this process.`);
  }
  if (readers.all >= PROCESS_READERS_MAX) throw tooMany(`This process has ${PROCESS_READERS_MAX} readers.`);
  const idle = isIdle ? countIdle(readers, watch.caller) : null;
  readers.all++;
  const since = filter.since === null ? null : Math.min(filter.since, positionAfter(newest));
  const reading = readEvents(agent, {
    threadId,
    filter: { ...filter, since },
    scope: watch.scope,
    onAttached: () => endIdle(),
  });
  const cancelIdle = idle === null ? () => undefined : agent.clock.after(IDLE_MS, reading.cut);
  const endIdle = once(() => {
    cancelIdle();
    idle?.();
  });
  const stopChecks = watch.onCheck(reading.look);
  const release = once(() => {
    readers.all--;
    endIdle();
    stopChecks();
  });
  const leave = (): void => {
    release();
    reading.leave();
  };
  return { ...reading, events: released(reading.events, release), leave };
}

/** @returns a function that uncounts it @throws {ApiError} `too_many_streams` */
function countIdle({ idle }: Readers, { name, user }: Caller): () => void {
  if (user === null && name === ANONYMOUS.name) return () => undefined;
  const count = idle.get(name) ?? 0;
  if (count >= IDLE_MAX) throw tooMany(`The caller has ${IDLE_MAX} streams of threads that do not exist.`);
  idle.set(name, count + 1);
  return () => {
    const rest = (idle.get(name) ?? 1) - 1;
    if (rest === 0) idle.delete(name);
    else idle.set(name, rest);
  };
}

function tooMany(detail: string): ApiError {
  return new ApiError("too_many_streams", detail, {}, { "Retry-After": "5" });
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}

async function* released(events: Reading["events"], release: () => void): Reading["events"] {
  try {
    yield* events;
  } finally {
    release();
  }
}
