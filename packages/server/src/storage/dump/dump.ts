// Dump: the full content of a storage as lines of text, and back. It moves data between adapters.
//   {"holdpoint_dump":1,"holdpoint":"0.1.0","library":"1.4.18"}
//   ["threads",{"thread_id":"…",…}]            one line a row, tables in the order of DUMP_TABLES
//   {"rows":{"threads":1,…},"sha256":"…"}      over all bytes before this line
// Invariants:
//   dump.1. A dump loads completely or not at all, and only into an empty storage.
//   dump.2. A truncated or changed dump fails; so does one with content that this version does not know.
//   dump.3. Rows keep their content: ids, order, times and answers stay the same.
import { createHash } from "node:crypto";
import type { Awaitable } from "../../ports/ports.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { DUMP_TABLES, type ColumnType, type DumpTable } from "./dump-tables.ts";
import { compareVersions, type Versions } from "../shared/schema-version.ts";

export type DumpValue = string | number | boolean | null | Uint8Array;
export type DumpRow = Readonly<Record<string, DumpValue>>;

/** The adapter's side of a dump. */
export interface DumpPort {
  /** At most `limit` rows of a table after the key `after`, in key order. */
  read(table: DumpTable, after: readonly DumpValue[] | null, limit: number): Awaitable<readonly DumpRow[]>;
  /** One transaction for all rows: if `rows` throws, nothing is loaded (dump.1). */
  load(rows: AsyncIterable<readonly [DumpTable, DumpRow]>): Promise<void>;
}

/** A storage with movable content. An embedded one does nothing else during a dump. */
export interface Dumpable {
  dump<T>(work: (port: DumpPort) => Promise<T>): Promise<T>;
}

export class DumpError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DumpError";
  }
}

export type RowCounts = Readonly<Record<string, number>>;

const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16)}`;

const FORMAT = 1;
/** Rows may be large, so a page of them is in memory at once. */
const PAGE = 50;

/** Lines with their line breaks. The storage must not change during the dump. @throws {DumpError} */
export async function* exportLines(port: DumpPort, versions: Versions): AsyncGenerator<string, RowCounts> {
  const hash = createHash("sha256");
  const counts: Record<string, number> = {};
  const line = (value: Json): string => {
    const text = `${JSON.stringify(value).replace(/[\u2028\u2029]/g, escaped)}\n`; // some line readers end a line there
    hash.update(text);
    return text;
  };
  yield line({ holdpoint_dump: FORMAT, ...versions });
  for (const table of DUMP_TABLES) {
    let after: readonly DumpValue[] | null = null;
    for (;;) {
      const rows: readonly DumpRow[] = await port.read(table, after, PAGE);
      for (const row of rows) yield line([table.name, rowToJson(table, row)]);
      counts[table.name] = (counts[table.name] ?? 0) + rows.length;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) break;
      after = table.key.map((column) => last[column] ?? null);
    }
  }
  yield `${JSON.stringify({ rows: counts, sha256: hash.digest("hex") })}\n`;
  return counts;
}

/** @param lines without their line breaks @throws {DumpError} dump.1, dump.2; nothing is loaded then */
export async function importLines(
  port: DumpPort,
  lines: AsyncIterable<string>,
  versions: Versions,
): Promise<RowCounts> {
  for (const table of DUMP_TABLES) {
    if ((await port.read(table, null, 1)).length > 0)
      throw new DumpError("the storage is not empty: import into a new data folder, or a new database"); // dump.1
  }
  const counts: Record<string, number> = {};
  try {
    await port.load(checkedRows(lines, versions, counts));
  } catch (error) {
    if (error instanceof DumpError) throw error;
    throw new DumpError(`nothing is imported: ${describeError(error).message}`, { cause: error }); // dump.1
  }
  return counts;
}

/** dump.2: any mismatch throws before the transaction of `load` can end. */
async function* checkedRows(
  lines: AsyncIterable<string>,
  versions: Versions,
  counts: Record<string, number>,
): AsyncGenerator<readonly [DumpTable, DumpRow]> {
  const hash = createHash("sha256");
  let number = 0;
  let end: JsonObject | null = null;
  for await (const line of lines) {
    number++;
    const value = parsed(line, number);
    if (end !== null) throw new DumpError(`line ${number} follows the last line`);
    if (number === 1) checkHead(value, versions);
    else if (isJsonObject(value)) {
      end = value;
      continue;
    } else {
      const [table, row] = parseRow(value, number);
      counts[table.name] = (counts[table.name] ?? 0) + 1;
      yield [table, row];
    }
    hash.update(line).update("\n");
  }
  if (end === null) throw new DumpError("the dump is truncated: its last line is missing");
  if (end["sha256"] !== hash.digest("hex"))
    throw new DumpError("the dump was changed or damaged: its checksum differs");
}

function parsed(line: string, number: number): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    throw new DumpError(`line ${number} is not JSON: the dump is truncated or damaged`);
  }
}

function checkHead(head: Json, versions: Versions): void {
  const { holdpoint_dump: format, library } = isJsonObject(head) ? head : {};
  if (!Number.isInteger(format) || Number(format) < 1 || typeof library !== "string")
    throw new DumpError("the file is not a Holdpoint dump");
  if (Number(format) > FORMAT)
    throw new DumpError("the dump comes from a newer version of Holdpoint: import it with that version");
  if (compareVersions(library, versions.library) > 0)
    throw new DumpError(
      `the dump's states come from @langchain/langgraph ${library}: install that version or a newer one`,
    );
}

const TABLES = new Map(DUMP_TABLES.map((table) => [table.name, table]));

function parseRow(value: Json, number: number): readonly [DumpTable, DumpRow] {
  const [name, members] = Array.isArray(value) ? (value as readonly Json[]) : [];
  const table = typeof name === "string" ? TABLES.get(name) : undefined;
  if (table === undefined || !isJsonObject(members))
    throw new DumpError(`line ${number} is not a row of a known table`);
  const row: Record<string, DumpValue> = {};
  for (const [column, member] of Object.entries(members)) {
    const type = table.columns[column];
    if (type === undefined || !Object.hasOwn(table.columns, column))
      throw new DumpError(
        `line ${number}: ${table.name} has no column ${column} in this version; the dump comes from a newer version of Holdpoint`,
      );
    row[column] = parseValue(member, type, `line ${number}: ${table.name}.${column}`);
  }
  return [table, row];
}

const JSON_TYPES: ReadonlySet<ColumnType> = new Set(["json", "jsontext", "value"]);

/** @param place of the value, for errors */
function parseValue(value: Json, type: ColumnType, place: string): DumpValue {
  if (value === null) return null;
  if (
    type === "integer"
      ? Number.isSafeInteger(value)
      : type === "boolean"
        ? typeof value === "boolean"
        : typeof value === "string"
  ) {
    if (JSON_TYPES.has(type) && !isJsonText(value as string)) throw new DumpError(`${place} is not JSON`);
    return type === "bytes" ? Buffer.from(value as string, "base64") : (value as DumpValue);
  }
  throw new DumpError(`${place} has the wrong type`);
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function rowToJson({ columns }: DumpTable, row: DumpRow): JsonObject {
  const members = Object.keys(columns).map((column): readonly [string, Json] => {
    const value = row[column] ?? null;
    return [column, value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value];
  });
  return Object.fromEntries(members);
}
