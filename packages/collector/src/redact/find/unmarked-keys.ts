// Unmarked keys: secrets without a prefix of their provider, by their length, their characters and the name before them.
// Invariants:
//   - Linear in the text: a name and a key have bounded lengths.
//   - Most texts have no run of key characters as long as a key, and are not searched further. To know that, one
//     character of each KEY_CHARS_MIN is read, and no more around it than its run.
import type { Ranges } from "./ranges.ts";

/** A name of a secret, then an equals sign, colon or quotes. */
const NAMED =
  /(?:(?:aws_?)?secret_?access_?key|aws_?secret(?:_?key)?|twilio[\w. -]{0,24}?|azure[\w. -]{0,24}?key|account_?key)(?:\\{0,8}["'])?\s{0,4}(?::|=|=>)\s{0,4}(?:\\{0,8}["'])?([A-Za-z\d+/]{32,88}={0,2})(?![A-Za-z\d+/=])/gi;
/** AWS's secret access keys. */
const AWS_CHARS = 40;
const AWS_CHARACTERS_DIFFERENT = 20;
/** A longer word is one of a path. */
const AWS_WORD = /[a-z]{8}|[A-Z]{14}/;
/** Azure's account keys are 64 bytes in base64. */
const AZURE_CHARS = 86;
/** The shortest key, behind a name. */
const KEY_CHARS_MIN = 32;

export function findUnmarkedKeys(text: string): Ranges {
  const runs = listKeyRuns(text);
  if (runs.length === 0) return runs;
  const found: number[] = [];
  for (const { index, 0: all, 1: key = "" } of text.matchAll(NAMED))
    if (isMixed(key) || /^[\da-f]{32}$/.test(key)) found.push(index + all.length - key.length, index + all.length);
  for (let at = 0; at < runs.length; at += 2) {
    const index = runs[at] ?? 0;
    const run = text.slice(index, runs[at + 1]);
    const before = text[index - 1] ?? "";
    const after = text.slice(index + run.length, index + run.length + 3);
    const isBounded = !/[\w.=-]/.test(before) || isAfterEscape(text, index);
    if (!isBounded) continue;
    if (run.length === AWS_CHARS && !/^[\w=.-]/.test(after.replace(/^\.(?:\s|$)/, "")) && isAwsSecret(run))
      found.push(index, index + run.length);
    if (run.length === AZURE_CHARS && /^==(?![A-Za-z\d+/=])/.test(after)) found.push(index, index + run.length + 2);
  }
  return found;
}

/** The longest runs of key characters, of KEY_CHARS_MIN at least. */
function listKeyRuns(text: string): Ranges {
  const runs: number[] = [];
  for (let at = KEY_CHARS_MIN - 1; at < text.length; at += KEY_CHARS_MIN) {
    if (!isKeyCharacter(text.charCodeAt(at))) continue;
    let start = at;
    while (start > 0 && isKeyCharacter(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (end < text.length && isKeyCharacter(text.charCodeAt(end))) end++;
    if (end - start >= KEY_CHARS_MIN) runs.push(start, end);
    at = end;
  }
  return runs;
}

/** A letter or digit of ASCII, a plus or a slash. */
function isKeyCharacter(code: number): boolean {
  if (code < 0x30) return code === 0x2b || code === 0x2f;
  return code <= 0x39 || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

/** `\n` and `=` before a key are not its own: `KEY=…`. */
function isAfterEscape(text: string, at: number): boolean {
  return text[at - 1] === "=" && /\w=$/.test(text.slice(Math.max(0, at - 2), at));
}

function isMixed(key: string): boolean {
  return /[a-z]/.test(key) && /[A-Z]/.test(key) && /\d/.test(key);
}

function isAwsSecret(run: string): boolean {
  return isMixed(run) && !AWS_WORD.test(run) && new Set(run).size >= AWS_CHARACTERS_DIFFERENT;
}
