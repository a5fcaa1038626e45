// Path pattern: names the values that a rule is about. A path is an attribute key, then the members inside its value, with
// "/" between them: `user.email`, `gen_ai.input.messages/*/parts/*/content`. "*" stands for any characters of one member,
// "**" for any number of members.
// Invariant path-pattern.1: the work is bounded by pattern × path, whatever a sender writes into its keys.

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
    const next: number[] = [];
    for (const index of at) {
      const wanted = members[index];
      if (wanted === "**") next.push(index);
      else if (wanted !== undefined && matchesGlob(wanted, member)) next.push(index + 1);
    }
    if (next.length === 0) return false;
    at = skipAny(members, next);
  }
  return at.has(members.length);
}

/** "**" may stand for no member at all. */
function skipAny(members: readonly string[], indexes: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  for (const index of indexes) for (let at = index; all.add(at) && members[at] === "**"; at++);
  return all;
}

/** "*" in the pattern stands for any characters. Returns to the last star only (path-pattern.1). */
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

/** A text that every path of the pattern contains: its longest part without a star. "" for none. */
export function literalOfPath({ members }: PathPattern): string {
  const parts = members.flatMap((member) => member.split("*"));
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}
