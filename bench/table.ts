// Table of a benchmark: each figure beside the asked one, printed as it comes and written as JSON at the end.
// Invariant table.1: a figure is a ratio of two measurements of this run, or of one and its limit: machines differ.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { dirname } from "node:path";

export interface Line {
  readonly what: string;
  readonly measured: string;
  readonly ratio: number;
  /** `at least …` or `at most …`. */
  readonly asked: string;
  /** Limit of the ratio; by default the first number of `asked`. */
  readonly limit?: number;
}

export type Note = (line: Line) => void;

export interface Table {
  readonly note: Note;
  /** Writes the JSON, and prints the ratios in one line. */
  close(): void;
}

const WIDTHS = { what: 50, measured: 34, ratio: 8 };

export function createTable(path: string): Table {
  const lines: (Line & { readonly met: boolean })[] = [];
  const loadBefore = loadavg()[0] ?? 0;
  const print = (what: string, measured: string, ratio: string, rest: string): void => {
    const cells = [what.padEnd(WIDTHS.what), measured.padEnd(WIDTHS.measured), ratio.padStart(WIDTHS.ratio)];
    console.log(`${cells.join(" ")}   ${rest}`);
  };
  print("what", "measured", "ratio", "asked");
  return {
    note(line) {
      const met = isMet(line);
      lines.push({ ...line, met });
      print(line.what, line.measured, line.ratio.toFixed(2), met ? line.asked : `${line.asked}: missed`);
    },
    close() {
      const [loadAfter = 0] = loadavg();
      const missed = lines.filter(({ met }) => !met).length;
      console.log(`ratios: ${lines.map(({ ratio }) => ratio.toFixed(2)).join(" ")}`);
      console.log(`${missed} of ${lines.length} missed; load ${loadBefore.toFixed(1)} to ${loadAfter.toFixed(1)}`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${JSON.stringify({ node: process.version, loadBefore, loadAfter, lines }, null, 2)}\n`);
      console.log(`written to ${path}`);
    },
  };
}

function isMet({ ratio, asked, limit = Number(/[\d.]+/.exec(asked)?.[0]) }: Line): boolean {
  return asked.startsWith("at least") ? ratio >= limit : ratio <= limit;
}

/** Replaces what a page has between two comments: `<!-- NAME -->` and `<!-- /NAME -->`. */
export function writeBetweenMarks(path: string, name: string, text: string): void {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const page = readFileSync(path, "utf8");
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path} has no ${begin} … ${end}`);
  writeFileSync(path, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`);
  console.log(`written to ${path}`);
}
