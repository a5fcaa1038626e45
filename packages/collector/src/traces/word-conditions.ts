// Word conditions: the words of a search → conditions on rows of traces, in SQLite (query.1).
// Invariants:
//   word-conditions.1. Whatever way a word is looked up, it finds the traces whose words it is, or begins
//        (api/text/search-words.ts).
//   - A word that most of the newest traces have is looked up in each row, newest first: a list of all its traces takes
//     a hundred times as long as the page. So is the index, for words that many traces have.
import { isPrefix } from "@holdpoint/api/text/search-words.ts";
import type { Database, Row } from "./database.ts";

interface WordSearch {
  readonly words: readonly string[];
  readonly cursor: { readonly started: number; readonly traceId: string } | null;
  readonly limit: number;
}

export interface Condition {
  readonly sql: string;
  readonly values: readonly string[];
}

/** Traces up to which a list of them is faster than a look at each of the newest. */
export const FEW_MAX = 500;

/** Rows of a statement, counted up to one more than FEW_MAX. */
export function countUpToFew(db: Database, sql: string, values: readonly string[]): number {
  return Number(db.get(`SELECT count(*) AS n FROM (${sql} LIMIT ${FEW_MAX + 1})`, ...values)?.["n"]);
}

export function buildWordConditions(db: Database, search: WordSearch): readonly Condition[] {
  if (search.words.length === 0) return [];
  const common = findCommon(db, search);
  const rest = search.words.filter((word) => !common.includes(word));
  return [...common.map(buildText), ...(rest.length === 0 ? [] : [buildIndexed(db, rest)])];
}

/** Traces to look at before the cursor: if more than a page of them have the word, a page of it is near. */
function findCommon(db: Database, { words, cursor, limit }: WordSearch): readonly string[] {
  const before = cursor === null ? "" : "WHERE (started, trace_id) < (?, ?)";
  const rows = db.all(
    `SELECT (SELECT words FROM words WHERE words.trace_id = traces.trace_id) AS words
      FROM traces ${before} ORDER BY started DESC, trace_id DESC LIMIT ?`,
    ...(cursor === null ? [] : [cursor.started, cursor.traceId]),
    2 * limit,
  );
  const texts = rows.map(({ words: text }: Row) => (typeof text === "string" ? ` ${text} ` : ""));
  return words.filter((word) => texts.filter((text) => text.includes(formatPart(word))).length > limit);
}

/** Between spaces, as the words of a trace are. */
const formatPart = (word: string): string => (isPrefix(word) ? ` ${word}` : ` ${word} `);

function buildText(word: string): Condition {
  const text = "(SELECT ' ' || words || ' ' FROM words WHERE words.trace_id = traces.trace_id)";
  return { sql: `instr(${text}, ?) > 0`, values: [formatPart(word)] };
}

function buildIndexed(db: Database, words: readonly string[]): Condition {
  const text = words.map((word) => `"${word}"${isPrefix(word) ? " *" : ""}`).join(" AND "); // search-words.1
  const docs = "SELECT rowid FROM words_index WHERE words_index MATCH ?";
  const isFew = countUpToFew(db, docs, [text]) <= FEW_MAX;
  const own = "(SELECT doc FROM words WHERE words.trace_id = traces.trace_id)";
  return {
    sql: isFew ? `trace_id IN (SELECT trace_id FROM words WHERE doc IN (${docs}))` : `${own} IN (${docs})`,
    values: [text],
  };
}
