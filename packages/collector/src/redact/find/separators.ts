// Separators: what stands between the groups of a number that people read, as such and in escaped forms.

/** Every space and dash of one line, and characters without a width. */
export const SEPARATOR =
  "[ \\-\\u00a0\\u00ad\\u1680\\u2000-\\u200d\\u2010-\\u2015\\u202f\\u205f\\u2060\\u2212\\u3000\\ufeff]";
/** The same in a text that is JSON, Python or a URL and was not read as such: this many backslashes at most. */
const ESCAPED_SEPARATOR =
  /\\{1,8}(?:u(?:00[aA][0dD]|1680|20(?:0[0-9a-dA-D]|1[0-5]|2[fF]|5[fF]|60)|2212|3000|[fF][eE][fF][fF])|x[aA][0dD])|%(?:20|[cC]2%[aA][0dD]|[eE]2%80%(?:8[0-9a-dA-D]|9[0-5]|[aA][fF])|[eE]2%88%92|[eE]3%80%80)/g;
/** Stands for each character of an escaped separator. */
const ESCAPE = "\ue000";
const ESCAPE_CHARS_MAX = 13;

/** One separator of `replaceEscapes`' text. */
export const ONE_SEPARATOR = `(?:${SEPARATOR}|${ESCAPE}{1,${ESCAPE_CHARS_MAX}})`;

/** A text of the same length in which each escaped separator is one of ONE_SEPARATOR. */
export function replaceEscapes(text: string): string {
  return /[\\%]/.test(text) ? text.replace(ESCAPED_SEPARATOR, ({ length }) => ESCAPE.repeat(length)) : text;
}

/** A letter or digit is before this place, and no character in its form in a URL, such as `%3D`. */
export function isInWord(text: string, at: number): boolean {
  return /[\p{L}\d_]/u.test(text[at - 1] ?? "") && !endsEscaped(text, at);
}

/** A character in its form in a URL ends here, such as `%3D`: no part of a word. */
export function endsEscaped(text: string, at: number): boolean {
  return /^%[\dA-Fa-f]{2}$/.test(text.slice(Math.max(0, at - 3), at));
}
