// Unmarked keys: secrets without a prefix of their provider, by their length, their characters and the name before them.
// Invariant unmarked-keys.1: linear in the text: a name and a key have bounded lengths.
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
const KEY_RUN = /[A-Za-z\d+/]{40,}/g;

export function findUnmarkedKeys(text: string): Ranges {
  const found: number[] = [];
  for (const { index, 0: all, 1: key = "" } of text.matchAll(NAMED))
    if (isMixed(key) || /^[\da-f]{32}$/.test(key)) found.push(index + all.length - key.length, index + all.length);
  for (const { index, 0: run } of text.matchAll(KEY_RUN)) {
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
