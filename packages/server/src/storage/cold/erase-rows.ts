// Erasure of a person, a page of rows at a time: every column that can name a person (shared/named-columns.ts) gets the
// pseudonym, or the row goes.
// Invariants:
//   - A cell changes only if it is still the one that was read: a concurrent change wins, and the next pass finds it.
//   erase-rows.2. An entry of the trail keeps its place, its hash and its digest; the caller notes the digest of its
//        new content in the chain, in the same transaction.
import type { PersonalNames } from "@holdpoint/base/personal-names.ts";
import { auditDigest, type ErasedEntry } from "../../model/audit/audit-chain.ts";
import type { ErasedPage, ErasureTx, PersonErasure, RowCursor } from "../../ports/ports.ts";
import { AUDIT_COLUMNS, AUDIT_LINK_COLUMNS, type AuditRow } from "../shared/columns.ts";
import { DECIDING_COLUMNS, goesWithPerson, isOfAnother, NAMED, readTextKind } from "../shared/named-columns.ts";
import { TABLES } from "../shared/sealed-columns.ts";
import { staysPlain } from "../shared/sealing.ts";
import { decodeNamespace } from "../shared/store-namespaces.ts";
import { toAuditRecord } from "./audit-record.ts";
import { type ColdSql, coldTable, type Row, type Value } from "./cold-sql.ts";
import { findNext, putMeta, readPage, replaceEntry } from "./sealing.ts";

const BEGUN = "erasure of ";
const TABLE_NAMES = [...NAMED.keys()];
/** SQLite has no such column: it reads the claim. */
const POSTGRES_ONLY: ReadonlySet<string> = new Set(["interrupts.claimed_by"]);
/** Where the author was: personal, too. */
const NO_ORIGIN = { address: "", userAgent: null };

type PersonVerbs = Pick<
  ErasureTx,
  "personErasure" | "beginPersonErasure" | "movePersonErasure" | "endPersonErasure" | "erasePersonPage"
>;

export function personErasureVerbs(sql: ColdSql): PersonVerbs {
  const { schema } = sql;
  return {
    async personErasure(name) {
      const text = (await sql.get(`SELECT value FROM ${schema}meta WHERE key = ?`, BEGUN + name))?.["value"];
      return typeof text === "string" ? (JSON.parse(text) as PersonErasure) : null;
    },
    beginPersonErasure: (name, erasure) => putMeta(sql, BEGUN + name, JSON.stringify(erasure), "NOTHING"),
    async movePersonErasure(name, erasure) {
      await sql.count(`UPDATE ${schema}meta SET value = ? WHERE key = ?`, JSON.stringify(erasure), BEGUN + name);
    },
    endPersonErasure: (name) => sql.run(`DELETE FROM ${schema}meta WHERE key = ?`, BEGUN + name),
    async erasePersonPage(place, names, { rows: limit, dryRun }) {
      const at = place !== null && isKnown(place) ? place : { table: TABLE_NAMES[0] ?? "", after: null };
      const page = await readPage(sql, at, { columns: listColumns(sql, at.table), limit });
      const found: Found = { rows: 0, threadIds: new Set(), entries: [], items: [] };
      for (const row of page) await eraseRow({ sql, names, dryRun, table: at.table, found }, row);
      if (found.rows > 0 && !dryRun) sql.dropKept();
      const { rows, threadIds, entries, items } = found;
      return {
        next: findNext(TABLE_NAMES, at, page, limit),
        table: at.table,
        rows,
        threadIds: [...threadIds],
        entries,
        items,
      };
    },
  };
}

/** A place comes back from a caller: only names of the list become part of a statement. */
function isKnown({ table, after }: RowCursor): boolean {
  const isCell = (cell: unknown): boolean => typeof cell === "string" || typeof cell === "number";
  if (!NAMED.has(table)) return false;
  return after === null || (Array.isArray(after) && after.length === TABLES[table]?.key.length && after.every(isCell));
}

interface Found {
  rows: number;
  readonly threadIds: Set<string>;
  readonly entries: ErasedEntry[];
  readonly items: ErasedPage["items"][number][];
}

interface Work {
  readonly sql: ColdSql;
  readonly names: PersonalNames;
  readonly dryRun: boolean;
  readonly table: string;
  readonly found: Found;
}

/** The named columns and those that name the row or decide about it; all of the trail, whose entries are replaced. */
function listColumns(sql: ColdSql, table: string): string {
  const { key = [], sealed = {}, plain = [] } = TABLES[table] ?? {};
  const rows = Object.values(sealed).flatMap(({ row }) => row);
  const whole = table === "audit" ? plain : [];
  return [...new Set([...key, ...rows, ...whole, ...(DECIDING_COLUMNS[table] ?? []), ...listNamed(sql, table)])].join(
    ", ",
  );
}

