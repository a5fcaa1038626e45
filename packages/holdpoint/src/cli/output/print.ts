// Print: the output of a command, as text for people or as JSON for programs, and its progress.
// Invariants:
//   - With --json the output is JSON only: one document, or one object per line for lists.
//   - An operation longer than PATIENCE_MS shows progress on an interactive error output, and clears it afterwards.
import { styleText } from "node:util";
import type { Clock } from "@holdpoint/base/clock.ts";
import { type Column, formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { jsonText } from "./sanitize.ts";

export interface PrintOptions {
  readonly json?: boolean;
  readonly wide?: boolean;
  /** Instead of the text: the page in the browser. */
  readonly web?: boolean;
}

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export function paint({ colour }: Terminal, style: Style, text: string): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}

/** A list: a table, or one JSON object per line. */
export function printList<Row>(
  { columns, ...terminal }: Terminal,
  rows: readonly Row[],
  layout: readonly Column<Row>[],
  { json, wide, none }: PrintOptions & { readonly none: string },
): void {
  const { out, output } = terminal;
  if (json === true) return out(formatRows(rows, output.isFiltered()));
  if (rows.length === 0) return out(`${none}\n`);
  const [head = "", ...lines] = formatTable(rows, layout, wide === true ? null : columns);
  out(`${[paint({ columns, ...terminal }, "dim", head), ...lines].join("\n")}\n`);
}

/** A list whose columns depend on its rows and on the time. @param chooseColumns `wide`: ids and cells stay whole */
export function printColumns<Row>(
  { terminal, clock }: { readonly terminal: Terminal; readonly clock: Clock },
  rows: readonly Row[],
  chooseColumns: (rows: readonly Row[], now: number, wide: boolean) => readonly Column<Row>[],
  options: PrintOptions & { readonly none: string },
): void {
  printList(terminal, rows, chooseColumns(rows, clock.now(), options.wide === true), options);
}

/** One object a line; one array for an expression of jq. */
export function formatRows(rows: readonly unknown[], isFiltered: boolean): string {
  return isFiltered ? `${jsonText(rows)}\n` : rows.map((row) => `${jsonText(row)}\n`).join("");
}

export function printJson({ out }: Terminal, value: unknown): void {
  out(`${jsonText(value, 2)}\n`);
}

/** Delay before people expect a sign of progress. */
const PATIENCE_MS = 1000;

export async function withProgress<T>(
  { terminal, clock }: { readonly terminal: Terminal; readonly clock: Clock },
  what: string,
  work: Promise<T>,
): Promise<T> {
  if (!terminal.watched) return work;
  const begun = clock.monotonic();
  const show = (): void => {
    terminal.err(`\r\u001b[K${what}… ${Math.round((clock.monotonic() - begun) / 1000)} s`);
    shown = true;
    cancel = clock.after(PATIENCE_MS, show);
  };
  let shown = false;
  let cancel = clock.after(PATIENCE_MS, show);
  try {
    return await work;
  } finally {
    cancel();
    if (shown) terminal.err("\r\u001b[K");
  }
}
