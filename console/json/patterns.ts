// Patterns: regular expressions of schemas, matched in linear time, so that no text in a form stops the page.
// Invariant PN1: a pattern that RE2 cannot express, a very long text, and any text before RE2 is loaded are left to the server.
import type { RE2JS } from "re2js";

const UNITS_MAX = 100_000;
let engine: typeof RE2JS | null = null;
let loading: Promise<void> | null = null;

/** A chunk of its own: most forms have no pattern. */
export function loadPatterns(): Promise<void> {
  loading ??= import("re2js").then((loaded) => void (engine = loaded.RE2JS));
  return loading;
}

export function matches(pattern: string, text: string): boolean {
  if (engine === null) {
    loadPatterns().catch(() => (loading = null)); // loaded again for the next text
    return true;
  }
  if (text.length > UNITS_MAX) return true;
  try {
    return engine.compile(engine.translateRegExp(pattern)).test(text);
  } catch {
    return true; // PN1
  }
}
