// Search words: text → the words that the index has of it, and that a query looks for. Pure.
// Invariants:
//   search-words.1. A word has letters and digits only, so it is never syntax of a query.
//   search-words.2. Case, accents and compatibility forms do not count. Characters of scripts without spaces are words of
//     their own.
//   search-words.3. A word has at most WORD_UNITS_MAX units, of documents and queries alike.
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";

const WORD_UNITS_MAX = 64;
const QUERY_WORDS_MAX = 10;
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}])+/gu;

/** Words of a text, in order, with repetitions. */
export function splitWords(text: string): readonly string[] {
  const folded = /^[\x00-\x7f]*$/.test(text) ? text : text.normalize("NFKD").replace(/\p{M}+/gu, "");
  const found = folded.toLowerCase().match(WORDS) ?? [];
  return found.map((word) => word.slice(0, WORD_UNITS_MAX).toWellFormed());
}

/** The words of a query; all of them must occur. Empty: everything matches. */
export function queryWords(text: string | undefined): readonly string[] {
  return [...new Set(splitWords(text ?? ""))].slice(0, QUERY_WORDS_MAX);
}

/** A word of one character has only exact matches: most words begin with it. */
export const isPrefix = (word: string): boolean => word.length > 1;

/** Collects the distinct words of a document, up to a number. */
export interface WordBag {
  /** Names of members count too. @param units of text that are read at most; newest, the last ones of lists, first */
  add(value: Json, units?: number): void;
  readonly words: () => readonly string[];
}

const DOCUMENT_WORDS_MAX = 3000;
const VALUE_UNITS_MAX = 100_000;
const MEMBERS_MAX = 20_000;

export function createWordBag(): WordBag {
  const bag = new Set<string>();
  const addText = (text: string): void => {
    if (bag.size >= DOCUMENT_WORDS_MAX) return;
    for (const word of splitWords(text)) bag.add(word);
  };
  return {
    add(value, units = VALUE_UNITS_MAX) {
      const left = { units, members: MEMBERS_MAX };
      const pending: Json[] = [value];
      for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
        if (left.units <= 0 || --left.members < 0 || bag.size >= DOCUMENT_WORDS_MAX) return;
        if (typeof next === "string") {
          addText(next.slice(0, left.units));
          left.units -= next.length;
        } else if (typeof next === "number") {
          addText(String(next));
          left.units -= 8;
        } else if (Array.isArray(next)) {
          for (const one of (next as readonly Json[]).slice(-MEMBERS_MAX)) pending.push(one); // the last is read first
        } else if (isJsonObject(next)) {
          for (const [key, member] of Object.entries(next).slice(0, MEMBERS_MAX).toReversed())
            pending.push(member, key);
        }
      }
    },
    words: () => [...bag],
  };
}
