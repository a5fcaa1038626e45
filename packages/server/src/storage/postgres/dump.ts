// Dump of a PostgreSQL storage: rows out in key order, and rows in, each in one transaction (../dump/dump.ts).
// Invariants:
//   - An export shows one moment, also while servers run.
//   postgres/dump.2. An import recomputes derived columns and the counters behind ids.
//   postgres/dump.3. Runs continue after an import: pending ones keep their places, running ones belong to a worker
//        that counts as dead.
import type { Pool } from "pg";
import type { DumpPort, DumpRow, DumpValue } from "../dump/dump.ts";
import type { DumpTable } from "../dump/dump-tables.ts";
import type { Sealing } from "../shared/sealing.ts";
import type { Parameter, Row } from "./client/pool.ts";
import { fromJsonText, toJsonText } from "./client/text-encoding.ts";
import { findPipeline, type Pipeline } from "./client/pipelined-connection.ts";

/** Rows in flight at once. */
const IN_FLIGHT_MAX = 200;

/** Writes nothing unless all of `work` succeeds. */
export async function withDump<T>(pool: Pool, sealing: Sealing, work: (dump: DumpPort) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const { send } = findPipeline(client);
  try {
    await send("BEGIN ISOLATION LEVEL REPEATABLE READ", []);
    await send("SET LOCAL idle_in_transaction_session_timeout = 0", []); // files may be slow
    const result = await work(createDump(findPipeline(client), sealing));
    await send("COMMIT", []);
    return result;
  } catch (error) {
    await send("ROLLBACK", []).catch(() => undefined); // a lost connection has rolled back
    throw error;
  } finally {
    client.release();
  }
}

function createDump({ send }: Pipeline, sealing: Sealing): DumpPort {
  return {
    async read({ name, key, columns }, after, limit) {
      const keys = key.join(", ");
      const behind = after === null ? "" : `WHERE (${keys}) > (${key.map((_, at) => `$${at + 2}`).join(", ")})`;
      const sql = `SELECT ${Object.keys(columns).join(", ")} FROM holdpoint.${name} ${behind} ORDER BY ${keys} LIMIT $1`;
      const { rows } = await send(sql, [limit, ...(after ?? [])]);
      return rows.map((row) => readRow(columns, sealing.openRow(name, row)));
    },
    async load(rows) {
      let sent: Promise<unknown>[] = [];
      for await (const [table, row] of rows) {
        // postgres/dump.3
        if (table.name === "runs" && row["status"] === "running") sent.push(send(LIST_NOBODY, [NOBODY]));
        sent.push(insert(send, table, row, sealing));
        if (sent.length < IN_FLIGHT_MAX) continue;
        await Promise.all(sent);
        sent = [];
      }
      await Promise.all(sent);
      for (const [counter, table, column] of COUNTERS)
        await send(
          `SELECT setval(${counter}, max(${column})) FROM holdpoint.${table} HAVING max(${column}) IS NOT NULL`,
          [],
        ); // postgres/dump.2
    },
  };
}

/** The dead worker of imported runs. */
const NOBODY = "imported";
const LIST_NOBODY = `
  INSERT INTO holdpoint.workers (worker_id, beat_at) VALUES ($1, to_timestamp(0)) ON CONFLICT DO NOTHING`;

const COUNTERS = [
  ["pg_get_serial_sequence('holdpoint.store_items', 'item_id')", "store_items", "item_id"],
  ["'holdpoint.event_seq'", "events", "seq"],
  ["'holdpoint.audit_chains'", "audit_heads", "chain"],
] as const;

function readRow(columns: DumpTable["columns"], row: Row): DumpRow {
  const cells = Object.entries(columns).map(([column, type]): readonly [string, DumpValue] => {
    const value = row[column] as DumpValue;
    return [column, type === "json" && typeof value === "string" ? fromJsonText(value) : value];
  });
  return Object.fromEntries(cells);
}

function insert(
  send: Pipeline["send"],
  { name, columns }: DumpTable,
  row: DumpRow,
  sealing: Sealing,
): Promise<unknown> {
  const cells = Object.entries(sealing.sealRow(name, row)).map(([column, value]): readonly [string, Parameter] => [
    column,
    columns[column] === "json" && typeof value === "string" ? toJsonText(value) : value,
  ]);
  const all = [...cells, ...derived(name, row)];
  const places = all.map((_, at) => `$${at + 1}`).join(", ");
  const sql = `INSERT INTO holdpoint.${name} (${all.map(([column]) => column).join(", ")}) OVERRIDING SYSTEM VALUE VALUES (${places})`;
  const values = all.map(([, value]) => value);
  return send(sql, values);
}

/** postgres/dump.2: columns of this adapter only. */
function derived(table: string, row: DumpRow): readonly (readonly [string, Parameter])[] {
  const { claim } = row;
  if (table === "runs") return [["worker_id", row["status"] === "running" ? NOBODY : null]]; // postgres/dump.3
  if (table !== "interrupts" || typeof claim !== "string") return [];
  const { by, until } = JSON.parse(claim) as { readonly by: string; readonly until: number | null };
  return [
    ["claimed_by", by],
    ["claimed_until", until],
  ];
}
