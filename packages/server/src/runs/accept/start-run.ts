// Run start: the transaction that accepts one or several runs, and the effects after its commit.
// Invariants:
//   - Of concurrent answers to one interrupt, the first conditional update of the paused thread wins. The others change
//     nothing.
//   - A refused call changes nothing: every refusal precedes the first write or rolls it back.
//   - An accepted run is durable before the caller receives a reply.
//   - An Idempotency-Key creates one run for any number of repeated calls.
//   - A thread or an assistant outside the caller's scope is refused like a missing one.
//   - A process that lost its worker registration accepts runs for the other workers.
//   - Answers that only count as votes are stored without a run. The caller gets `approvals_pending`; several runs in
//     one call have new threads, and so no votes.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../../context/context.ts";
import type { Caller, MultitaskStrategy, Run } from "../../model/model.ts";
import { REQUEST_ASSISTANT } from "../../model/request.ts";
import type { Slot } from "../../ports/ports.ts";
import { approvalsPending } from "../../interrupts/settle-votes.ts";
import { type Accepted, acceptRun, type StartedRun, type VotesOnly } from "./accept-run.ts";
import { type GivenByCall, readGiven, type RunStart } from "./run-start.ts";
import { chooseAbortReason } from "./multitask.ts";

/**
 * @throws {ApiError} for every refusal of the resume rules and of acceptRun(), and `approvals_pending` after a commit
 *   with votes and no run
 */
export async function startRun(agent: AgentContext, caller: Caller, start: RunStart): Promise<StartedRun> {
  const [started] = await startAll(agent, caller, [start]);
  if (started === undefined) throw new Error("a requested run was neither accepted nor refused");
  return started;
}

/**
 * Accepts all runs in one transaction, or none.
 * @throws {ApiError} as startRun, with the `index` of the refused run
 */
export async function startRuns(
  agent: AgentContext,
  caller: Caller,
  starts: readonly RunStart[],
): Promise<readonly StartedRun[]> {
  return startAll(agent, caller, starts, (error, index) =>
    error instanceof ApiError
      ? new ApiError(error.code, `Run ${index}: ${error.message}`, { ...error.extra, index }, error.headers)
      : error,
  );
}

async function startAll(
  agent: AgentContext,
  caller: Caller,
  starts: readonly RunStart[],
  describe: (error: unknown, index: number) => unknown = (error) => error,
): Promise<readonly StartedRun[]> {
  if (agent.worker.draining()) {
    throw new ApiError("shutting_down", "The server accepts no new runs.", {}, { "Retry-After": "5" });
  }
  const given: GivenByCall[] = [];
  for (const [index, { call }] of starts.entries()) {
    const reading = readGiven(agent, call);
    given.push(
      await reading.catch((error: unknown) => {
        throw describe(error, index);
      }),
    );
  }
  const slots: (Slot | null)[] = starts.map(({ call }) => agent.worker.reserve(call.assistantId === REQUEST_ASSISTANT));
  const isDecided = agent.worker.ends.expect();
  const acceptAll = (): Promise<readonly (Accepted | VotesOnly)[]> =>
    agent.storage.transaction(async (tx) => {
      await agent.tenants?.find(caller).hold(tx);
      const all: (Accepted | VotesOnly)[] = [];
      for (const [index, start] of starts.entries()) {
        try {
          await start.first?.(tx);
          all.push(
            await acceptRun(agent, tx, caller, {
              ...start,
              given: given[index] as GivenByCall,
              slotFree: slots[index] !== null,
            }),
          );
        } catch (error) {
          throw describe(error, index);
        }
      }
      return all;
    });
  try {
    const accepted = await acceptAll().catch((error: unknown) => {
      agent.worker.claimFailed(error);
      if (!(error instanceof ApiError) || error.code !== "worker_not_listed") throw error;
      for (const slot of slots.splice(0, slots.length, ...slots.map(() => null))) slot?.release();
      return acceptAll();
    });
    const runs = accepted.flatMap((one) => (one.run === null ? [] : one));
    afterCommit(agent, runs, slots);
    for (const { voted, metadata } of accepted)
      for (const item of voted) {
        agent.inbox.changed("updated", item, metadata);
        agent.events.wakes.wake(item.threadId);
      }
    if (runs.length < accepted.length) throw approvalsPending(accepted.flatMap(({ voted }) => voted));
    return runs;
  } finally {
    for (const slot of slots) slot?.release(); // no effect on started ones
    isDecided();
  }
}

/** Starts the runs with a slot, ends the displaced ones, and notifies inbox and queue. */
function afterCommit(agent: AgentContext, accepted: readonly Accepted[], slots: readonly (Slot | null)[]): void {
  for (const [index, { run, created, history, isBegun }] of accepted.entries()) {
    if (created && run.status === "running") slots[index]?.start(run, history, isBegun);
  }
  for (const { closed, metadata, via } of accepted) agent.inbox.closed(closed, metadata, via);
  for (const { closed, displaced, run } of accepted) {
    if (closed.length + displaced.length > 0) agent.events.wakes.wake(run.threadId);
    for (const other of displaced) endDisplaced(agent, other, run.multitaskStrategy);
  }
  if (accepted.some(({ created, run }) => !created || run.status !== "running")) agent.worker.wake();
}

function endDisplaced(agent: AgentContext, run: Run, strategy: MultitaskStrategy): void {
  if (run.status === "running") {
    agent.worker.abort(run.runId, chooseAbortReason(strategy));
    return;
  }
  agent.worker.ends.ended(run, () => ({ run, valuesText: null, interrupts: [], pause: null }), true);
  agent.webhooks.wake();
}
