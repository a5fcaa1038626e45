// Events in SQLite, row by row in order of arrival, until they expire; tickets of their readers.
// Invariants:
//   - `seq` is never reused, even after the newest row expires: a reader's position in a thread stays valid.
//   - `lines` is the last column, so a search for a position does not read it.
import type { EventTx, StoredEvents } from "../../../ports/ports.ts";
import { storedEventVerbs } from "../../cold/stored-events.ts";
import { EVENT_COLUMNS } from "../../shared/columns.ts";
import { createColdSql } from "../client/cold-sql.ts";
import type { Database } from "../client/database.ts";
import { createEventSeqs } from "./event-seqs.ts";
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
