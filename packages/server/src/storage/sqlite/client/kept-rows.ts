// Kept rows: rows that this process read or wrote a moment ago, so that the steps of a run do not read them again. No
// other process writes to the file.
// Invariants:
//   kept-rows.1. A kept row has the cells that a SELECT on this connection would return, or the values that they open to.
//        The verb that changes a row changes or drops it here, after its statement succeeded.
//   kept-rows.2. An undone write drops every kept row, and so does a change of the file by another connection.
//   - Each kind has at most ROWS_MAX entries and UNITS_MAX units of text; the oldest leave first.
import type { SQLInputValue } from "node:sqlite";

export type KeptRow = Readonly<Record<string, SQLInputValue>>;

export interface Kept<V> {
  readonly get: (key: string) => V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  /** Drops the entries that match. */
  drop(matches: (value: V) => boolean): void;
}

export interface KeptRows {
  readonly threads: Kept<KeptRow>;
  readonly runs: Kept<KeptRow>;
  /** Newest checkpoint of the root namespace, by thread. */
  readonly heads: Kept<KeptRow>;
  /** All interrupts of a thread, breakpoints included. */
  readonly interrupts: Kept<readonly KeptRow[]>;
  /** Number of the newest audit entry of a thread. */
  readonly audited: Kept<number>;
  /** Called when all kept rows are dropped. */
  onDrop(callback: () => void): void;
  dropAll(): void;
}

const ROWS_MAX = 512;
const UNITS_MAX = 1024 * 1024;
/** A larger entry would displace many others. */
const ENTRY_UNITS_MAX = 32 * 1024;

export function createKeptRows(): KeptRows {
  const clears: (() => void)[] = [];
  const kind = <V>(countUnits: (value: V) => number): Kept<V> => {
    const { kept, clear } = createKept(countUnits);
    clears.push(clear);
    return kept;
  };
  return {
    threads: kind(unitsOfRow),
    runs: kind(unitsOfRow),
    heads: kind(unitsOfRow),
    interrupts: kind((rows) => rows.reduce((sum, row) => sum + unitsOfRow(row), 0)),
    audited: kind(() => 8),
    onDrop: (callback) => void clears.push(callback),
    dropAll() {
      for (const clear of clears) clear();
    },
  };
}

function createKept<V>(countUnits: (value: V) => number): { readonly kept: Kept<V>; readonly clear: () => void } {
  const entries = new Map<string, { readonly value: V; readonly units: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.units ?? 0;
    entries.delete(key);
  };
  return {
    kept: {
      get: (key) => entries.get(key)?.value,
      set(key, value) {
        remove(key);
        const units = countUnits(value);
        if (units > ENTRY_UNITS_MAX) return;
        entries.set(key, { value, units });
        total += units;
        for (const oldest of entries.keys()) {
          if (entries.size <= ROWS_MAX && total <= UNITS_MAX) break;
          remove(oldest);
        }
      },
      delete: remove,
      drop(matches) {
        for (const [key, { value }] of entries) if (matches(value)) remove(key);
      },
    },
    clear() {
      entries.clear();
      total = 0;
    },
  };
}

/** A column of text that is never NULL. */
export function textIn(row: KeptRow, column: string): string {
  const cell = row[column];
  if (typeof cell !== "string") throw new Error(`no text in the column ${column}`);
  return cell;
}

function unitsOfRow(row: KeptRow): number {
  let units = 0;
  for (const column in row) {
    const cell = row[column];
    units += typeof cell === "string" || cell instanceof Uint8Array ? cell.length : 8;
  }
  return units;
}
