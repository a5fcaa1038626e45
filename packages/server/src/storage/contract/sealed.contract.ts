// Cells of sealed columns, for the tests of every adapter.
import { TABLES } from "../shared/sealed-columns.ts";
import { readCellKey } from "../shared/sealing.ts";

type Row = Readonly<Record<string, unknown>>;
export type ReadRows = (sql: string) => readonly Row[] | Promise<readonly Row[]>;

export interface FoundCells {
  /** `table.column: cell` of those that are not sealed with the key. */
  readonly others: readonly string[];
  /** `table.column` of those that are. */
  readonly sealed: readonly string[];
}

/** @param tables of this adapter @param readRows past the storage */
export async function findCells(
  readRows: ReadRows,
  schema: string,
  tables: readonly string[],
  key: string,
): Promise<FoundCells> {
  const [others, sealed] = [new Set<string>(), new Set<string>()];
  for (const table of tables) {
    const columns = Object.keys(TABLES[table]?.sealed ?? {});
    if (columns.length === 0) continue;
    for (const row of await readRows(`SELECT ${columns.join(", ")} FROM ${schema}${table}`)) {
      for (const column of columns) {
        const cell = row[column];
        if (cell === null || isHash(table, column, cell) || EMPTY.has(cell)) continue;
        if (readCellKey(table, column, cell) === key) sealed.add(`${table}.${column}`);
        else others.add(`${table}.${column}: ${JSON.stringify(cell)?.slice(0, 80)}`);
      }
    }
  }
  return { others: [...others], sealed: [...sealed] };
}

const EMPTY: ReadonlySet<unknown> = new Set(["{}", "[]", "null", ""]);

const isHash = (table: string, column: string, cell: unknown): boolean =>
  table === "runs" && column === "input" && /^#[\w-]+$/.test(String(cell));
