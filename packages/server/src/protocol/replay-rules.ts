// Replay rules: the thread as a reader finds it when it attaches, and which retained events the reader gets.
// Invariants:
//   - Without `since`, the begin and end of ended runs are left out except those of the newest accepted run: a client
//     would take an old end for that of the run that it has just started.
//   - A replay without `since` shows requests of open questions only, of each its newest. With `since` it shows all of
//     them, and what closed them.
//   - `input.answered` is replayed, because a page may have lost its connection meanwhile. It is left out while one of
//     its questions is open again.
import type { AgentContext } from "../context/context.ts";
import type { EndMark } from "../events/end-mark.ts";
import { END, type LoggedEvent } from "../events/event-batch.ts";
import { storedBatch } from "../events/stored-batch.ts";
import { endNoteId, NOTE_END } from "../events/thread-note.ts";
import { inScope } from "../auth/scope.ts";
import type { Interrupt, Scope, Thread } from "../model/model.ts";
import { isActive } from "../model/status.ts";
import type { EventTx, InterruptTx, RunHead } from "../ports/ports.ts";
import { readBaseline, type BaselineTx } from "./baseline.ts";
import type { EventFilter } from "./event-filter.ts";
import { toEventRow } from "./convert/event-place.ts";
import type { Gate, WireEvent } from "./convert/wire-event.ts";

export interface Attached {
  /** The newest row at the attach. */
  readonly replayed: number;
  /** Runs whose begin and end are replayed. */
  readonly runs: ReadonlySet<string>;
  /** The run with the newest request of each open question; empty if it is not known. */
  readonly requests: ReadonlyMap<string, string>;
  readonly baseline: readonly WireEvent[];
}

/** Runs among which the newest ended one is looked for: those above it were cancelled in the queue, or wait there. */
const NEWEST_RUNS = 20;

export async function attachedTo(
  agent: AgentContext,
  tx: BaselineTx & InterruptTx,
  thread: Thread,
  { since }: EventFilter,
): Promise<Attached> {
  const { threadId } = thread;
  const [replayed, active, newestRuns, open] = await Promise.all([
    tx.newestEvents(threadId),
    tx.activeRuns(threadId),
    tx.runs(threadId, { limit: NEWEST_RUNS, offset: 0, status: null }),
    thread.status === "interrupted" ? tx.interrupts(threadId, "open") : [],
  ]);
  const [newest = null] = newestRuns;
  const runs = new Set(active.filter(({ status }) => isActive(status)).map(({ runId }) => runId));
  if (newest !== null) runs.add(newest.runId);
  const isNew = since !== null && toEventRow(since) >= replayed && replayed > 0;
  const [baseline, requests] = await Promise.all([
    isNew ? [] : readBaseline(agent, tx, { thread, newest, open, row: replayed }),
    newestRequests(tx, newestRuns, open),
  ]);
  return { replayed, runs, baseline, requests };
}

/** How many events take the place of those after `since` that are not kept any more; 0 if all are. */
export async function missedSince(
  agent: AgentContext,
  threadId: string,
  filter: EventFilter,
  scope: Scope,
): Promise<number> {
  if (filter.since === null) return 0;
  return agent.storage.read(async (tx) => {
    const thread = await tx.thread(threadId);
    if (thread === null || !inScope(thread.metadata, scope)) return 0;
    return (await attachedTo(agent, tx, thread, filter)).baseline.length;
  });
}

/** The run that ended last requests all questions that are open then. */
async function newestRequests(
  tx: EventTx,
  runs: readonly RunHead[],
  open: readonly Interrupt[],
): Promise<ReadonlyMap<string, string>> {
  if (open.length === 0) return NO_REQUESTS;
  const ended = runs.filter(({ status, attempt }) => !isActive(status) && attempt > 0); // the others held no thread
  const last = ended.toSorted((one, other) => other.updatedAt - one.updatedAt)[0];
  if (last === undefined) return NO_REQUESTS;
  const { threadId, runId } = last;
  const event = (await lastEvent(tx, threadId, runId)) ?? (await lastEvent(tx, threadId, endNoteId(runId)));
  if (event === null || (event.name !== END && event.name !== NOTE_END)) return NO_REQUESTS;
  const { open: requested = [] } = JSON.parse(event.text ?? "{}") as EndMark;
  return new Map(requested.map((interruptId) => [interruptId, runId]));
}

async function lastEvent(tx: EventTx, threadId: string, logId: string): Promise<LoggedEvent | null> {
  const extent = await tx.eventExtent(threadId, logId);
  if (extent === null) return null;
  const [row] = await tx.events(threadId, { runId: logId, afterSeq: 0, fromId: extent.last, limit: 1 });
  return row === undefined ? null : ((await storedBatch(row)).events.at(-1) ?? null);
}

const NO_REQUESTS: ReadonlyMap<string, string> = new Map();

/** Whether a replay without `since` has an event. @param isOpen whether a question is open now */
export function admits(gate: Gate, at: Attached, isOpen: (interruptId: string) => boolean): boolean {
  if (gate.kind === "none") return true;
  if (gate.kind === "run") return at.runs.has(gate.runId);
  if (gate.kind === "closed") return !gate.interruptIds.some(isOpen);
  return isOpen(gate.interruptId) && (at.requests.get(gate.interruptId) ?? gate.runId) === gate.runId;
}
