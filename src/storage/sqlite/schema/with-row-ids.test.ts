import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../client/database.ts";
import { migrate, MIGRATIONS } from "./migrations.ts";
import { INTERRUPTS_WITH_REVIEW, RUN_TABLES_WITH_ROW_IDS, WITH_ROW_IDS } from "./with-row-ids.ts";

const RUN_TABLES = ["threads", "runs", "checkpoints", "writes"];
const LARGE_TABLES = ["interrupts", "audit", "assistants", "assistant_versions", "crons"];
const TABLES = [...LARGE_TABLES, ...RUN_TABLES];

const tableOf = (db: ReturnType<typeof openDatabase>, name: string): string =>
  String(db.get("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", name)?.["sql"]);

test("tables with values of any size are not clustered, and their largest columns are among the last", () => {
  const db = openDatabase(":memory:");
  migrate(db, { holdpoint: "0.0.0", library: "1.4.18" });
  const last = TABLES.map((name) => {
    assert.doesNotMatch(tableOf(db, name), /WITHOUT ROWID/);
    return db.all(`PRAGMA table_info(${name})`).at(-1)?.["name"];
  });
  assert.equal(last.join(" "), "failure value context context payload overlay place small entries");
  db.close();
});

for (const { migration, tables } of [
  { migration: WITH_ROW_IDS, tables: LARGE_TABLES },
  { migration: INTERRUPTS_WITH_REVIEW, tables: ["interrupts"] },
  { migration: RUN_TABLES_WITH_ROW_IDS, tables: RUN_TABLES },
]) {
  test(`rows, indexes and triggers of ${tables.join(", ")} survive the migration`, () => {
    const db = openDatabase(":memory:");
    for (const step of MIGRATIONS.slice(0, MIGRATIONS.indexOf(migration) + 1)) db.exec(step);
    const others = () =>
      db.all("SELECT type, name, tbl_name FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL ORDER BY name");
    const before = others();
    for (const name of tables) {
      const columns = db.all(`PRAGMA table_info(${name})`).map((column) => String(column["name"]));
      // as before the migration: clustered, in another order
      const given = columns.toReversed();
      const text = tableOf(db, name);
      const keys = /PRIMARY KEY \([^)]*\)/.exec(text)?.[0] ?? assert.fail(text);
      db.exec(`DROP TABLE ${name}; CREATE TABLE ${name} (${given.join(", ")}, ${keys}) WITHOUT ROWID`);
      const values = given.map((column, at) =>
        column.endsWith("_at") || column === "seq" ? at : `${column} of ${name}`,
      );
      db.run(`INSERT INTO ${name} VALUES (${given.map(() => "?").join(", ")})`, ...values);
    }
    const rows = () => tables.map((name) => ({ ...db.get(`SELECT * FROM ${name}`) }));
    const expected = rows();
    db.exec(migration);
    assert.deepEqual(rows(), expected);
    assert.deepEqual(others(), before);
    db.close();
  });
}

test("audit rows cannot be changed", () => {
  const db = openDatabase(":memory:");
  migrate(db, { holdpoint: "0.0.0", library: "1.4.18" });
  db.run("INSERT INTO audit (thread_id, seq, at, action, by, value) VALUES ('t', 1, 1, 'a', 'b', 'null')");
  assert.throws(() => db.exec("UPDATE audit SET action = 'x'"), /never changed/);
  db.close();
});
