// Waiting rows: the rows of one run that its transactions have taken from the graph, in the order of the graph.
// The storage repeats a transaction that lost a race for locks, and other transactions of the run may have the lock of
// the thread before the repetition has it. So a repetition lays its rows out before it waits for the lock, and the next
// transaction with the lock stores them ahead of its own. Part of run-sink.ts (execute-run.4).
import type { WriteSet } from "../../model/model.ts";
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";

/** Rows of all transactions of one run. */
export interface WaitingRows {
  /** Rows of transactions that are about to be repeated. */
  readonly repeated: Set<Kept>;
  /** Number of write sets so far. */
  writeSets: number;
}

/** The rows that one transaction has taken, in the order of the graph. */
export interface Kept {
  sets: readonly RowSet[];
}

export interface RowSet {
  readonly position: number;
  readonly rows: WriteSet;
}

/**
 * The fresh rows of the graph. They join `kept`. Without the lock a transaction may take no others: the end of the run may
 * have it first, and looks for those that wait for a repetition.
 */
export function takeFresh(state: WaitingRows, kept: Kept, take: () => WriteSet): WriteSet {
  const fresh = numberFresh(state, take);
  kept.sets = [...kept.sets, ...fresh];
  return joinRows(fresh);
}

/** The rows to store next, with the lock. They join `kept`. */
export function nextRows(state: WaitingRows, kept: Kept, take: () => WriteSet): WriteSet {
  const isRepetition = state.repeated.delete(kept);
  const claimed = claimRepeated(state);
  if (claimed.length === 0 && !isRepetition) return takeFresh(state, kept, take);
  kept.sets = inOrder([...kept.sets, ...claimed, ...numberFresh(state, take)]);
  return joinRows(kept.sets); // some of them again: the newest is the one stored last
}

function numberFresh(state: WaitingRows, take: () => WriteSet): readonly RowSet[] {
  const rows = take();
  return isEmpty(rows) && rows.blobs.length === 0 ? [] : [{ position: state.writeSets++, rows }];
}

/** Takes over the rows that wait for a repetition. */
export function claimRepeated({ repeated }: WaitingRows): readonly RowSet[] {
  if (repeated.size === 0) return [];
  const sets = [...repeated].flatMap((one) => one.sets);
  for (const one of repeated) one.sets = [];
  repeated.clear();
  return inOrder(sets);
}

export function inOrder(sets: readonly RowSet[]): readonly RowSet[] {
  return sets.toSorted((a, b) => a.position - b.position);
}

export function joinRows(sets: readonly RowSet[]): WriteSet {
  let rows = EMPTY_WRITE_SET;
  for (const set of sets) rows = joined(rows, set.rows);
  return rows;
}

export function isEmpty({ checkpoints, writes }: WriteSet): boolean {
  return checkpoints.length + writes.length === 0;
}

export function joined(left: WriteSet, right: WriteSet): WriteSet {
  if (isEmpty(left) && left.blobs.length === 0) return right;
  return {
    checkpoints: [...left.checkpoints, ...right.checkpoints],
    writes: [...left.writes, ...right.writes],
    blobs: [...left.blobs, ...right.blobs],
  };
}
