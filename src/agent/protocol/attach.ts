// Attach: a reader of a thread's events, as its caller may read them now and later.
// Invariants:
//   attach.1. A reader is authorised again every RECHECK_MS; one that may not read any more is cut off.
//   attach.2. A thread has at most READERS_MAX readers in a process.
import { ApiError } from "../../base/api-error.ts";
import type { AgentContext } from "../context.ts";
import type { Scope } from "../model/model.ts";
import type { AccessRequest } from "../ports/ports.ts";
import { askOf } from "./command-call.ts";
import type { EventFilter } from "./event-filter.ts";
import { type Reading, readEvents } from "./read-events.ts";

const RECHECK_MS = 60_000;
const READERS_MAX = 256;

export interface ScopeWatch {
  readonly scope: () => Scope;
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
  if (access === null) return { scope: () => null, stop: () => undefined };
  const read = async (): Promise<Scope> =>
    askOf(agent, await access.authenticate(request))("threads:read", { thread_id: threadId });
  let scope = await read();
  let cancel: () => void = () => undefined;
  let stopped = false;
  const again = async (): Promise<void> => {
    try {
      scope = await read();
      schedule();
    } catch (error) {
      if (!stopped) onLost(error); // attach.1
    }
  };
  const schedule = (): void => {
    if (!stopped) cancel = agent.clock.after(RECHECK_MS, () => void again());
  };
  schedule();
  return {
    scope: () => scope,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** @throws {ApiError} `too_many_streams` */
export function attach(agent: AgentContext, threadId: string, filter: EventFilter, watch: ScopeWatch): Reading {
  if (agent.events.wakes.listeners(threadId) >= READERS_MAX) {
    throw new ApiError(
      "too_many_streams",
      `The thread has ${READERS_MAX} readers in this process.`,
      {},
      { "Retry-After": "5" },
    ); // attach.2
  }
  return readEvents(agent, { threadId, filter, scope: watch.scope });
}
