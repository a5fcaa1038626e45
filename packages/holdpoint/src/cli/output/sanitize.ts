// Text: sanitises text of graphs, models and other people for a terminal.
// Invariants:
//   sanitize.1. Server text never moves the cursor, sets colours, rings the bell or changes the text direction, and
//     hides no character: what would is an escape (api/text/visible-text: visible-text.1).
//   sanitize.2. Widths count terminal columns, not string units.
import { visible } from "@holdpoint/api/text/visible-text.ts";

const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const PLAIN = /^[\x20-\x7e]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

const segments = new Intl.Segmenter();

/** Text of several lines (sanitize.1). */
export function printable(text: string): string {
  return visible(text.replace(/\r\n?/g, "\n"));
}

/** Text on one line (sanitize.1). */
export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, " ").trim();
}

/** Equivalent JSON (sanitize.1). */
export function jsonText(value: unknown, indent?: number): string {
  return visible(JSON.stringify(value, null, indent) ?? "null");
}

/** sanitize.2. */
export function countWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments.segment(text)) width += countColumns(segment);
  return width;
}

function countColumns(segment: string): number {
  if (INVISIBLE.test(segment)) return 0;
  return WIDE.test(segment) ? 2 : 1;
}

/** At most `columns` wide, truncated with an ellipsis. */
export function clip(text: string, columns: number): string {
  return beginning(text, columns) === text ? text : `${beginning(text, columns - 1).trimEnd()}…`;
}

/** More than any script needs; longer sequences of invisible characters are truncated. */
const UNITS_A_COLUMN_MAX = 32;

/** The longest prefix of at most `columns` width, found without reading the rest. */
function beginning(text: string, columns: number): string {
  const head = text.slice(0, columns * UNITS_A_COLUMN_MAX);
  if (PLAIN.test(head)) return text.slice(0, columns);
  let width = 0;
  for (const { segment, index } of segments.segment(head)) {
    width += countColumns(segment);
    if (width > columns) return text.slice(0, index);
  }
  return head;
}

export function pad(text: string, columns: number, right = false): string {
  const blanks = " ".repeat(Math.max(0, columns - countWidth(text)));
  return right ? `${blanks}${text}` : `${text}${blanks}`;
}

/** `("a b c", 3)` → `["a b", "c"]`: breaks between words where possible. */
export function wrap(text: string, columns: number): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    let rest = line;
    for (let part = beginning(rest, columns); part !== rest; part = beginning(rest, columns)) {
      const blank = rest[part.length] === " " ? part.length : part.lastIndexOf(" ");
      const cut = blank > 0 ? blank : Math.max(1, part.length); // at least one: guarantees progress
      lines.push(rest.slice(0, cut).trimEnd());
      rest = rest.slice(cut).trimStart();
    }
    return [...lines, rest];
  });
}

const UNITS = [
  [86_400, "d"],
  [3600, "h"],
  [60, "m"],
] as const;

/** `90_000` → `1m` */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  for (const [length, name] of UNITS) if (seconds >= length) return `${Math.floor(seconds / length)}${name}`;
  return `${seconds}s`;
}

/** `1 thread`, `2 threads`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
