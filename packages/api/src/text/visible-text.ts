// Visible text: characters that a reader cannot see, or that reorder the visible text, as escapes: `abc\u202egnp.exe`. For
// text of graphs, models and other people, wherever a person decides by it. Pure, and runs in browsers.
// Invariants:
//   visible-text.1. Controls, bidirectional controls, zero-width and other ignorable characters become `\uXXXX`, one
//     escape per unit, as in JSON: JSON stays equivalent. Line feeds and tabs stay.
//   visible-text.2. Characters that a script or an emoji needs stay: joiners between letters of scripts that join, and
//     whole emoji sequences.
//   visible-text.3. A name that can be taken for another one has a reason: it contains such a character, it mixes
//     scripts that look alike, or a sibling looks the same.

const HIDDEN = /[\p{DI}\p{Zl}\p{Zp}\ufff9-\ufffb]|(?![\n\t])\p{Cc}|\p{Cs}/u;
const JOINING =
  "\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}\\p{Script=Myanmar}";
/** Groups: kept by visible-text.2; hidden. */
const PARTS = new RegExp(`(\\p{RGI_Emoji}|(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}]))|(${HIDDEN.source})`, "gv");

/** visible-text.1, visible-text.2 */
export function visible(text: string): string {
  return HIDDEN.test(text) ? text.replace(PARTS, (part, kept: string | undefined) => kept ?? escaped(part)) : text;
}

export interface TextPart {
  readonly text: string;
  /** An escape of hidden characters. */
  readonly hidden: boolean;
}

/** The same as parts, for marking the escapes. */
export function visibleParts(text: string): readonly TextPart[] {
  if (!HIDDEN.test(text)) return [{ text, hidden: false }];
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: part, 1: kept, index } of text.matchAll(PARTS)) {
    if (kept !== undefined) continue;
    parts.push({ text: text.slice(end, index), hidden: false }, { text: escaped(part), hidden: true });
    end = index + part.length;
  }
  return [...parts, { text: text.slice(end), hidden: false }].filter((part) => part.text !== "");
}

export function hasHidden(text: string): boolean {
  return visible(text) !== text;
}

function escaped(part: string): string {
  let text = "";
  for (let at = 0; at < part.length; at++) text += `\\u${part.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return text;
}

const SCRIPTS = [
  ["Latin", /\p{Script=Latin}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
] as const;

/** Letters that look like a Latin one in common typefaces; case is folded before. */
const LOOKS = new Map(
  Object.entries({
    a: "аα",
    b: "ьβ",
    c: "сϲ",
    d: "ԁ",
    e: "еε",
    g: "ց",
    h: "һ",
    i: "іıι1|lӏ",
    j: "ј",
    k: "кκ",
    m: "м",
    n: "пη",
    o: "оο0σ",
    p: "рρ",
    q: "ԛ",
    r: "г",
    s: "ѕ5",
    t: "тτ",
    u: "υ",
    v: "ѵν",
    w: "ԝω",
    x: "хχ",
    y: "уγ",
  }).flatMap(([latin, letters]) => Array.from(letters, (letter) => [letter, latin] as const)),
);

/** Equal for names that look the same. */
function skeleton(name: string): string {
  const folded = name.normalize("NFKC").replace(new RegExp(HIDDEN.source, "gu"), "").toLowerCase();
  return Array.from(folded, (letter) => LOOKS.get(letter) ?? letter).join("");
}

/** `["amount", "аmount"]` → the names that can be taken for others, with the reason (visible-text.3). */
export function confusable(names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const alike = Map.groupBy(names, skeleton);
  for (const name of names) {
    const scripts = SCRIPTS.filter(([, letters]) => letters.test(name)).map(([script]) => script);
    const twin = alike.get(skeleton(name))?.find((other) => other !== name);
    if (hasHidden(name)) found.set(name, "has invisible characters");
    else if (scripts.length > 1) found.set(name, `mixes ${scripts.join(" and ")} letters`);
    else if (twin !== undefined) found.set(name, `looks like ${visible(twin)}`);
  }
  return found;
}