const listNamed = ({ schema }: ColdSql, table: string): readonly string[] =>
  (NAMED.get(table) ?? []).filter((column) => schema !== "" || !POSTGRES_ONLY.has(`${table}.${column}`));

async function eraseRow(work: Work, row: Row): Promise<void> {
  const { sql, table, dryRun, found } = work;
  if (isOfAnother(table, row, work.names)) return;
  if (table === "store_items" && isUnderName(work.names, row)) {
    found.rows++;
    found.items.push({ namespace: decodeNamespace(String(row["ns"])), key: String(row["key"]) });
    return;
  }
  const cells = table === "audit" ? replaceEntryCells(work, row) : replaceCells(work, row);
  const changed = Object.keys(cells);
  if (changed.length === 0) return;
  found.rows++;
  if (typeof row["thread_id"] === "string") found.threadIds.add(row["thread_id"]);
  if (dryRun) return;
  const { key = [] } = TABLES[table] ?? {};
  const same = [...new Set([...key, ...changed])];
  const where = same.map((column) => `${column} = ?`).join(" AND ");
  const values = same.map((column) => row[column] as Value);
  const from = `${sql.schema}${table}`;
  if (goesWithPerson(table, row)) await sql.count(`DELETE FROM ${from} WHERE ${where}`, ...values);
  else if (table === "audit") {
    const sealed = sql.sealing.sealRow(table, { ...openEntry(sql, row), ...cells });
    if (await replaceEntry(sql, sealed, { where, values })) found.entries.push(noteEntry(sql, sealed));
  } else {
    const sets = changed.map((column) => `${column} = ?`).join(", ");
    const written = changed.map((column) => sql.sealing.seal(table, column, row, cells[column]) as Value);
    if (!changed.some((column) => key.includes(column))) {
      await sql.count(`UPDATE ${from} SET ${sets} WHERE ${where}`, ...written, ...values);
      return;
    }
    // Two spellings of a name become one: the row that is there already stands for both.
    const there = key.map((column) => `${column} = ?`).join(" AND ");
    const isFree = `NOT EXISTS (SELECT 1 FROM ${from} WHERE ${there})`;
    const renamed = key.map((column) => (cells[column] ?? row[column]) as Value);
    const update = `UPDATE ${from} SET ${sets} WHERE ${where} AND ${isFree}`;
    if ((await sql.count(update, ...written, ...values, ...renamed)) === 0)
      await sql.count(`DELETE FROM ${from} WHERE ${where}`, ...values);
  }
}

/** @returns the new, opened cells of the columns that change */
function replaceCells({ sql, names, table }: Work, row: Row): Readonly<Record<string, string>> {
  const cells: Record<string, string> = {};
  for (const column of listNamed(sql, table)) {
    const cell = row[column];
    if (cell === null || staysPlain(table, column, cell)) continue;
    const text = sql.sealing.open(table, column, row, cell);
    if (typeof text !== "string") continue;
    const replaced = names.replace(text, readTextKind(table, column, row));
    if (replaced !== text) cells[column] = replaced;
  }
  return cells;
}

/** The origin of an entry goes with its author. */
function replaceEntryCells(work: Work, row: Row): Readonly<Record<string, string>> {
  const cells = replaceCells(work, row);
  const origin: unknown = work.sql.sealing.open("audit", "origin", row, row["origin"]);
  if (cells["by"] === undefined || typeof origin !== "string") return cells;
  const { policyId } = JSON.parse(origin) as { policyId?: string };
  return { ...cells, origin: JSON.stringify({ ...(policyId === undefined ? {} : { policyId }), ...NO_ORIGIN }) };
}

const openEntry = (sql: ColdSql, row: Row): Row => sql.sealing.openRow("audit", row);

/** erase-rows.2. */
function noteEntry(sql: ColdSql, row: Row): ErasedEntry {
  const audit = coldTable<AuditRow>(sql, "audit", { ...AUDIT_LINK_COLUMNS, ...AUDIT_COLUMNS });
  const entry = audit.read(row);
  const { chain, position, threadId } = entry;
  return { chain, position, threadId, digest: auditDigest(toAuditRecord(entry)) };
}

function isUnderName(names: PersonalNames, { ns, key }: Row): boolean {
  return [...decodeNamespace(String(ns)), String(key)].some((one, at) => names.isLabel(one, at));
}
