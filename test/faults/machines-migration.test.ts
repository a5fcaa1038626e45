// Paused threads survive every migration of PostgreSQL (promise A17).
//   machines-migration.1. One of the servers that start on a database of any earlier schema migrates it. Every paused
//        thread keeps its question, takes one answer, and continues. So does a pending run, although the engine has no
//        job for it.
//   machines-migration.2. During and after the next version's step, servers of this version serve every call, also when
//        a backup blocks the step. A server that starts then refuses by name.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "pg";
import { migrateDatabase } from "../../src/storage/postgres/schema/migrate.ts";
import { MIGRATIONS } from "../../src/storage/postgres/schema/migrations.ts";
import { holdpoint } from "../harness/cli.ts";
import { each, FULL, identity, only, resumeBody, until, type Question } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { ROOT } from "../harness/server.ts";

const THREADS = FULL ? 1000 : 12;
const CALLERS = 8;
/** The first schema needs all steps; the long form starts at each schema. */
const CONFIG = join(ROOT, "test", "faults", "graphs", "langgraph.json");
const SCHEMAS = FULL ? MIGRATIONS.keys().drop(1) : [1];

interface Paused {
  readonly thread: string;
  readonly graph: "ask" | "nested";
  readonly question: Question;
}

const source = new Fleet();
const fleets = [source];
after(async () => {
  for (const fleet of fleets) await fleet.end();
});
let paused: Promise<Left> | null = null;

interface Left {
  readonly threads: readonly Paused[];
  /** The thread of a run that had not begun. */
  readonly waiting: string;
}

async function pauseAll(): Promise<Left> {
  const server = await source.start("all");
  source.use(server);
  const all: Paused[] = [];
  await each(
    Array.from({ length: THREADS }, (_, at) => at),
    CALLERS,
    async (at) => {
      const graph = at % 3 === 0 ? "nested" : "ask";
      all.push({ graph, ...(await source.bench.pause(graph)) });
    },
  );
  const waiting = await source.bench.newThread();
  await source.bench.post(`/threads/${waiting}/runs`, { assistant_id: "ask", input: {}, after_seconds: 3600 });
  await server.stop();
  return { threads: all, waiting };
}

async function connect(uri: string): Promise<Client> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  return client;
}

