// Paused threads survive a migration of PostgreSQL (promise A17). The step is one that the next version could add.
//   machines-migration.1. Every thread that was paused before the step keeps its question, takes one answer, and
//        continues.
//   machines-migration.2. During and after the step, servers of this version serve every call, also when a backup blocks
//        the step. A server that starts then refuses by name.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "pg";
import { MIGRATIONS, migrateDatabase } from "../../packages/server/src/storage/postgres/schema/migrate.ts";
import { holdpoint } from "../harness/cli.ts";
import { each, FULL, identity, only, resumeBody, until, type Question } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { ROOT } from "../harness/server.ts";
import { IS_LONG } from "../harness/long.ts";

const THREADS = FULL ? 1000 : IS_LONG ? 12 : 4;
const CALLERS = 8;
const CONFIG = join(ROOT, "test", "faults", "graphs", "langgraph.json");

interface Paused {
  readonly thread: string;
  readonly graph: "ask" | "nested";
  readonly question: Question;
}

const fleet = new Fleet();
after(() => fleet.end());

async function pauseAll({ bench }: Pick<Fleet, "bench">): Promise<readonly Paused[]> {
  const all: Paused[] = [];
  await each(
    Array.from({ length: THREADS }, (_, at) => at),
    CALLERS,
    async (at) => {
      const graph = at % 3 === 0 ? "nested" : "ask";
      all.push({ graph, ...(await bench.pause(graph)) });
    },
  );
  return all;
}

async function connect(uri: string): Promise<Client> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  return client;
}

/** machines-migration.1 */
async function continueAll({ bench }: Pick<Fleet, "bench">, threads: readonly Paused[]): Promise<void> {
  await each(threads, CALLERS, async ({ thread, graph, question }) => {
    assert.equal(await bench.status(thread), "interrupted");
    assert.deepEqual(identity(only(await bench.questions(thread), thread)), identity(question));
    const answered = await bench.resume(thread, graph, thread);
    assert.equal(answered.status, 200, answered.text);
    if (graph === "ask") assert.deepEqual(answered.body, { log: ["prepared", thread, "recorded"] });
    else assert.equal(only(await bench.questions(thread), thread).value, "second");
    const late = await bench.call("POST", `/threads/${thread}/runs/wait`, resumeBody(graph, { [question.id]: 2 }));
    assert.equal(late.status, 409, late.text);
  });
}

/** Changes that migrate.ts allows a later version, on the tables that every run writes to. */
const NEXT = `
  ALTER TABLE holdpoint.threads ADD COLUMN mood TEXT;
  ALTER TABLE holdpoint.runs ADD COLUMN mood TEXT, ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE holdpoint.interrupts ADD COLUMN mood TEXT;
  ALTER TABLE holdpoint.checkpoints ADD COLUMN mood TEXT;
  CREATE TABLE holdpoint.moods (mood TEXT PRIMARY KEY);
  CREATE INDEX runs_mood ON holdpoint.runs (mood, run_id) WHERE mood IS NOT NULL;
`;
const CYCLES = FULL ? 200 : IS_LONG ? 12 : 4;

test(`${THREADS} paused threads and all calls go on while the next version's step waits, is made, and after it (machines-migration.1, machines-migration.2)`, async () => {
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
  const early = await pauseAll(fleet);
  const migrated = migrateDatabase({ uri }, { holdpoint: "9.8.7", library: "99.0.0" }, [...MIGRATIONS, NEXT]);
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
  await continueAll(fleet, early);
  const { rows } = await watcher.query(
    "SELECT count(*)::int AS n FROM holdpoint.runs WHERE mood IS NULL AND weight = 0",
  );
  assert.deepEqual(rows, [{ n: 2 * (4 * CYCLES + THREADS) }]); // two runs a cycle, and a thread
  await Promise.all([backup.end(), watcher.end()]);

  const refused = await holdpoint(["serve", "--config", CONFIG], { env: { DATABASE_URI: uri, PORT: "0" } });
  assert.equal(refused.code, 78, refused.err);
  assert.match(refused.err, /the database was written by Holdpoint 9\.8\.7: start that version or a newer one/);
});
