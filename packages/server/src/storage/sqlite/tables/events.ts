// Events in SQLite, row by row in order of arrival, until they expire; tickets of their readers.
// Invariants:
//   - `seq` is never reused, even after the newest row expires: a reader's position in a thread stays valid.
//   - `lines` is the last column, so a search for a position does not read it.
//   event-seqs.1. The counter of the table is at or above every number that was given out, so that none is reused after
//        a restart. The rest of a block is then skipped.
//   event-seqs.2. A block belongs to the transaction that reserved it: an undone write drops it.
import type { EventTx, StoredEvents } from "../../../ports/ports.ts";
import { storedEventVerbs } from "../../cold/stored-events.ts";
import { EVENT_COLUMNS } from "../../shared/columns.ts";
import { createColdSql } from "../client/cold-sql.ts";
import type { Database } from "../client/database.ts";
import { table } from "./shared/rows.ts";

const EVENTS = table<StoredEvents>("events", EVENT_COLUMNS);

export function eventVerbs(db: Database): EventTx {
  const seqs = createEventSeqs(db);
  return {
    ...storedEventVerbs(createColdSql(db)),
    appendEvents(rows) {
      EVENTS.insert(
        db,
        rows.map((row) => ({ ...row, seq: seqs.take() })),
      );
    },
    events(threadId, query) {
      const select = (columns: string, limit: number): ReturnType<Database["all"]> =>
        db.all(
          `SELECT ${columns} FROM events WHERE thread_id = ? AND seq > ? AND (? IS NULL OR run_id = ?) AND last >= ?
           ORDER BY seq LIMIT ?`,
          threadId,
          query.afterSeq,
          query.runId,
          query.runId,
          query.fromId,
          limit,
        );
      const { limit, bytesMax } = query;
      const count =
        bytesMax === undefined ? limit : pageLength(select("octet_length(lines) AS bytes", limit), bytesMax);
      return select(EVENTS.columns, count).map((row) => EVENTS.read(db, row));
    },
    raiseEventSeq: (least) => seqs.raise(least),
  };
}

/** The number of rows up to the one that reaches the size. */
function pageLength(rows: ReturnType<Database["all"]>, bytesMax: number): number {
  let bytes = 0;
  const last = rows.findIndex((row) => (bytes += Number(row["bytes"])) >= bytesMax);
  return last < 0 ? rows.length : last + 1;
}

/**
 * Sequence numbers of events, reserved in blocks: AUTOINCREMENT alone writes the page of its counter in every commit.
 */
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
