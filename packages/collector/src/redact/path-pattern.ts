// Path pattern: names the values that a rule is about. A path is an attribute key, then the members inside its value, with
// "/" between them: `user.email`, `gen_ai.input.messages/*/parts/*/content`. "*" stands for any characters of one member,
// "**" for any number of members.
// Invariants:
//   - The work is bounded by pattern × path, whatever a sender writes into its keys.
//   - Where the members of a value cannot be told, a pattern may name too much, never too little.

export interface PathPattern {
  readonly text: string;
  readonly members: readonly string[];
  /** The pattern cannot match inside a value: its last member is that of a key. */
  readonly isKeyOnly: boolean;
}

export function pathPattern(text: string): PathPattern {
  const members = text.split("/");
  return { text, members, isKeyOnly: members.length === 1 && text !== "**" };
}

/** The pattern names this path, or, with `orAbove`, a value that contains it. */
export function namesPath({ members }: PathPattern, path: readonly string[], orAbove: boolean): boolean {
  let at: ReadonlySet<number> = skipAny(members, [0]);
  for (const member of path) {
    if (orAbove && at.has(members.length)) return true;
    at = step(members, at, member);
    if (at.size === 0) return false;
  }
  return at.has(members.length);
}

/** The pattern may name something inside a value at this path. */
export function reachesInside({ isKeyOnly, members }: PathPattern, path: readonly string[]): boolean {
  if (isKeyOnly) return false;
  let at: ReadonlySet<number> = skipAny(members, [0]);
  for (const member of path) at = step(members, at, member);
  return [...at].some((index) => index < members.length);
}

/**
 * True when the pattern may name something in a text that is not strict JSON: a quoted key that fits its last member, or
 * an element of a list. Whether the members above fit cannot be told.
 */
export function mayNameIn({ members }: PathPattern, text: string): boolean {
  if (!/["'[]/.test(text)) return false;
  const last = members.findLast((member) => member !== "**") ?? "*";
  const plain = withoutEscapes(text);
  if (/^[\d*]+$/.test(last) && /^[\s\ufeff]*[[{]/.test(plain) && plain.includes("[")) return true;
  if (/["'\\\p{Cc}]/u.test(last)) return plain.includes(":");
  if (!last.includes("*") && !plain.includes(last)) return false; // most texts
  return plain.matchAll(QUOTED_KEY).some(([, key = ""]) => matchesGlob(last, key));
}

const QUOTED_KEY = /["']([^"']*)(?=["']\s*:)/g;

/** Text of JSON at any level of nesting: `\u00fc` becomes the character, and neither backslashes nor controls are left. */
export function withoutEscapes(text: string): string {
  return text
    .replaceAll(/\\+u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\+[bfnrt]?|\p{Cc}/gu, "");
}

/** A key with slashes counts as one member, and as the members between them: `app.kubernetes.io/name` is a key. */
function step(members: readonly string[], at: ReadonlySet<number>, member: string): ReadonlySet<number> {
  const whole = stepOne(members, at, member);
  if (!member.includes("/")) return whole;
  const split = member.split("/").reduce((found, piece) => stepOne(members, found, piece), at);
  return new Set([...whole, ...split]);
}

function stepOne(members: readonly string[], at: ReadonlySet<number>, member: string): ReadonlySet<number> {
  const next: number[] = [];
  for (const index of at) {
    const wanted = members[index];
    if (wanted === "**") next.push(index);
    else if (wanted !== undefined && matchesGlob(wanted, member)) next.push(index + 1);
  }
  return next.length === 0 ? NOWHERE : skipAny(members, next);
}

const NOWHERE: ReadonlySet<number> = new Set();

/** "**" may stand for no member at all. */
function skipAny(members: readonly string[], indexes: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  for (const index of indexes) for (let at = index; all.add(at) && members[at] === "**"; at++);
  return all;
}

/** "*" in the pattern stands for any characters. Returns to the last star only. */
export function matchesGlob(glob: string, text: string): boolean {
  let inGlob = 0;
  let inText = 0;
  let star = -1;
  let resume = 0;
  while (inText < text.length) {
    if (glob[inGlob] === "*") {
      star = inGlob++;
      resume = inText;
    } else if (inGlob < glob.length && glob[inGlob] === text[inText]) {
      inGlob++;
      inText++;
    } else if (star >= 0) {
      inGlob = star + 1;
      inText = ++resume;
    } else return false;
  }
  while (glob[inGlob] === "*") inGlob++;
  return inGlob === glob.length;
}
