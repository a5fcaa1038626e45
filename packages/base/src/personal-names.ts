// Personal names: the identifiers of one person in texts and JSON → a pseudonym. Pure.
// Invariants:
//   personal-names.1. A text that is an identifier is replaced wherever it names somebody: everywhere in records, and in
//        contents under members that name people. A name may be a common word.
//   personal-names.2. An identifier that cannot be a common word (an address, several words, a long id) is replaced inside
//        other texts too, where it stands alone: not as part of another word or address. So is a mention: `@ann`.
//   personal-names.3. JSON stays JSON, and everything else in it stays as it was written.
//   personal-names.4. Roles, permissions and decisions are no names, also where somebody is called so.

/** `record`: what Holdpoint writes about people. `content`: what graphs and callers write. */
export type TextKind = "record" | "content";

export interface PersonalNames {
  /** The same text where it names nobody. */
  replace(text: string, kind: TextKind): string;
  names(text: string, kind: TextKind): boolean;
  /** The text is the first of the identifiers: the name under which rows of the person are kept. */
  isPerson(text: string): boolean;
  /** The namespace or key belongs to the person: not by a displayed name, by a common word only behind another label. */
  isLabel(text: string, at: number): boolean;
}

const LONG_UNITS = 16;
const OF_PEOPLE =
  "by|user|user_?id|user_?name|owner|author|caller|identity|assignees?|assigned_?to|person|sub|subject|email|editors|excluded";
/** Members that name people, in JSON of any origin: `by`, `claimed_by`, `startedBy`, `enduser.id`. */
const PERSON_KEY = new RegExp(`(?:^|[_.-])(?:${OF_PEOPLE})$|user\\.id$`, "i");
/** Members of records whose texts are words of the product; personal-names.4. */
const NO_NAMES = /^(?:action|channel|decisions?|graphs?|key|kind|op|permissions|roles?|status|type|via)$/;
/** A string of JSON, and the colon that makes it a key. */
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/gs;
const WORD = String.raw`[\p{L}\p{N}_]`;
const BEFORE = `(?<!${WORD}[.+-]?)`;
const AFTER = `(?!${WORD}|[.@-]${WORD})`;

const isUncommon = (one: string): boolean => /\S[@\s]\S/.test(one) || one.length >= LONG_UNITS;
const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
const quote = (text: string): string => JSON.stringify(text).slice(1, -1);

/** @param identifiers of the person: name, address, subject, displayed name, in this order */
export function createPersonalNames(identifiers: readonly string[], pseudonym: string): PersonalNames {
  const own = [...new Set(identifiers.map((one) => one.trim()).filter((one) => one !== ""))];
  const forms = new Set(own.flatMap((one) => [one.toLowerCase(), encodeURIComponent(one).toLowerCase()]));
  const needles = [...new Set([...forms].flatMap((one) => [one, quote(one)]))];
  const inside = [...forms].filter(isUncommon).map((one) => `${BEFORE}${escape(one)}${AFTER}`);
  const mentions = own.filter((one) => !isUncommon(one)).map((one) => `(?<=(?<!${WORD})@)${escape(one)}${AFTER}`);
  const patterns = [...inside, ...mentions];
  const pattern = patterns.length === 0 ? null : new RegExp(patterns.join("|"), "giu");

  const replaceText = (text: string, isPerson: boolean): string => {
    if (isPerson && (own.includes(text) || (isAddress(text) && forms.has(text.toLowerCase())))) return pseudonym;
    return pattern === null ? text : text.replace(pattern, pseudonym);
  };
  const replaceJson = (text: string, kind: TextKind): string => {
    let key = "";
    return text.replace(STRING, (whole: string, colon: string | undefined) => {
      const written = colon === undefined ? whole : whole.slice(0, -colon.length);
      const value = JSON.parse(written) as string;
      const isNamed = kind === "record" ? !NO_NAMES.test(key) : isPersonKey(key);
      const isPerson = colon === undefined && isNamed;
      if (colon !== undefined) key = value;
      const changed = replaceAny(value, kind, isPerson);
      return changed === value ? whole : JSON.stringify(changed) + (colon ?? "");
    });
  };
  const replaceAny = (text: string, kind: TextKind, isPerson: boolean): string => {
    const lower = text.toLowerCase();
    if (!needles.some((needle) => lower.includes(needle))) return text;
    if (isJson(text)) return replaceJson(text, kind);
    if (!text.includes("\n")) return replaceText(text, isPerson);
    return text // lines of JSON, or of text
      .split("\n")
      .map((line) => (isJson(line) ? replaceJson(line, kind) : replaceText(line, false)))
      .join("\n");
  };
  const replace: PersonalNames["replace"] = (text, kind) => replaceAny(text, kind, kind === "record");
  return {
    replace,
    names: (text, kind) => replace(text, kind) !== text,
    isPerson: (text) => text === identifiers[0],
    isLabel: (text, at) =>
      (isUncommon(text) || at > 0) &&
      identifiers
        .slice(0, 3)
        .some((one) => one === text || (isAddress(one) && one.toLowerCase() === text.toLowerCase())),
  };
}

/** Whether a member of this name names somebody. */
export const isPersonKey = (key: string): boolean => PERSON_KEY.test(key) || /[a-z]By$/.test(key);

const isAddress = (text: string): boolean => text.includes("@");

function isJson(text: string): boolean {
  if (!/^\s*[[{"]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
