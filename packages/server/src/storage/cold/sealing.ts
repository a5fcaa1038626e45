// Keys of encryption at rest: marks of the keys that values may need, and the rewrite of values with the newest key.
// Invariants:
//   - `meta` has a mark of each key that a stored value may need, sealed with it. A process without one of these keys,
//     or with another key of the same id, does not start.
//   - A rewrite changes a cell only if it is still the one that was read: a concurrent change wins.
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { SealedValueError } from "@holdpoint/base/keyring.ts";
import type { RowCursor, SealingTx } from "../../ports/ports.ts";
import { TABLES } from "../shared/sealed-columns.ts";
import { readCellKey, staysPlain } from "../shared/sealing.ts";
import type { ColdSql, Row, Value } from "./cold-sql.ts";

const MARK = "sealed:";
const PLACE = "reseal";
const SETTING = "HOLDPOINT_ENCRYPTION_KEYS";
const NAMES = Object.keys(TABLES).filter((name) => Object.keys(TABLES[name]?.sealed ?? {}).length > 0);

/** @throws {ConfigError} */
export async function claimKeys(sql: ColdSql): Promise<void> {
  const { ring, keys } = sql.sealing;
  const marks = await readMarks(sql);
  const known = new Set(keys.map(({ id }) => id));
  const missing = [...marks.keys()].filter((id) => !known.has(id)).map((id) => `"${id}"`);
  const refuse = (reason: string): never => {
    throw new ConfigError([{ name: SETTING, reason }]);
  };
  if (missing.length > 0)
    refuse(`the stored values need the key ${missing.join(", ")}, which is not given: add it behind the others`);
  for (const [id, sealed] of marks) {
    try {
      ring?.open(sealed, MARK + id);
    } catch (error) {
      if (!(error instanceof SealedValueError)) throw error;
      refuse(`the key "${id}" is another one than that which sealed the stored values`);
    }
  }
  const [newest] = keys;
  if (ring === null || newest === undefined || marks.has(newest.id)) return;
  await putMeta(sql, MARK + newest.id, ring.seal("holdpoint", MARK + newest.id), "NOTHING");
}

export function sealingVerbs(sql: ColdSql): SealingTx {
  const { ring, keys } = sql.sealing;
  return {
    async sealingState() {
      const text = (await sql.get(`SELECT value FROM ${sql.schema}meta WHERE key = ?`, PLACE))?.["value"];
      const stored = typeof text === "string" ? (JSON.parse(text) as StoredPlace) : null;
      const own = stored?.to === ring?.ids[0] ? stored : null;
      return {
        given: keys.map(({ id }) => id),
        inUse: [...(await readMarks(sql)).keys()],
        isComplete: own !== null && own.place === null,
        place: own?.place ?? null,
      };
    },
    async resealPage(place, rows) {
      const at = place ?? { table: NAMES[0] ?? "", after: null };
      if (ring === null) return { next: null, rows: 0, left: [] };
      const page = await readPage(sql, at, { columns: listColumns(at.table), limit: rows });
      const left = new Set<string>();
      let count = 0;
      for (const row of page) if (await reseal(sql, at.table, row, left)) count++;
      const next = findNext(NAMES, at, page, rows);
      if (next !== null) await putMeta(sql, PLACE, JSON.stringify({ to: ring.ids[0], place: next }));
      return { next, rows: count, left: [...left] };
    },
    async resealed(left) {
      if (ring === null) return;
      const used = new Set([ring.ids[0], ...left]);
      for (const id of (await readMarks(sql)).keys())
        if (!used.has(id)) sql.run(`DELETE FROM ${sql.schema}meta WHERE key = ?`, MARK + id);
      await putMeta(sql, PLACE, JSON.stringify({ to: ring.ids[0], place: null }));
    },
  };
}

interface StoredPlace {
  readonly to: string;
  readonly place: RowCursor | null;
}

