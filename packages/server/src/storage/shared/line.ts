// Line: the order in which waiting runs start, the same on every database. A run stands in the line while its row has a
// `place`: it is pending and due, and nothing on its thread holds it back.
// Invariants:
//   line.1. Answers go first, but at most ANSWERS_MAX in a row while other runs wait: else callers that answer without
//        pause would keep all others waiting.
//   line.2. Each caller has its turn: a place is a virtual start, one behind the caller's last earlier run, and at
//        least the place of the front. So a caller with few runs does not wait behind all the runs of one with many.
//   line.3. No run is overtaken by more runs than waited when it came, whatever the callers do (answers apart). A run
//        may leave the order of arrival only after the oldest one has started, and only if it waited then: each run
//        that overtakes thereby has a partner that started in order, and that waited longer than the overtaken run.
//   - Processes share no turn: each keeps line.1 and line.3 by its own claims, so all of them together do.
//   line.5. A claim that is undone gives no turn: the next one is that of the oldest run.
import type { RunRequest } from "../../model/model.ts";

const ANSWERS_MAX = 8;

/** Runs that stand in the line. */
export const IN_LINE = "status = 'pending' AND place IS NOT NULL";

/** Runs that share a turn: those of one identity; without authentication, all. */
export function readCaller(user: RunRequest["user"]): string {
  const identity = user?.["identity"];
  return typeof identity === "string" ? identity : "";
}

/**
 * line.2. The place of a run that joins the line, as an expression over its row `r`.
 * @param greatest the database's function for the greater of two numbers
 */
export function placeSql(runs: string, greatest: string): string {
  const waiting = `${runs} AS w WHERE w.status = 'pending' AND w.place IS NOT NULL AND w.urgent = 0`;
  const earlier = `${waiting} AND w.caller = r.caller AND w.queue_key < r.queue_key`;
  const behindLast = `coalesce((SELECT w.place + 1 FROM ${earlier} ORDER BY w.place DESC LIMIT 1), 0)`;
  const front = `coalesce((SELECT w.place FROM ${waiting} ORDER BY w.place LIMIT 1), 0)`;
  return `CASE WHEN r.urgent = 1 THEN 0 ELSE ${greatest}(${behindLast}, ${front}) END`;
}

/** What the claims of this process so far allow to the next one. */
export interface Turn {
  /** The youngest run that waited when the oldest one started: those up to it may overtake once. Null: none may. */
  credit: string | null;
  /** Answers in a row that went before waiting runs. */
  answers: number;
  /** A claim has moved it since it was lost: only then is there something to lose. */
  moved: boolean;
}

export function newTurn(): Turn {
  return { credit: null, answers: 0, moved: false };
}

/** line.5. */
export function loseTurn(turn: Turn): void {
  if (!turn.moved) return;
  turn.moved = false;
  turn.credit = null;
  turn.answers = ANSWERS_MAX;
}

/** Columns of nextInLineSql(). `by_age`: it is next because it is the oldest. */
export const LINE_FIELDS = "run_id, thread_id, urgent, queue_key, by_age";

/**
 * The next runs in the line, in their order, as a query; a run may appear twice. Its only parameter is `turn.credit`.
 * @param each the longest list of runs that are looked at for one reason
 */
export function nextInLineSql(runs: string, turn: Turn, mark: string, each: number): string {
  const part = (where: string, order: string, byAge = 0): string =>
    `SELECT ${LINE_FIELDS} FROM (SELECT run_id, thread_id, urgent, queue_key, ${byAge} AS by_age FROM ${runs}
      WHERE ${IN_LINE} AND ${where} ORDER BY ${order} LIMIT ${each}) AS part`;
  const answers = part("urgent = 1", "queue_key");
  const others = [
    part(`urgent = 0 AND queue_key <= ${mark}`, "place, queue_key"), // line.2; nothing without a credit: line.3
    part("urgent = 0", "queue_key", 1),
  ];
  const parts = turn.answers < ANSWERS_MAX ? [answers, ...others] : [...others, answers];
  return parts.join(" UNION ALL ");
}

/** `oldest` and `newest` of the line, as columns for noteTurn(). */
export function lineEndsSql(runs: string): string {
  const end = (which: string): string =>
    `(SELECT ${which}(queue_key) FROM ${runs} WHERE ${IN_LINE} AND urgent = 0) AS ${which === "min" ? "oldest" : "newest"}`;
  return `${end("min")}, ${end("max")}`;
}

/** After a claim. @param found a row of nextInLineSql() with lineEndsSql() */
export function noteTurn(turn: Turn, found: Readonly<Record<string, unknown>>): void {
  const { urgent, queue_key: key, by_age: byAge, oldest, newest } = found;
  if (typeof oldest !== "string" || typeof newest !== "string") return; // only answers wait
  turn.moved = true;
  if (urgent === 1) {
    turn.answers++;
    return;
  }
  turn.answers = 0;
  // The oldest of those that no other process is claiming just now counts as the oldest.
  turn.credit = byAge === 1 || String(key) <= oldest ? newest : null;
}
