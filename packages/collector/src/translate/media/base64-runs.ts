// Base64 runs: long stretches of base64 in a JSON text.
// Invariants:
//   - The time is linear in the text, whatever it contains, and small without a long run: one character of
//     every RUN_CHARS_MIN is read.
//   base64-runs.2. A run is whole: the characters beside it cannot belong to it. `\/` and `\u002b` are the characters that
//        some writers of JSON escape. Line breaks, as MIME has them, are part of a run. JSON inside of a text has more
//        backslashes.
export interface Base64Run {
  readonly start: number;
  readonly end: number;
}

/** Shorter content stays in the text: 768 bytes, a small icon. */
export const RUN_CHARS_MIN = 1024;

const BACKSLASH = 0x5c;
const PADDING = 0x3d;
const ESCAPE = /^\\+(?:[/nr]|u002b)/i;
const ESCAPE_CHARS_MAX = 12;
/** Behind the padding. */
const LAST_BREAK = /^(?:\\+r)?\\+n/;
const BREAK_CHARS_MAX = 16;
const ALPHABET = new Uint8Array(128);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
  ALPHABET[char.charCodeAt(0)] = 1;

export function* base64Runs(text: string): Generator<Base64Run> {
  let last = 0;
  for (let at = RUN_CHARS_MIN - 1; at < text.length; at += RUN_CHARS_MIN) {
    if (!isPart(text, at)) continue;
    let start = at;
    while (start > last && isPart(text, start - 1)) start--;
    let end = at + 1;
    while (end < text.length && isPart(text, end)) end++;
    while (text.charCodeAt(end) === PADDING) end++;
    end += LAST_BREAK.exec(text.slice(end, end + BREAK_CHARS_MAX))?.[0].length ?? 0;
    last = end;
    if (end - start >= RUN_CHARS_MIN) yield { start, end };
    at = Math.max(at, end - 1);
  }
}

/** The base64 of a run, without escapes. */
export function unescaped(run: string): string {
  if (!run.includes("\\")) return run;
  return run
    .replaceAll(/\\+[nr]/g, "")
    .replaceAll(/\\+\//g, "/")
    .replaceAll(/\\+u002b/gi, "+");
}

function isPart(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === BACKSLASH) return ESCAPE.test(text.slice(at, at + ESCAPE_CHARS_MAX));
  return code < 128 && ALPHABET[code] === 1;
}
