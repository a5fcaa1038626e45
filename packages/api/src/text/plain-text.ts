// Plain text: a graph's Markdown as words for one line: titles, excerpts, subjects. Pure, and runs in browsers.
// Invariants:
//   plain-text.1. Marks go, words stay: what a reader would see rendered is what the line says. Addresses of links stay
//     out of it; images are named by their text.
//   plain-text.2. An address that holds its data is a word, not its bytes.
//   plain-text.3. Text without marks stays as it is: `2 * 3 * 4`, `snake_case_name`, `a < b`, `Bob <bob@example.org>`.

/** One line of Markdown at a time; blocks first, then what is inside of a line. */
const BLOCKS: readonly (readonly [RegExp, string])[] = [
  [/^\s{0,3}(?:```|~~~).*$/, ""],
  [/^\s{0,3}(?:[-*_]\s*){3,}$/, ""],
  [/^\s{0,3}=+\s*$/, ""],
  [/^\s*\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?)?\s*$/, ""],
  [/^(?:\s{0,3}>\s?)+/, ""],
  [/^\s{0,3}#{1,6}\s+/, ""],
  [/(?<=\S)\s+#+\s*$/, ""],
  [/^\s*[-*+]\s+(?:\[[ xX]\]\s+)?/, ""],
];

const LINKS: readonly (readonly [RegExp, string])[] = [
  [/!\[([^\]\n]{0,300})\]\([^)\s]*(?:\s+"[^"\n]*")?\)/g, "$1"],
  [/\[([^\]\n]{1,300})\]\([^)\s]*(?:\s+"[^"\n]*")?\)/g, "$1"],
];

const INLINE: readonly (readonly [RegExp, string])[] = [
  [/<br\s*\/?>/gi, " "],
  [
    /<\/?(?:a|b|blockquote|body|center|code|dd|details|div|dl|dt|em|font|h[1-6]|head|hr|html|i|img|li|ol|p|pre|s|script|section|span|strong|style|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>]*)?\/?>/gi,
    "",
  ],
  [/(?<![\\`])(`{1,3})(?!`)([^`\n]+?)\1(?!`)/g, "$2"],
  [/(?<![\\*\w])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1(?![*\w])/g, "$2"],
  [/(?<![\\_\w])(_{1,3})(?=\S)([^\n]+?)(?<=\S)\1(?![_\w])/g, "$2"],
  [/(?<!\\)~~(?=\S)([^~\n]+?)(?<=\S)~~/g, "$1"],
  [/\\([\\`*_{}[\]()#+\-.!~>|])/g, "$1"],
];
const MARKED = /[#*_`~[\]<>|\\=]|\bdata:|^\s*[-+]/m;

/** The words of a text in one line: `**Refund** [4711](https://…)?` → `Refund 4711?` */
export function formatPlainText(text: string): string {
  return formatPlainLines(text).join(" ").replace(/\s+/g, " ").trim();
}

/** Lines with words, without marks; none for a text of marks only. */
export function formatPlainLines(text: string): readonly string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => (MARKED.test(line) ? formatLine(line) : line).trim())
    .filter((line) => line !== "");
}

/** Addresses that hold their data, by a word (plain-text.2). */
export function nameData(text: string): string {
  return text
    .replace(/\bdata:image\/[\w.+-]*[;,][^\s"')>]*/g, "[image]")
    .replace(/\bdata:[\w.+-]+\/[\w.+-]+[;,][^\s"')>]*/g, "[file]");
}

function formatLine(line: string): string {
  const words = replaceAll(INLINE, nameData(replaceAll(LINKS, replaceAll(BLOCKS, line))));
  return /^\s*\|.*\|\s*$/.test(words) ? words.replace(/^\s*\||\|\s*$/g, "").replace(/\s*\|\s*/g, " · ") : words;
}

function replaceAll(rules: readonly (readonly [RegExp, string])[], text: string): string {
  return rules.reduce((rest, [mark, word]) => rest.replace(mark, word), text);
}
