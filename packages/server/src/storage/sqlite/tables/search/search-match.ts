// Search match: the documents that have all words of a query, as conditions of other searches.
// Invariants:
//   - A query is made of words of letters and digits in quotes, so no text is syntax (api/text/search-words.ts:
//     search-words.1).
//   - A condition has at most MATCHES_MAX documents, the newest ones: the time of a search is bounded.
import { isPrefix } from "@holdpoint/api/text/search-words.ts";
import type { Database } from "../../client/database.ts";

/** Marks of documents, which no text contains. */
export const MARKS = { open: "_open", closed: "_closed", thread: "_thread" } as const;

const MATCHES_MAX = 50_000;
/** Up to here, a search begins with the documents; above, it reads its own index, and looks each row up among them. */
const FEW_MAX = 2000;

export interface SearchMatch {
  /** The right side of MATCH on `search_words`. */
  readonly text: string;
  readonly isFew: boolean;
}

/** Null without words. @param mark restricts the documents */
export function buildMatch(
  db: Database,
  words: readonly string[],
  mark: keyof typeof MARKS | null,
): SearchMatch | null {
  if (words.length === 0) return null;
  const terms = words.map((word) => `"${word}"${isPrefix(word) ? " *" : ""}`);
  if (mark !== null) terms.push(`"${MARKS[mark]}"`);
  const text = terms.join(" AND ");
  const counted = "SELECT count(*) AS n FROM (SELECT 1 FROM search_words WHERE search_words MATCH ? LIMIT ?)";
  return { text, isFew: Number(db.get(counted, text, FEW_MAX + 1)?.["n"]) <= FEW_MAX };
}

/** The matching documents; one parameter. */
export const MATCHES = `SELECT rowid FROM search_words WHERE search_words MATCH ? ORDER BY rowid DESC LIMIT ${MATCHES_MAX}`;

/** Whether the document of a row matches; one parameter. */
export function isMatch(threadId: string, interruptId: string): string {
  return `(SELECT doc_id FROM search_documents AS d
    WHERE d.thread_id = ${threadId} AND d.interrupt_id = ${interruptId}) IN (${MATCHES})`;
}
