// Linear pattern: matches a caller's regular expression in time linear in the text.
// Invariants:
//   linear-pattern.1. RE2, which never backtracks, rejects a text that does not match.
//   linear-pattern.2. A match also needs the agreement of JavaScript's own engine: code that applies the pattern again,
//        such as a Zod schema inside a node, receives only texts that its engine accepts.
//   linear-pattern.3. JavaScript's engine handles a pattern that RE2 cannot express (lookaround, backreferences, counts
//        above 1000). Pattern matching runs in boundedWork().
import { RE2JS } from "re2js";

/** Replaces RegExp for callers that only use `test`. */
export class LinearPattern extends RegExp {
  readonly #text: string;
  #linear: RE2JS | null | undefined;

  /** @throws {SyntaxError} for an invalid regular expression. */
  constructor(pattern: string | RegExp, flags?: string) {
    const text = typeof pattern === "string" ? pattern : pattern.source;
    super(text, flags ?? (readsAsUnicode(text) ? "u" : ""));
    this.#text = text;
  }

  override test(text: string): boolean {
    this.#linear ??= this.#linear === undefined ? compile(this.#text, this.ignoreCase) : null;
    if (this.#linear?.test(text) === false) return false; // linear-pattern.1
    return super.test(text); // linear-pattern.2, linear-pattern.3
  }
}

function readsAsUnicode(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** RE2's `\s` is ASCII only. */
const SPACES = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;

function compile(text: string, ignoreCase: boolean): RE2JS | null {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(withSpaces(text)), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch {
    return null; // linear-pattern.3
  }
}

/** `\s` becomes its JavaScript class; `\S` inside a class has no such form and keeps the wider RE2 meaning. */
function withSpaces(text: string): string {
  let inClass = false;
  return text.replaceAll(/\\?[^]/gu, (unit) => {
    if (unit === "[" || unit === "]") inClass = unit === "[";
    return unit === String.raw`\s` ? (inClass ? SPACES : `[${SPACES}]`) : unit;
  });
}
