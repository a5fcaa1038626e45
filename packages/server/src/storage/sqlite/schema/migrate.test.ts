// A file under a step that a later version adds, which no version has: sqlite/migrate.1, sqlite/migrate.2.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openDatabase, type Database } from "../client/database.ts";
import { NewerDatabaseError } from "../../shared/schema-version.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";

const NOW = { holdpoint: "1.0.0", library: "1.7.3" };
const LATER = { holdpoint: "9.8.7", library: "1.7.4" };
const STEP = `
  ALTER TABLE fingerprints ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';
  CREATE TABLE moods (mood TEXT PRIMARY KEY);
  INSERT INTO moods (mood) SELECT hash FROM fingerprints;
`;
const NEXT = [...MIGRATIONS, STEP];

/** A file of this version with one row. */
function openFile(t: TestContext): Database {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-migrate-"));
  const db = openDatabase(join(folder, "holdpoint.db"));
  t.after(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  migrate(db, NOW);
  db.run("INSERT INTO fingerprints (hash, created_at, body) VALUES ('a', 1, 'b')");
  return db;
}

const readMeta = (db: Database): unknown =>
  Object.fromEntries(db.all("SELECT key, value FROM meta").map(({ key, value }) => [key, value]));
const readTables = (db: Database): unknown => db.all("SELECT name, sql FROM sqlite_schema ORDER BY name");

test("a later version makes its step once and keeps the rows (sqlite/migrate.1)", (t) => {
  const db = openFile(t);
  for (let starts = 0; starts < 2; starts++) migrate(db, LATER, NEXT);
  assert.deepEqual({ ...db.get("SELECT hash, body, mood FROM fingerprints") }, { hash: "a", body: "b", mood: "calm" });
  assert.deepEqual(
    db.all("SELECT mood FROM moods").map(({ mood }) => mood),
    ["a"],
  );
  assert.deepEqual(readMeta(db), { schema: String(NEXT.length), ...LATER });
});

test("a step that fails leaves the file as it was, and the next start makes it (sqlite/migrate.1)", (t) => {
  const db = openFile(t);
  const before = [readMeta(db), readTables(db)];
  assert.throws(() => migrate(db, LATER, [...MIGRATIONS, `${STEP} INSERT INTO nowhere VALUES (1);`]), /nowhere/);
  assert.deepEqual([readMeta(db), readTables(db)], before);
  migrate(db, LATER, NEXT);
  assert.equal(db.get("SELECT count(*) AS n FROM moods")?.["n"], 1);
});

test("the version before the step refuses its file by name and leaves it alone (sqlite/migrate.2)", (t) => {
  const db = openFile(t);
  migrate(db, LATER, NEXT);
  const before = [readMeta(db), readTables(db)];
  assert.throws(
    () => migrate(db, NOW),
    (error) => error instanceof NewerDatabaseError && /written by Holdpoint 9\.8\.7/.test(error.message),
  );
  assert.deepEqual([readMeta(db), readTables(db)], before);
});
