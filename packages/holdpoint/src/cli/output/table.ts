// Table: rows → lines that fit the terminal width.
// Invariants:
//   table.1. No line is wider than the terminal: optional columns go first, then long cells are truncated.
//   table.2. Without a width (a pipe, --wide) nothing is omitted.
import { clip, pad, printable, countWidth } from "./sanitize.ts";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Minimum width; without it, cells are never truncated. */
  readonly least?: number;
  /** Omitted if all its cells are empty, or for lack of space: the last optional column first. */
  readonly optional?: boolean;
  readonly right?: boolean;
}

const GAP = "  ";

/** @param columns of the terminal; null for unlimited width */
export function formatTable<Row>(
  rows: readonly Row[],
  layout: readonly Column<Row>[],
  columns: number | null,
): string[] {
  const drawn = layout.map((column) => {
    const cells = rows.map((row) => printable(column.cell(row)).replace(/\s*[\n\t]\s*/g, " "));
    const width = Math.max(countWidth(column.title), ...cells.map(countWidth));
    return { column, cells, width };
  });
  const filled = drawn.filter(({ column, cells }) => column.optional !== true || cells.some((cell) => cell !== ""));
  const shown = columns === null ? filled : fit(filled, columns); // table.2
  const formatLine = (chooseCell: (part: (typeof shown)[number]) => string): string => {
    const cells = shown.map((part) => pad(clip(chooseCell(part), part.width), part.width, part.column.right));
    const line = cells.join(GAP).trimEnd();
    return columns === null ? line : clip(line, columns);
  };
  return [
    formatLine(({ column }) => column.title),
    ...rows.map((_, index) => formatLine(({ cells }) => cells[index] ?? "")),
  ];
}

interface Drawn<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  readonly width: number;
}

/** table.1. */
function fit<Row>(drawn: readonly Drawn<Row>[], columns: number): readonly Drawn<Row>[] {
  const chooseLeast = ({ column, width }: Drawn<Row>): number => Math.min(width, column.least ?? width);
  const sum = (parts: readonly Drawn<Row>[], of: (part: Drawn<Row>) => number): number =>
    parts.reduce((total, part) => total + of(part), GAP.length * (parts.length - 1));
  let kept = [...drawn];
  while (sum(kept, chooseLeast) > columns) {
    const last = kept.findLastIndex(({ column }) => column.optional === true);
    if (last === -1) break;
    kept = kept.toSpliced(last, 1);
  }
  for (let over = sum(kept, ({ width }) => width) - columns; over > 0; over--) {
    const widest = kept.reduce<number>((best, part, index) => {
      const room = part.width - chooseLeast(part);
      return room > 0 && (best === -1 || part.width > (kept[best]?.width ?? 0)) ? index : best;
    }, -1);
    const part = kept[widest];
    if (part === undefined) break;
    kept[widest] = { ...part, width: part.width - 1 };
  }
  return kept;
}
