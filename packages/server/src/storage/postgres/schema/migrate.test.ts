// A database under a step that a later version adds, which no version has: migrate.1, migrate.2, migrate.3.
// test/faults/machines-migration.test.ts does it under running servers.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Client } from "pg";
import { newDatabase } from "../../../../../../test/harness/postgres/databases.ts";
import { NewerDatabaseError } from "../../shared/schema-version.ts";
import { MIGRATIONS, migrateDatabase } from "./migrate.ts";

const NOW = { holdpoint: "1.0.0", library: "1.7.3" };
const LATER = { holdpoint: "9.8.7", library: "1.7.4" };
const STEP = `
  ALTER TABLE holdpoint.fingerprints ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';
  CREATE TABLE holdpoint.moods (mood TEXT PRIMARY KEY);
  INSERT INTO holdpoint.moods (mood) SELECT hash FROM holdpoint.fingerprints;
`;
const NEXT = [...MIGRATIONS, STEP];

/** A database of this version with one row. */
async function openDatabase(t: TestContext): Promise<{ readonly uri: string; readonly client: Client }> {
  const uri = await newDatabase();
  await migrateDatabase({ uri }, NOW);
  const client = new Client({ connectionString: uri });
  await client.connect();
  t.after(() => client.end());
  await client.query("INSERT INTO holdpoint.fingerprints (hash, created_at, body) VALUES ('a', 1, 'b')");
  return { uri, client };
}

/** The record of the schema, and the columns. */
async function readSchema(client: Client): Promise<unknown> {
  const meta = await client.query("SELECT key, value FROM holdpoint.meta ORDER BY key");
  const columns = await client.query(
    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'holdpoint' ORDER BY 1, 2",
  );
  return [meta.rows, columns.rows];
}

test("one of several servers makes the later version's step, and the rows stay (migrate.1)", async (t) => {
  const { uri, client } = await openDatabase(t);
  const made = await Promise.all([1, 2, 3].map(() => migrateDatabase({ uri }, LATER, NEXT)));
  const [from, to] = [MIGRATIONS.length, NEXT.length];
  assert.deepEqual(
    made.toSorted((left, right) => left.from - right.from),
    [
      { from, to },
      { from: to, to },
      { from: to, to },
    ],
  );
  const { rows } = await client.query(
    "SELECT hash, body, f.mood, m.mood AS noted FROM holdpoint.fingerprints AS f, holdpoint.moods AS m",
  );
  assert.deepEqual(rows, [{ hash: "a", body: "b", mood: "calm", noted: "a" }]);
});

test("a step that fails leaves the database as it was, and the next start makes it (migrate.2)", async (t) => {
  const { uri, client } = await openDatabase(t);
  const before = await readSchema(client);
  await assert.rejects(
    migrateDatabase({ uri }, LATER, [...MIGRATIONS, `${STEP} SELECT nothing FROM nowhere;`]),
    /nowhere/,
  );
  assert.deepEqual(await readSchema(client), before);
  assert.deepEqual(await migrateDatabase({ uri }, LATER, NEXT), { from: MIGRATIONS.length, to: NEXT.length });
});

test("the version before the step refuses the database by name and leaves it alone (migrate.3)", async (t) => {
  const { uri, client } = await openDatabase(t);
  await migrateDatabase({ uri }, LATER, NEXT);
  const before = await readSchema(client);
  await assert.rejects(
    migrateDatabase({ uri }, NOW),
    (error) => error instanceof NewerDatabaseError && /written by Holdpoint 9\.8\.7/.test(error.message),
  );
  assert.deepEqual(await readSchema(client), before);
});
