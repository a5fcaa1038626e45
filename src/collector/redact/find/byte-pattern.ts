// Byte pattern: a run of bytes that every match of a rule contains, as one set of bytes for each position.
// Invariant byte-pattern.1: a pattern sees bytes, not characters: a set with a character beyond ASCII is a mistake.
export type ByteSet = Uint8Array<ArrayBuffer>;
export type BytePattern = readonly ByteSet[];

const sets = new Map<string, ByteSet>();

/** `source` is one character or one class of a regular expression over bytes. */
function byteSet(source: string): ByteSet {
  const known = sets.get(source);
  if (known !== undefined) return known;
  const pattern = new RegExp(`^${source}$`, "s");
  const set = Uint8Array.from({ length: 256 }, (_, byte) => (pattern.test(String.fromCharCode(byte)) ? 1 : 0));
  sets.set(source, set);
  return set;
}

export function patternOf(sources: readonly string[]): BytePattern {
  return sources.map(byteSet);
}

/** Sources of the bytes of the text's UTF-8. */
export function literalSources(text: string): string[] {
  return Array.from(Buffer.from(text), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`);
}

export function matchesAt(b: Uint8Array, at: number, pattern: BytePattern): boolean {
  if (at < 0 || at + pattern.length > b.length) return false;
  for (let index = 0; index < pattern.length; index++) if (pattern[index]?.[b[at + index] ?? 0] !== 1) return false;
  return true;
}

const ANY = byteSet("[^]");

/**
 * Two pairs of neighbouring positions, one behind the other, that are the rarest in text. Whatever the parity of a
 * match's position, one of them begins at an even offset.
 */
export interface Window {
  /** Position in the pattern of the first pair; -1: the byte before the pattern. */
  readonly offset: number;
  readonly pairs: readonly [first: readonly [ByteSet, ByteSet], second: readonly [ByteSet, ByteSet]];
}

export function rarestWindow(pattern: BytePattern): Window {
  const extended = [ANY, ...pattern, ANY];
  let best: Window | null = null;
  let bestShare = Infinity;
  for (let at = 0; at + 2 < extended.length; at++) {
    const [one = ANY, two = ANY, three = ANY] = extended.slice(at, at + 3);
    const share = shareOf(two) * (shareOf(one) + shareOf(three));
    if (share >= bestShare) continue;
    bestShare = share;
    best = { offset: at - 1, pairs: [[one, two], [two, three]] }; // prettier-ignore
  }
  return best ?? { offset: -1, pairs: [[ANY, ANY], [ANY, ANY]] }; // prettier-ignore
}

/** Rough weights of bytes in English text, JSON and protobuf; only the order of windows depends on them. */
function weightOf(byte: number): number {
  if (byte === 0x20) return 150;
  if ("etaoinshr".includes(String.fromCharCode(byte))) return 60;
  if (byte >= 0x61 && byte <= 0x7a) return 20;
  if (byte === 0x22 || byte === 0x5c || byte === 0x2c || byte === 0x2e) return 15;
  if (byte >= 0x30 && byte <= 0x39) return 6;
  return byte < 0x20 ? 3 : 2;
}

function shareOf(set: ByteSet): number {
  let sum = 0;
  for (let byte = 0; byte < 256; byte++) if (set[byte] === 1) sum += weightOf(byte);
  return sum;
}

/** In bits: how rarely text has such bytes. */
export function rarityOf(pattern: BytePattern): number {
  const all = shareOf(ANY);
  return pattern.reduce((sum, set) => sum + Math.log2(all / Math.max(1, shareOf(set))), 0);
}
