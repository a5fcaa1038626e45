// Thread note: an event of a thread that belongs to no attempt of a run: answered questions, the end of a run that never began.
// Invariants:
//   - A note is in the transaction of its change, under the thread's lock: its place in the thread is its place in time.
//   - A note is kept as a log of its own, under an id that no run has: logs of runs and their ids stay as they are.
import type { NewId } from "@holdpoint/base/ids.ts";
import type { Interrupt } from "../model/model.ts";
import { PROTOCOL_PREFIX } from "../model/protocol-lines.ts";
import type { EventRow, Tx } from "../ports/ports.ts";
import { type LoggedEnd, questionIds } from "./end-events.ts";
import { endMark } from "./end-mark.ts";

/** Members of a note's protocol line besides the parameters of the event. */
export interface ThreadNote {
  /** Id of the event. */
  readonly id: string;
}

/** Name of the line that has the end mark of a run without a log. */
export const NOTE_END = `${PROTOCOL_PREFIX}end`;

/** Why questions do not wait any more. No note says "deleted": the notes go with the thread. */
export type ClosedHow = "answered" | "abandoned" | "expired" | "deleted";

/** Lifetime of notes that go with no run: longer than a client that lost its connection tries to come back. */
export const NOTE_KEPT_MS = 10 * 60_000;

export interface NotePorts {
  readonly newId: NewId;
  readonly at: number;
  /** When the note may go. */
  readonly goneAt: number;
}

/** Says in a transaction that questions do not wait any more; nothing when there are none. Breakpoints ask nothing. */
export async function noteClosed(
  tx: Pick<Tx, "appendEvents">,
  closed: readonly Interrupt[],
  how: ClosedHow,
  ports: NotePorts,
): Promise<void> {
  const questions = closed.filter(({ kind }) => kind !== "breakpoint");
  const [first] = questions;
  if (first === undefined) return;
  const ids = questions.map(({ interruptId }) => interruptId);
  const noteId = ports.newId();
  const note = { id: `${first.interruptId}:${noteId}:answered` };
  const data = { interrupt_ids: ids, how };
  const line = { namespace: [], timestamp: ports.at, data, note };
  await append(tx, first.threadId, ports, {
    noteId,
    name: `${PROTOCOL_PREFIX}input.answered`,
    text: JSON.stringify(line),
  });
}

/** The end of a run that never began: it has no log of its own. */
export async function noteEnd(
  tx: Pick<Tx, "appendEvents">,
  { run, pending = [], closed = [] }: Pick<LoggedEnd, "run" | "pending" | "closed">,
  ports: Omit<NotePorts, "newId">,
): Promise<void> {
  const text = JSON.stringify(endMark(run, questionIds(pending), questionIds(closed)));
  await append(tx, run.threadId, ports, { noteId: endNoteId(run.runId), name: NOTE_END, text });
}

/** Where the end of a run that never began is found: the id of the run as a UUID of version 8, which no run has. */
export function endNoteId(runId: string): string {
  return `${runId.slice(0, 14)}8${runId.slice(15)}`;
}

async function append(
  tx: Pick<Tx, "appendEvents">,
  threadId: string,
  { goneAt, at }: Omit<NotePorts, "newId">,
  { noteId, name, text }: { readonly noteId: string; readonly name: string; readonly text: string },
): Promise<void> {
  const row: EventRow = {
    threadId,
    runId: noteId,
    first: 0,
    last: 0,
    lines: `${name}\t${text}\n`,
    goneAt,
    storedAt: at,
  };
  await tx.appendEvents([row]);
}
