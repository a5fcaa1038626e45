// Sealed cells: what runs contain, sealed in the tables of both stores, each value bound to its table, column and row.
// Plain are ids, times, statuses, sizes, tokens and costs, the names of traces, projects, models and tools, and hashes
// of what searches find a trace by.
// Invariants:
//   sealed-cells.1. With keys every cell of a sealed column is sealed. A plain cell is read as it is: traces from before
//        the keys stay until they go.
//   sealed-cells.2. What does not open fails where it is read by itself. Lists and sums leave it out, and a change of it is
//        dropped: one bad row stops no upload.
import { countAddedBytes, readBytesKeyId, readKeyId, SealedValueError, type Keyring } from "@holdpoint/base/keyring.ts";
import type { Row } from "./merged-run.ts";
import { FIELDS } from "./run-change.ts";

type Table = "runs" | "attachments" | "traces";
type Cell = string | Uint8Array | null;

/** Columns, and those that name the row. `small_output` is a name of `outputs` in queries. */
const TABLES: Readonly<Record<Table, { readonly key: readonly string[]; readonly sealed: readonly string[] }>> = {
  runs: { key: ["run_id", "trace_id"], sealed: ["facts", "summary", "main", "small_output", ...FIELDS] },
  attachments: { key: ["run_id", "name"], sealed: ["bytes"] },
  traces: { key: ["trace_id"], sealed: ["error", "input", "output"] },
};

export interface SealedCells {
  /** Null without encryption. */
  readonly ring: Keyring | null;
  /** @param key of the row, in the order of TABLES */
  seal<T extends Cell>(table: Table, column: string, key: readonly string[], cell: T): T;
  /** The row with its sealed cells opened; it has the columns of its key. @throws {SealedValueError} */
  open<T extends Row>(table: Table, row: T): T;
}

export function createSealedCells(ring: Keyring | null): SealedCells {
  return {
    ring,
    seal(table, column, key, cell) {
      if (ring === null || cell === null) return cell;
      const place = namePlace(table, column, key);
      return (typeof cell === "string" ? ring.seal(cell, place) : ring.sealBytes(cell, place)) as typeof cell;
    },
    open(table, row) {
      if (ring === null) return row;
      const { key, sealed } = TABLES[table];
      const opened: Record<string, unknown> = { ...row };
      for (const column of sealed) {
        const cell = row[column];
        const id = cell instanceof Uint8Array ? readBytesKeyId(cell) : readKeyId(cell);
        if (id === null) continue; // sealed-cells.1
        const values = key.map((name) => {
          if (typeof row[name] !== "string") throw new Error(`${table}.${column} needs the column ${name} of its row`);
          return row[name];
        });
        const place = namePlace(table, column === "small_output" ? "outputs" : column, values);
        opened[column] = cell instanceof Uint8Array ? ring.openBytes(cell, place) : ring.open(String(cell), place);
      }
      return opened as typeof row;
    },
  };
}

function namePlace(table: Table, column: string, key: readonly string[]): string {
  return `trace ${table}.${column} ${JSON.stringify(key)}`;
}

/** sealed-cells.2: what `read` makes of each row that opens. */
export function readOpened<T>(rows: readonly Row[], read: (row: Row) => T): readonly T[] {
  return rows.flatMap((row) => {
    const found = readIfOpened(() => read(row));
    return found === null ? [] : [found];
  });
}

/** Null for what does not open. */
export function readIfOpened<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SealedValueError) return null;
    throw error;
  }
}

/** Bytes for the beginning of a stored file, which says whether it is sealed. */
export const HEAD_BYTES = 48;

/** Rows with `bytes`, the stored length of a file, and its `head` → name, type and length of the file itself. */
export function readFileSizes(cells: SealedCells, rows: readonly Row[]): readonly Row[] {
  return rows.map(({ head, bytes, ...file }) => {
    const id = cells.ring !== null && head instanceof Uint8Array ? readBytesKeyId(head) : null;
    return { ...file, bytes: Number(bytes) - (id === null ? 0 : countAddedBytes(id)) };
  });
}
