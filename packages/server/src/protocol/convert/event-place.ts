// Event place: the seq of an event, from the place of its row in storage and its own place in the row.
// Invariants:
//   - Events are shown only once they are stored, and the storage numbers the rows of a thread upward and uses no
//     number twice. So a seq names one event for ever, in every process, also after a crash.
//   - The seq of a later row is above all of an earlier one. No seq is below FIRST_SEQ, so that a position is never 0.

/** A row is sealed at 64 Ki units and an event has 40 at least: a row has less than 2,000 events. */
const SEQS_A_ROW = 2 ** 16;
/** Events that one logged event becomes; the last of a row, the end of a run, may become more. */
const SEQS_AN_EVENT = 16;

/** The position of a thread without events. */
export const NO_EVENTS = 1;

export function toSeq(row: number, event: number, part: number): number {
  return row * SEQS_A_ROW + Math.min(event * SEQS_AN_EVENT + part, SEQS_A_ROW - BASELINE_SEQS - 1);
}

/** Reserved at the end of each row for events derived from deleted rows. */
const BASELINE_SEQS = 2048;

/** @param row the last row that was there; 0 for none */
export function baselineSeq(row: number, part: number): number {
  return (
    row * SEQS_A_ROW + (row === 0 ? NO_EVENTS + 1 : SEQS_A_ROW - BASELINE_SEQS) + Math.min(part, BASELINE_SEQS - 1)
  );
}

/** The row from which on events can be after this seq. */
export function toEventRow(seq: number): number {
  return Math.floor(seq / SEQS_A_ROW);
}

/** The position after all events of a row. */
export function positionAfter(row: number): number {
  return row === 0 ? NO_EVENTS : row * SEQS_A_ROW + (SEQS_A_ROW - BASELINE_SEQS - 1);
}
