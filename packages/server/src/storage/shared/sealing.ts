// Sealing: the one place where values become the cells of sealed columns (sealed-columns.ts), and cells values.
// Invariants:
//   sealing.1. Without keys a cell is the value. With keys, every cell of a sealed column that says something is sealed,
//        and bound to its table, column and row.
//   sealing.3. A sealed text is text, or bytes where the database takes bytes in every column: they are a quarter shorter.
//        Both are read.
//   - A plain cell is read as it is: data from before the keys stays readable until it is rewritten.
import {
  createKeyring,
  readBytesKeyId,
  readKeyId,
  SealedValueError,
  type EncryptionKey,
  type Keyring,
} from "@holdpoint/base/keyring.ts";
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import { type SealedColumn, TABLES } from "./sealed-columns.ts";

type Cells = Readonly<Record<string, unknown>>;

export interface Sealing {
  /** Newest first; empty without encryption. */
  readonly keys: readonly EncryptionKey[];
  /** Null without keys. */
  readonly ring: Keyring | null;
  /** @param row the cells that name the row @returns the cell to store */
  seal<T>(table: string, column: string, row: Cells, cell: T): T;
  /** @throws {SealedValueError} */
  open<T>(table: string, column: string, row: Cells, cell: T): T;
  /** All cells of a row that a sealed column has, opened. @throws {SealedValueError} */
  openRow<T extends Cells>(table: string, row: T): T;
  sealRow<T extends Cells>(table: string, row: T): T;
}

/** @param form of sealed texts (sealing.3) */
export function createSealing(keys: readonly EncryptionKey[], form: "text" | "bytes" = "text"): Sealing {
  const ring = keys.length === 0 ? null : createKeyring(keys);
  const seal: Sealing["seal"] = (table, column, row, cell) =>
    ring === null || cell === null || cell === undefined
      ? cell
      : (sealCell(ring, form, { table, column, row }, cell) as typeof cell);
  const open: Sealing["open"] = (table, column, row, cell) =>
    ring === null || cell === null ? cell : (openCell(ring, { table, column, row }, cell) as typeof cell);
  const changed = (change: Sealing["seal"]): Sealing["openRow"] => {
    return (table, row) => {
      if (ring === null) return row;
      const cells: Record<string, unknown> = { ...row };
      for (const column in TABLES[table]?.sealed)
        if (column in row) cells[column] = change(table, column, row, row[column]);
      return cells as typeof row;
    };
  };
  return { keys, ring, seal, open, openRow: changed(open), sealRow: changed(seal) };
}

export const PLAIN: Sealing = createSealing([]);

/** A list leaves out a row that does not open, so that it fails where it is read by itself, and nowhere else. */
export function readOpening<Row, T>(rows: readonly Row[], read: (row: Row) => T): readonly T[] {
  return rows.flatMap((row) => {
    try {
      return [read(row)];
    } catch (error) {
      if (error instanceof SealedValueError) return [];
      throw error;
    }
  });
}

/** @returns the error of what does not open */
export function readIfOpened<T>(reading: Promise<T>): Promise<T | SealedValueError> {
  return reading.catch((error: unknown) => {
    if (error instanceof SealedValueError) return error;
    throw error;
  });
}

/** The error of a run that does not open. */
export function describeUnreadable({ code, message }: SealedValueError): string {
  return JSON.stringify({ error: code, message });
}

interface Place {
  readonly table: string;
  readonly column: string;
  readonly row: Cells;
}

/** The id of the key of a cell; null for a plain one. */
export function readCellKey(table: string, column: string, cell: unknown): string | null {
  const found = TABLES[table]?.sealed[column];
  return found === undefined ? null : readKey(found, found.plainMember === undefined ? cell : readSealedMember(cell));
}

function readKey({ isBytes }: SealedColumn, sealed: unknown): string | null {
  return sealed instanceof Uint8Array && isBytes !== true ? readBytesKeyId(sealed) : readKeyId(sealed); // sealing.3
}

function sealCell(ring: Keyring, form: "text" | "bytes", place: Place, cell: unknown): unknown {
  const found = TABLES[place.table]?.sealed[place.column];
  if (found === undefined) return cell;
  const name = namePlace(place, found.row);
  if (cell instanceof Uint8Array) return ring.sealBytes(cell, name);
  if (typeof cell !== "string" || staysPlain(place.table, place.column, cell)) return cell;
  const { plainMember } = found;
  if (plainMember === undefined) return form === "bytes" ? ring.sealBytes(cell, name) : ring.seal(cell, name);
  const value = JSON.parse(cell) as Json;
  const plain = isJsonObject(value) ? value[plainMember] : undefined;
  return JSON.stringify({ ...(plain === undefined ? {} : { [plainMember]: plain }), sealed: ring.seal(cell, name) });
}

function openCell(ring: Keyring, place: Place, cell: unknown): unknown {
  const found = TABLES[place.table]?.sealed[place.column];
  if (found === undefined) return cell;
  const sealed = found.plainMember === undefined ? cell : (readSealedMember(cell) ?? cell);
  if (readKey(found, sealed) === null) return cell;
  const name = namePlace(place, found.row);
  if (!(sealed instanceof Uint8Array)) return ring.open(String(sealed), name);
  const content = ring.openBytes(sealed, name);
  return found.isBytes === true ? content : content.toString("utf8");
}

function readSealedMember(cell: unknown): unknown {
  if (typeof cell !== "string" || !cell.includes('"sealed":"~1.')) return null;
  const value = JSON.parse(cell) as Json;
  return isJsonObject(value) ? (value["sealed"] ?? null) : null;
}

const EMPTY: ReadonlySet<string> = new Set(["", "{}", "[]", "null"]);
const EMPTY_UNITS_MAX = 4;

/** Most configs and contexts are empty. A large input is `#<hash>` of a sealed blob: conditions read it. */
export function staysPlain(table: string, column: string, cell: unknown): boolean {
  if (typeof cell !== "string") return false;
  if (cell.length <= EMPTY_UNITS_MAX && EMPTY.has(cell)) return true;
  return table === "runs" && column === "input" && cell.startsWith("#");
}

/** sealing.1. */
function namePlace({ table, column, row }: Place, names: readonly string[]): string {
  const values = names.map((name) => {
    const value = row[name];
    if (value === undefined || value === null)
      throw new Error(`${table}.${column} needs the column ${name} of its row`);
    return value;
  });
  return `${table}.${column} ${JSON.stringify(values)}`;
}