async function readMarks(sql: ColdSql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.all(`SELECT key, value FROM ${sql.schema}meta WHERE key LIKE '${MARK}%' ORDER BY key`);
  return new Map(rows.map(({ key, value }) => [String(key).slice(MARK.length), String(value)]));
}

export async function putMeta(
  sql: ColdSql,
  key: string,
  value: string,
  conflict = "UPDATE SET value = excluded.value",
) {
  const insert = `INSERT INTO ${sql.schema}meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO ${conflict}`;
  await sql.count(insert, key, value);
}

/** Rows of a table in the order of their keys. */
export async function readPage(
  sql: ColdSql,
  { table, after }: RowCursor,
  { columns, limit }: { readonly columns: string; readonly limit: number },
): Promise<readonly Row[]> {
  const { key = [] } = TABLES[table] ?? {};
  const keys = key.join(", ");
  const behind = after === null ? "" : `WHERE (${keys}) > (${key.map(() => "?").join(", ")})`;
  const page = `SELECT ${columns} FROM ${sql.schema}${table} ${behind} ORDER BY ${keys} LIMIT ?`;
  return sql.all(page, ...(after ?? []), limit);
}

/** The sealed columns and those that name the row; all of the trail, whose entries are replaced. */
function listColumns(table: string): string {
  const { key = [], sealed = {}, plain = [] } = TABLES[table] ?? {};
  const rows = table === "audit" ? plain : Object.values(sealed).flatMap(({ row }) => row);
  return [...new Set([...key, ...rows, ...Object.keys(sealed)])].join(", ");
}

/** @param tables in their order */
export function findNext(
  tables: readonly string[],
  { table }: RowCursor,
  page: readonly Row[],
  limit: number,
): RowCursor | null {
  const last = page.at(-1);
  const key = TABLES[table]?.key ?? [];
  if (last !== undefined && page.length === limit)
    return { table, after: key.map((column) => last[column] as string | number) };
  const following = tables[tables.indexOf(table) + 1];
  return following === undefined ? null : { table: following, after: null };
}

/** @param left gets the keys of values that do not open @returns whether the row is rewritten */
async function reseal(sql: ColdSql, table: string, row: Row, left: Set<string>): Promise<boolean> {
  const { key = [], sealed = {} } = TABLES[table] ?? {};
  const { sealing } = sql;
  const cells: Record<string, unknown> = {};
  for (const column of Object.keys(sealed)) {
    const cell = row[column];
    const id = readCellKey(table, column, cell);
    if (cell === null || id === sealing.ring?.ids[0] || staysPlain(table, column, cell)) continue;
    try {
      cells[column] = sealing.seal(table, column, row, sealing.open(table, column, row, cell));
    } catch (error) {
      if (!(error instanceof SealedValueError) || id === null) throw error;
      left.add(id);
    }
  }
  const changed = Object.keys(cells);
  if (changed.length === 0) return false;
  const same = [...key, ...changed];
  const where = same.map((column) => `${column} = ?`).join(" AND ");
  const values = same.map((column) => row[column] as Value);
  if (table === "audit") return replaceEntry(sql, { ...row, ...cells }, { where, values });
  const sets = changed.map((column) => `${column} = ?`).join(", ");
  const update = `UPDATE ${sql.schema}${table} SET ${sets} WHERE ${where}`;
  return (await sql.count(update, ...(Object.values(cells) as Value[]), ...values)) > 0;
}

/** Rows of the trail are never updated: the entry goes, and comes back with the same place in its chain. */
export async function replaceEntry(
  sql: ColdSql,
  entry: Row,
  { where, values }: { readonly where: string; readonly values: readonly Value[] },
): Promise<boolean> {
  const columns = Object.keys(entry);
  const from = `${sql.schema}audit`;
  sql.holdThread(String(entry["thread_id"]));
  const marks = columns.map(() => "?").join(", ");
  if ((await sql.count(`DELETE FROM ${from} WHERE ${where}`, ...values)) === 0) return false;
  sql.run(`INSERT INTO ${from} (${columns.join(", ")}) VALUES (${marks})`, ...(Object.values(entry) as Value[]));
  return true;
}
