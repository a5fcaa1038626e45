// Dump of a PostgreSQL storage: rows out in the order of their keys, rows in (../dump.ts), each in one transaction.
// Invariants:
//   PD1. What is read is of one moment, also while servers are at work.
//   PD2. What this adapter derives from other columns, and the counters behind its ids, are made anew.
import type { Pool, PoolClient } from "pg";
import type { DumpPort, DumpRow, DumpValue } from "../dump.ts";
import type { DumpTable } from "../dump-tables.ts";
import { statement, type Parameter, type Row } from "./connections.ts";
import { fromJsonText, toJsonText } from "./text.ts";

/** Rows that are on their way at once. */
const IN_FLIGHT_MAX = 200;

/** Nothing is written unless all of `work` ends well. */
export async function withDump<T>(pool: Pool, work: (dump: DumpPort) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ"); // PD1
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0"); // files may be slow
    const result = await work(createDump(client));
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined); // a lost connection has done that
    throw error;
  } finally {
    client.release();
  }
}

function createDump(client: PoolClient): DumpPort {
  return {
    async read({ name, key, columns }, after, limit) {
      const keys = key.join(", ");
      const behind = after === null ? "" : `WHERE (${keys}) > (${key.map((_, at) => `$${at + 2}`).join(", ")})`;
      const sql = `SELECT ${Object.keys(columns).join(", ")} FROM holdpoint.${name} ${behind} ORDER BY ${keys} LIMIT $1`;
      const { rows } = await client.query<Row>(statement(sql, [limit, ...(after ?? [])]));
      return rows.map((row) => readRow(columns, row));
    },
    async load(rows) {
      let sent: Promise<unknown>[] = [];
      for await (const [table, row] of rows) {
        sent.push(insert(client, table, row));
        if (sent.length < IN_FLIGHT_MAX) continue;
        await Promise.all(sent);
        sent = [];
      }
      await Promise.all(sent);
      for (const [counter, table, column] of COUNTERS)
        await client.query(
          `SELECT setval(${counter}, max(${column})) FROM holdpoint.${table} HAVING max(${column}) IS NOT NULL`,
        ); // PD2
    },
  };
}

const COUNTERS = [
  ["pg_get_serial_sequence('holdpoint.store_items', 'item_id')", "store_items", "item_id"],
  ["'holdpoint.event_seq'", "events", "seq"],
] as const;

function readRow(columns: DumpTable["columns"], row: Row): DumpRow {
  const cells = Object.entries(columns).map(([column, type]): readonly [string, DumpValue] => {
    const value = row[column] as DumpValue;
    return [column, type === "json" && typeof value === "string" ? fromJsonText(value) : value];
  });
  return Object.fromEntries(cells);
}

function insert(client: PoolClient, { name, columns }: DumpTable, row: DumpRow): Promise<unknown> {
  const cells = Object.entries(row).map(([column, value]): readonly [string, Parameter] => [
    column,
    columns[column] === "json" && typeof value === "string" ? toJsonText(value) : value,
  ]);
  const all = [...cells, ...derived(name, row)];
  const places = all.map((_, at) => `$${at + 1}`).join(", ");
  const sql = `INSERT INTO holdpoint.${name} (${all.map(([column]) => column).join(", ")}) OVERRIDING SYSTEM VALUE VALUES (${places})`;
  const values = all.map(([, value]) => value);
  return client.query(statement(sql, values));
}

/** PD2: columns that only this adapter has. */
function derived(table: string, row: DumpRow): readonly (readonly [string, Parameter])[] {
  const { name, claim } = row;
  if (table === "assistants") return [["name_lower", typeof name === "string" ? name.toLowerCase() : ""]];
  if (table !== "interrupts" || typeof claim !== "string") return [];
  const { by, until } = JSON.parse(claim) as { readonly by: string; readonly until: number | null };
  return [
    ["claimed_by", by],
    ["claimed_until", until],
  ];
}
