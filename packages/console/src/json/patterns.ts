// Patterns: linear-time matching of schema patterns, so that no text in a form blocks the page.
// Invariant patterns.1: the server checks patterns that RE2 cannot express, very long texts, and texts typed before RE2
// loads.
import type { RE2JS } from "re2js";

const UNITS_MAX = 100_000;
let engine: typeof RE2JS | null = null;
let loading: Promise<void> | null = null;

/** Its own chunk: most forms have no pattern. */
export function loadPatterns(): Promise<void> {
  loading ??= import("re2js").then((loaded) => void (engine = loaded.RE2JS));
  return loading;
}

export function matches(pattern: string, text: string): boolean {
  if (engine === null) {
    loadPatterns().catch(() => (loading = null)); // retry with the next text
    return true;
  }
  if (text.length > UNITS_MAX) return true;
  try {
    return engine.compile(engine.translateRegExp(pattern)).test(text);
  } catch {
    return true; // patterns.1
  }
}
