// Tests of storage on PostgreSQL: the port's contract, and an index for each of its statements (many.test.ts: the
// rest).
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Client } from "pg";
import { until } from "../../../../../test/harness/faults/fault-server.ts";
import { beforeDrop, newDatabase } from "../../../../../test/harness/postgres/databases.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { storageContract } from "../contract/storage.contract.ts";
import { statementTexts } from "./client/pool.ts";
import { migrateDatabase } from "./schema/migrate.ts";
import { createPostgresStorage, type PostgresStorage } from "./storage.ts";

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };

/** One database and one storage for the contract: each of its tests finds it empty. */
let shared: Promise<{ readonly uri: string; readonly storage: PostgresStorage; readonly client: Client }> | null = null;

async function openShared() {
  const uri = await newDatabase();
  const storage = createPostgresStorage({ uri, poolMax: 10, versions: VERSIONS, log: silent });
  await storage.start();
  const client = new Client({ connectionString: uri });
  await client.connect();
  beforeDrop(() => storage.stop());
  beforeDrop(() => client.end());
  return { uri, storage, client };
}

async function emptied(_t: TestContext): Promise<PostgresStorage> {
  shared ??= openShared();
  const { storage, client } = await shared;
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'holdpoint' AND tablename <> 'meta'",
  );
  await client.query(rows.map(({ name }) => `DELETE FROM holdpoint.${name}`).join("; "));
  return storage;
}

storageContract("PostgreSQL", emptied);

/** Tables without rows or statistics: those of the contract's database change as its autovacuum goes, and plans with them. */
async function openUntouched(): Promise<Client> {
  const uri = await newDatabase();
  await migrateDatabase({ uri }, VERSIONS);
  const client = new Client({ connectionString: uri });
  await client.connect();
  beforeDrop(() => client.end());
  return client;
}

/** Part of a plan, from EXPLAIN. */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Tables that are small by their own limit, people and their sessions, and operators' statements that count all rows. */
const MAY_BE_READ_WHOLE = new Set([
  "workers",
  "crons",
  "assistants",
  "assistant_versions",
  "webhooks",
  "people",
  "sessions",
  "api_keys",
  "policies",
  "meta",
  "audit_heads",
  "commits",
]);
/**
 * Indexes of open, running or due rows: as small as those, however many have ended. Or an ordered read up to a limit.
 */
const IN_ORDER =
  /^(?:threads_(?:created|interrupted|error|busy|expiry|pkey)|runs_(?:line|delayed|running|one_running|active_thread|pkey)|interrupts_(?:open|due|escalating)|events_gone)/;

/**
 * Threads by last change or status, or by a list or object in their metadata: an index would cost each step of a run
 * more. An erasure looks for the id in all namespaces.
 */
const WITHOUT_INDEX =
  /ORDER BY t\.(?:updated_at|state_updated_at|status) |^SELECT count.*threads AS t WHERE t\.metadata::jsonb @>|store_items WHERE strpos\(/;

/** Exports read whole tables, page by page. */
const OF_DUMPS = /FROM holdpoint\.\w+  ORDER BY [\w, ]+ LIMIT \$1$|^SELECT setval\(/;

/** All statements so far that have a plan. */
function planned(): readonly string[] {
  return statementTexts().filter((text) => !/^(?:BEGIN|COMMIT|ROLLBACK|SET|DO)\b/.test(text));
}

function wholeReads(plan: PlanNode): readonly string[] {
  const table = plan["Relation Name"];
  const index = plan["Index Name"];
  const whole =
    (table !== undefined && !MAY_BE_READ_WHOLE.has(table) && plan["Node Type"] === "Seq Scan") ||
    (index !== undefined &&
      plan["Index Cond"] === undefined &&
      !IN_ORDER.test(index) &&
      !MAY_BE_READ_WHOLE.has(table ?? "crons"));
  const own = whole ? [`${plan["Node Type"]} of ${table ?? index ?? ""}`] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(wholeReads)];
}

test("every statement of the contract reads by an index, for any parameters", async () => {
  const client = await openUntouched();
  await client.query("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan"); // only as the last resort
  const texts = planned().filter((text) => !WITHOUT_INDEX.test(text) && !OF_DUMPS.test(text));
  assert.ok(texts.length > 100);
  const found: string[] = [];
  for (const [at, text] of texts.entries()) {
    await client.query(`PREPARE explained_${at} AS ${text}`);
    const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, digits]) => Number(digits)));
    const parameters = count === 0 ? "" : `(${Array.from({ length: count }, () => "NULL").join(", ")})`;
    const { rows } = await client.query<{ readonly "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE explained_${at}${parameters}`,
    );
    const [plan] = rows[0]?.["QUERY PLAN"] ?? [];
    assert.ok(plan);
    const reads = wholeReads(plan.Plan);
    if (reads.length > 0) found.push(`${reads.join(", ")}:\n${text}`);
  }
  assert.deepEqual(found, []);
});

