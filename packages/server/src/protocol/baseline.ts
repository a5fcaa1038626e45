// Baseline: the events that a reader needs when the log does not reach back: the state, the open
// questions, the newest run's end.
// Invariants:
//   - Its events have the ids of the originals, so that a reader that has seen those drops them.
//   - Its numbers are between those of the kept rows and of the rows to come.
import type { AgentContext } from "../context/context.ts";
import { endMark } from "../events/end-mark.ts";
import type { Interrupt, Thread } from "../model/model.ts";
import { graphPath } from "../model/interrupt.ts";
import { isActive } from "../model/status.ts";
import type { EventTx, RunHead, RunTx, StateTx } from "../ports/ports.ts";
import { stateEvents } from "./convert/converted-row.ts";
import { baselineSeq } from "./convert/event-place.ts";
import { endData, endId, requestedData, requestedId } from "./convert/root-lifecycle.ts";
import { type EventParts, type WireEvent, wireEvent } from "./convert/wire-event.ts";

export interface BaselineQuery {
  readonly thread: Thread;
  readonly newest: RunHead | null;
  readonly open: readonly Interrupt[];
  /** The last row that is kept; 0 for none. */
  readonly row: number;
}

export type BaselineTx = RunTx & EventTx & StateTx;

export async function readBaseline(
  agent: AgentContext,
  tx: BaselineTx,
  query: BaselineQuery,
): Promise<readonly WireEvent[]> {
  const { thread, newest, open, row } = query;
  const { threadId } = thread;
  const isGone = async (runId: string): Promise<boolean> => (await tx.eventExtent(threadId, runId)) === null;
  const wanted = newest !== null && !isActive(newest.status) && (await isGone(newest.runId));
  const ended = wanted ? await tx.run(threadId, newest.runId) : null;
  const made: WireEvent[] = [];
  const parts = (method: EventParts["method"], id: string, timestamp: number): EventParts => ({
    seq: baselineSeq(row, made.length),
    id,
    method,
    namespace: [],
    timestamp,
  });
  if (ended !== null && thread.checkpointId !== null) {
    const { checkpointId } = thread;
    const checkpoints = parts("checkpoints", `${checkpointId}:checkpoint`, 0);
    const values = { ...parts("values", `${checkpointId}:values`, 0), seq: baselineSeq(row, 1) };
    made.push(...(await stateEvents(agent, tx, { threadId, checkpointId, checkpoints, values })));
  }
  for (const question of open) {
    const asker = await tx.run(threadId, question.runId);
    if (!(await isGone(question.runId))) continue;
    const mark = { run_id: question.runId, attempt: asker?.attempt ?? 1 };
    const requested = parts("input.requested", requestedId(mark, question.interruptId), question.createdAt);
    const gate = { kind: "question", interruptId: question.interruptId, runId: question.runId } as const;
    const data = JSON.stringify(requestedData(question));
    made.push(wireEvent({ ...requested, namespace: graphPath(question), gate }, data));
  }
  if (ended !== null) {
    const mark = endMark(ended, ended.pausedOn);
    made.push(wireEvent(parts("lifecycle", endId(mark), ended.updatedAt), JSON.stringify(endData(mark))));
  }
  return made;
}
