// Paused threads survive every migration of PostgreSQL (promise A17).
//   MM1. A database of any earlier schema is brought up to date by the server that starts on it, and every thread that was
//        paused there shows the question that it had, takes its answer once, and goes on.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Client } from "pg";
import { MIGRATIONS } from "../../src/storage/postgres/migrations.ts";
import { each, FULL, identity, only, resumeBody, type Question } from "../harness/fault-server.ts";
import { Fleet } from "../harness/fleet.ts";
import { newDatabase } from "../harness/postgres.ts";

const THREADS = FULL ? 1000 : 12;
const CALLERS = 8;
/** From the first schema, all steps are passed; the long form begins at each. */
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
let paused: Promise<readonly Paused[]> | null = null;

async function pauseAll(): Promise<readonly Paused[]> {
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
  await server.stop();
  return all;
}

async function connect(uri: string): Promise<Client> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  return client;
}

/** A database of an earlier schema, with what of the other one's rows it has a place for. */
async function older(schema: number, from: Client): Promise<string> {
  const uri = await newDatabase();
  const to = await connect(uri);
  await to.query("CREATE SCHEMA holdpoint; CREATE TABLE holdpoint.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
  for (const step of MIGRATIONS.slice(0, schema)) await to.query(step);
  const { rows: tables } = await to.query<{ readonly name: string; readonly columns: string }>(
    `SELECT table_name AS name, string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
     WHERE table_schema = 'holdpoint' AND is_generated = 'NEVER' AND column_name <> 'worker_id' GROUP BY table_name`,
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
  await to.query("UPDATE holdpoint.meta SET value = $1 WHERE key = 'schema'", [String(schema)]);
  await to.end();
  return uri;
}

for (const schema of SCHEMAS) {
  test(`${THREADS} threads that were paused under schema ${schema} go on under ${MIGRATIONS.length} (MM1)`, async () => {
    const threads = await (paused ??= pauseAll());
    const from = await connect(await source.database());
    const fleet = new Fleet(await older(schema, from));
    fleets.push(fleet);
    await from.end();
    const server = await fleet.start("all");
    fleet.use(server);
    const migrated = server.logs.find(({ event }) => event === "database_migrated");
    assert.deepEqual([migrated?.["from"], migrated?.["to"]], [schema, MIGRATIONS.length]);
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
    await server.stop();
    console.log(`schema ${schema} to ${MIGRATIONS.length}: ${went} of ${THREADS} paused threads went on`);
  });
}
