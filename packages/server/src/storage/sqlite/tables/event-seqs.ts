// Sequence numbers of events, reserved in blocks: AUTOINCREMENT alone writes the page of its counter in every commit.
// Invariants:
//   event-seqs.1. The counter of the table is at or above every number that was given out, so that none is reused after
//        a restart. The rest of a block is then skipped.
//   event-seqs.2. A block belongs to the transaction that reserved it: an undone write drops it.
import type { Database } from "../client/database.ts";

export interface EventSeqs {
  /** The next number. Within a transaction. */
  take(): number;
  /** Numbers from here on are above `least`. */
  raise(least: number): void;
}

/** Less than a second of the numbers that follow the clock: a restart skips the rest of a block. */
const BLOCK_SIZE = 64;

export function createEventSeqs(db: Database): EventSeqs {
  let next = 0;
  let left = 0;
  db.kept.onDrop(() => (left = 0)); // event-seqs.2
  const counter = (): number => Number(db.get("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.["seq"] ?? 0);
  const raiseCounter = (least: number): void => {
    const changed = db.run("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'events'", least);
    if (changed === 0) db.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)", least);
  };
  return {
    take() {
      if (left === 0) {
        const last = counter();
        raiseCounter(last + BLOCK_SIZE); // event-seqs.1
        next = last + 1;
        left = BLOCK_SIZE;
      }
      left--;
      return next++;
    },
    raise(least) {
      if (left > 0 && least < next) return;
      raiseCounter(least);
      left = 0;
    },
  };
}
