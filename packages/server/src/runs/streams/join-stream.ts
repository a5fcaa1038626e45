// Stream subscriptions: to a run or a thread, from a position, with a selection of events.
import type { AgentContext } from "../../context/context.ts";
import { createEventSource, type StreamPosition } from "./event-source.ts";
import { readRun, type Wants } from "./read-run.ts";
import { readThread, type ThreadPlace } from "./read-thread.ts";
import type { Subscription } from "./subscription.ts";
import type { Run, StreamMode } from "../../model/model.ts";
import { getRun } from "../runs.ts";
import { requireThread } from "../../threads/find-thread.ts";

export type ThreadStreamMode = "run_modes" | "lifecycle" | "state_update";

/** Selection of a run's events; null for all. */
export interface EventChoice {
  /** The run must stream the mode. */
  readonly modes: readonly StreamMode[] | null;
  /** Graphs, `""` for the root, each without the graphs that it calls. */
  readonly namespaces: readonly string[] | null;
}

/** The creator of a run reads it from its first event. */
export function readOwnRun(agent: AgentContext, run: Run, namespaces: EventChoice["namespaces"]): Subscription {
  return readRun(agent, { ...run, after: null }, run.attempt, chosenBy({ modes: null, namespaces }));
}

/**
 * @param after the last event received; null reads all stored events
 * @param shown checkpoint whose state the reader shows: a reader without `after` gets the events after it, if it is one
 *   of the states of the stream
 * @throws {ApiError} `thread_not_found`, `run_not_found`
 */
export async function joinRunStream(
  agent: AgentContext,
  { threadId, runId, after, shown }: StreamPosition & { readonly shown: string | null },
  choice: EventChoice,
): Promise<Subscription> {
  const run = await getRun(agent, threadId, runId);
  const place = { threadId, runId, after };
  const known = after === null && shown !== null ? await findState(agent, place, shown) : after;
  return readRun(agent, { ...place, after: known }, run.attempt, chosenBy(choice));
}

/** @returns the event that showed the state of the checkpoint, among those that are there now; null if none did */
async function findState(agent: AgentContext, position: StreamPosition, checkpointId: string): Promise<number | null> {
  const source = createEventSource(agent, position, agent.events.log(position.runId));
  let next = 0;
  for (;;) {
    const found = await source.from(next);
    if (typeof found === "string" || !("events" in found)) return null;
    const shown = found.events.find(({ reference }) => reference === checkpointId);
    if (shown !== undefined) return shown.id;
    next = found.last + 1;
  }
}

/** @throws {ApiError} `thread_not_found` */
export async function joinThreadStream(
  agent: AgentContext,
  threadId: string,
  after: ThreadPlace | "start" | "now",
  modes: readonly ThreadStreamMode[],
): Promise<Subscription> {
  await agent.storage.transaction((tx) => requireThread(tx, threadId));
  return readThread(agent, threadId, after, (name) => modes.some((mode) => THREAD_MODES[mode](name)));
}

const THREAD_MODES: Readonly<Record<ThreadStreamMode, (name: string) => boolean>> = {
  run_modes: (name) => name !== STATE_UPDATE,
  lifecycle: (name) => name === "metadata",
  state_update: (name) => name === STATE_UPDATE,
};

export const STATE_UPDATE = "state_update";

const ALWAYS = new Set(["metadata", "error"]);

function chosenBy({ modes, namespaces }: EventChoice): Wants {
  if (modes === null && namespaces === null) return null;
  const wantedModes = modes === null ? null : new Set<string>(modes);
  const wantedGraphs = namespaces === null ? null : new Set(namespaces);
  return (name) => {
    const [base = "", ...path] = name.split("|");
    if (ALWAYS.has(base)) return true;
    if (wantedGraphs !== null && !wantedGraphs.has(path.join("|"))) return false;
    if (wantedModes === null) return true;
    if (base === "messages") return wantedModes.has("messages-tuple") || wantedModes.has("messages");
    return wantedModes.has(base.startsWith("messages/") ? "messages" : base);
  };
}

const RUNS_A_SWEEP = 500;

/** Deletes the events of expired runs in steps, so that other calls run in between. */
export async function sweepEvents(agent: AgentContext): Promise<void> {
  let deleted: number;
  do {
    deleted = await agent.storage.transaction((tx) => tx.deleteGoneEvents(agent.clock.now(), RUNS_A_SWEEP));
  } while (deleted === RUNS_A_SWEEP);
}