test("a server on its current schema changes nothing: its role needs no right to create (migrate.5)", async () => {
  const { uri } = await (shared ??= openShared());
  const readOnly = `${uri}?options=-c%20default_transaction_read_only%3Don`;
  const { from, to } = await migrateDatabase({ uri: readOnly }, VERSIONS);
  assert.equal(from, to);
});

test("the sweep of dead connections' marks runs while the server runs, not only at start", async (t) => {
  const { uri, client } = await (shared ??= openShared());
  t.mock.timers.enable({ apis: ["setInterval"] });
  const storage = createPostgresStorage({ uri, poolMax: 2, versions: VERSIONS, log: silent });
  await storage.start();
  const old = "INSERT INTO holdpoint.commits (connection, number, at) VALUES ('gone', 1, now() - interval '2 days')";
  await client.query(old);
  t.mock.timers.tick(3_600_000);
  const left = () => client.query("SELECT 1 FROM holdpoint.commits WHERE connection = 'gone'");
  await until("the mark is gone", async () => (await left()).rows.length === 0);
  await storage.stop();
});

test("every statement still works after its tables get columns, also with names that other tables have (postgres/migrations.1)", async () => {
  const { client } = await (shared ??= openShared());
  const texts = planned();
  const formatCall = (at: number): string => {
    const count = Math.max(0, ...[...(texts[at] ?? "").matchAll(/\$(\d+)/g)].map(([, digits]) => Number(digits)));
    return `known_${at}${count === 0 ? "" : `(${Array.from({ length: count }, () => "NULL").join(", ")})`}`;
  };
  for (const [at, text] of texts.entries()) await client.query(`PREPARE known_${at} AS ${text}`);
  const { rows } = await client.query<{ readonly name: string; readonly column: string }>(
    "SELECT table_name AS name, column_name AS column FROM information_schema.columns WHERE table_schema = 'holdpoint'",
  );
  const all = new Set(rows.map(({ column }) => column));
  for (const [name, own] of Map.groupBy(rows, (row) => row.name)) {
    const more = all.difference(new Set(own.map(({ column }) => column)));
    await client.query(`ALTER TABLE holdpoint.${name} ${[...more].map((one) => `ADD COLUMN ${one} TEXT`).join(", ")}`);
  }
  const broken: string[] = [];
  for (const [at, text] of texts.entries()) {
    await client
      .query(`EXPLAIN EXECUTE ${formatCall(at)}`)
      .catch((error: unknown) => broken.push(`${String(error)}: ${text}`));
  }
  assert.deepEqual(broken, []);
});

/** `SELECT *`, `RETURNING t.*`, `INSERT INTO t VALUES`. */
const UNNAMED_COLUMNS = /\b(?:SELECT|RETURNING)\s+(?:\w+\.)?\*|\bINSERT\s+INTO\s+\S+\s+(?:VALUES|SELECT)\b/gi;
/** Numbers are hexadecimal from PostgreSQL 16 on. */
const HEXADECIMAL = /\(0x/g;

test("all SQL names its columns (postgres/migrations.1) and works on PostgreSQL 14", () => {
  const folders = [import.meta.dirname, join(import.meta.dirname, "..", "cold")];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  for (const name of files.filter((one) => one.endsWith(".ts") && !one.endsWith(".test.ts"))) {
    const source = readFileSync(name, "utf8");
    assert.deepEqual([...(source.match(UNNAMED_COLUMNS) ?? []), ...(source.match(HEXADECIMAL) ?? [])], [], name);
  }
  for (const wrong of ["SELECT * FROM a", "select b.* FROM b", "RETURNING *", "INSERT INTO a VALUES (1)"])
    assert.match(wrong, new RegExp(UNNAMED_COLUMNS, "i"), wrong);
});
