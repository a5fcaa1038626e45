// Linear pattern: a regular expression in JavaScript's syntax that matches in time linear in the text, by RE2.
import { RE2JS } from "re2js";

/** RE2's `\s` is ASCII only. */
const SPACES = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;

/** @returns null for a pattern that RE2 does not have: lookaround, a backreference, a count above 1000, or none at all */
export function compilePattern(pattern: string): RE2JS | null {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(asJavaScript(pattern)));
  } catch {
    return null;
  }
}

/** RE2's `.` is every character but `\n`. */
const DOT = String.raw`[^\n\r\x{2028}\x{2029}]`;

/** `\s` and `.` become their JavaScript classes; `\S` inside a class has no such form and keeps the wider RE2 meaning. */
function asJavaScript(pattern: string): string {
  let inClass = false;
  return pattern.replaceAll(/\\?[^]/gu, (unit) => {
    if (unit === "[" || unit === "]") inClass = unit === "[";
    if (!inClass && unit === ".") return DOT;
    if (!inClass && unit === String.raw`\S`) return `[^${SPACES}]`;
    return unit === String.raw`\s` ? (inClass ? SPACES : `[${SPACES}]`) : unit;
  });
}
