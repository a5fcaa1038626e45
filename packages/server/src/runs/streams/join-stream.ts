// Stream subscriptions: to a run or a thread, from a position, with a selection of events.
import type { AgentContext } from "../../context/context.ts";
import type { StreamPosition } from "./event-source.ts";
import { readRun, type Wants } from "./read-run.ts";
import { readThread, type ThreadPlace } from "./read-thread.ts";
import type { Subscription } from "./subscription.ts";
import type { Run, StreamMode } from "../../model/model.ts";
import { getRun } from "../runs.ts";
import { requireThread } from "../../threads/find-thread.ts";

export type ThreadStreamMode = "run_modes" | "lifecycle" | "state_update";

/** The creator of a run reads it from its first event. */
export function readOwnRun(agent: AgentContext, run: Run): Subscription {
  return readRun(agent, { ...run, after: null }, run.attempt, null);
}

/**
 * @param after the last event received; null reads all stored events
 * @param modes selection of the run's events; null for all. The run must stream the mode.
 * @throws {ApiError} `thread_not_found`, `run_not_found`
 */
export async function joinRunStream(
  agent: AgentContext,
  { threadId, runId, after }: StreamPosition,
  modes: readonly StreamMode[] | null,
): Promise<Subscription> {
  const run = await getRun(agent, threadId, runId);
  return readRun(agent, { threadId, runId, after }, run.attempt, modes === null ? null : wantsOf(modes));
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

function wantsOf(modes: readonly StreamMode[]): Wants {
  const wanted = new Set<string>(modes);
  return (name) => {
    const [base = ""] = name.split("|");
    if (ALWAYS.has(base)) return true;
    if (base === "messages") return wanted.has("messages-tuple") || wanted.has("messages");
    return wanted.has(base.startsWith("messages/") ? "messages" : base);
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