/** A database of an earlier schema, with the rows of the other one that fit. */
async function older(schema: number, from: Client): Promise<string> {
  const uri = await newDatabase();
  const to = await connect(uri);
  await to.query("CREATE SCHEMA holdpoint; CREATE TABLE holdpoint.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
  for (const step of MIGRATIONS.slice(0, schema)) await to.query(step);
  const { rows: tables } = await to.query<{ readonly name: string; readonly columns: string }>(
    `SELECT table_name AS name, string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
     WHERE table_schema = 'holdpoint' AND is_generated = 'NEVER' AND column_name <> 'worker_id'
     AND table_name <> 'search_queue' -- triggers on the copied rows fill it
     GROUP BY table_name`,
  );
  for (const { name, columns } of tables) {
    const { rows } = await from.query(`SELECT ${columns} FROM holdpoint.${name}`);
    await to.query(
      `INSERT INTO holdpoint.${name} (${columns}) OVERRIDING SYSTEM VALUE
       SELECT ${columns} FROM json_populate_recordset(NULL::holdpoint.${name}, $1)`,
      [JSON.stringify(rows)],
    );
  }
  if (tables.some(({ name }) => name === "events"))
    await to.query("SELECT setval('holdpoint.event_seq', max(seq)) FROM holdpoint.events");
  await to.query("UPDATE holdpoint.runs SET due_at = 1 WHERE status = 'pending'"); // an hour has passed
  await to.query("UPDATE holdpoint.meta SET value = $1 WHERE key = 'schema'", [String(schema)]);
  await to.end();
  return uri;
}

for (const schema of SCHEMAS) {
  test(`${THREADS} threads that were paused under schema ${schema} go on under ${MIGRATIONS.length} (machines-migration.1)`, async () => {
    const { threads, waiting } = await (paused ??= pauseAll());
    const from = await connect(await source.database());
    const fleet = new Fleet(await older(schema, from));
    fleets.push(fleet);
    await from.end();
    const [server, other, verb] = await Promise.all([
      fleet.start("all"),
      fleet.start("all"),
      holdpoint(["migrate", "--config", CONFIG], { env: { DATABASE_URI: await fleet.database() } }),
    ]);
    fleet.use(server);
    const done = [server, other]
      .flatMap(({ logs }) => logs.filter(({ event }) => event === "database_migrated"))
      .map(({ from: before, to }) => `Migrated the schema from ${String(before)} to ${String(to)}.\n`);
    const nothing = `The schema is already at ${MIGRATIONS.length}.\n`;
    const step = `Migrated the schema from ${schema} to ${MIGRATIONS.length}.\n`;
    assert.deepEqual([...done, verb.out].toSorted(), done.length === 0 ? [step] : [step, nothing].toSorted(), verb.err);
    const { bench } = fleet;
    let went = 0;
    await each(threads, CALLERS, async ({ thread, graph, question }) => {
      assert.equal(await bench.status(thread), "interrupted");
      assert.deepEqual(identity(only(await bench.questions(thread), thread)), identity(question));
      const answered = await bench.resume(thread, graph, thread);
      assert.equal(answered.status, 200, answered.text);
      if (graph === "ask") assert.deepEqual(answered.body, { log: ["prepared", thread, "recorded"] });
      else assert.equal(only(await bench.questions(thread), thread).value, "second");
      const late = await bench.call("POST", `/threads/${thread}/runs/wait`, resumeBody(graph, { [question.id]: 2 }));
      assert.equal(late.status, 409, late.text);
      went++;
    });
    await until("the run that waited asks", async () => (await bench.status(waiting)) === "interrupted");
    assert.equal((await bench.resume(waiting, "ask", "yes")).status, 200);
    await Promise.all([server.stop(), other.stop()]);
    console.log(`schema ${schema} to ${MIGRATIONS.length}: ${went} of ${THREADS} paused threads went on`);
  });
}

/** Changes that migrations.ts allows a later version, on the tables that every run writes to. */
const NEXT = `
  ALTER TABLE holdpoint.threads ADD COLUMN mood TEXT;
  ALTER TABLE holdpoint.runs ADD COLUMN mood TEXT, ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE holdpoint.interrupts ADD COLUMN mood TEXT;
  ALTER TABLE holdpoint.checkpoints ADD COLUMN mood TEXT;
  CREATE TABLE holdpoint.moods (mood TEXT PRIMARY KEY);
  CREATE INDEX runs_mood ON holdpoint.runs (mood, run_id) WHERE mood IS NOT NULL;
`;
const CYCLES = FULL ? 200 : 12;

test("servers of this version go on while the next one's step waits, is made, and after it (machines-migration.2)", async () => {
  const fleet = new Fleet();
  fleets.push(fleet);
  const [api] = await Promise.all([fleet.start("api"), fleet.start("worker")]);
  fleet.use(api);
  const { bench } = fleet;
  const uri = await fleet.database();
  /** Pauses and answers at the same time; every call that is not 200 is a failure. */
  const cycles = (): Promise<void> =>
    each(
      Array.from({ length: CYCLES }, (_, at) => at),
      CALLERS,
      async (at) => {
        const { thread } = await bench.pause("ask");
        const answered = await bench.resume(thread, "ask", at);
        assert.deepEqual(answered.body, { log: ["prepared", at, "recorded"] }, answered.text);
      },
    );
  const backup = await connect(uri);
  await backup.query("BEGIN; LOCK TABLE holdpoint.runs IN ACCESS SHARE MODE"); // as pg_dump does
  await cycles();
  const early = await bench.pause("ask");
  const migrated = migrateDatabase(uri, { holdpoint: "9.8.7", library: "99.0.0" }, [...MIGRATIONS, NEXT]);
  const watcher = await connect(uri);
  await until("the step waits for the backup", async () => {
    const { rows } = await watcher.query("SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted");
    return rows.length > 0;
  });
  await cycles();
  await backup.query("COMMIT");
  const [{ from, to }] = await Promise.all([migrated, cycles()]);
  assert.deepEqual([from, to], [MIGRATIONS.length, MIGRATIONS.length + 1]);
  await cycles();
  assert.equal((await bench.resume(early.thread, "ask", "late")).status, 200);
  const { rows } = await watcher.query(
    "SELECT count(*)::int AS n FROM holdpoint.runs WHERE mood IS NULL AND weight = 0",
  );
  assert.deepEqual(rows, [{ n: 2 * (4 * CYCLES + 1) }]); // two runs a cycle
  await Promise.all([backup.end(), watcher.end()]);

  const refused = await holdpoint(["serve", "--config", CONFIG], { env: { DATABASE_URI: uri, PORT: "0" } });
  assert.equal(refused.code, 78, refused.err);
  assert.match(refused.err, /the database was written by Holdpoint 9\.8\.7: start that version or a newer one/);
});
