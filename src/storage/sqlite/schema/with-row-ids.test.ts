import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../client/database.ts";
import { migrate, MIGRATIONS } from "./migrations.ts";
import { RUN_TABLES_WITH_ROW_IDS, WITH_ROW_IDS } from "./with-row-ids.ts";

const RUN_TABLES = ["threads", "runs", "checkpoints", "writes"];
const TABLES = ["interrupts", "audit", "assistants", "assistant_versions", "crons", ...RUN_TABLES];

const tableOf = (db: ReturnType<typeof openDatabase>, name: string): string =>
  String(db.get("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", name)?.["sql"]);

test("tables with values of any size are not clustered, and the largest column is the last one", () => {
  const db = openDatabase(":memory:");
  migrate(db, { holdpoint: "0.0.0", library: "1.4.18" });
  const last = TABLES.map((name) => {
    assert.doesNotMatch(tableOf(db, name), /WITHOUT ROWID/);
    return db.all(`PRAGMA table_info(${name})`).at(-1)?.["name"];
  });
  assert.equal(last.join(" "), "value value context context payload overlay input small entries");
  db.close();
});

test("rows, indexes and triggers survive the migration", () => {
  const db = openDatabase(":memory:");
  for (const step of MIGRATIONS.slice(0, MIGRATIONS.indexOf(RUN_TABLES_WITH_ROW_IDS) + 1)) db.exec(step);
  const others = () =>
    db.all("SELECT type, name, tbl_name FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL ORDER BY name");
  const before = others();
  for (const name of TABLES) {
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
  const rows = () => TABLES.map((name) => ({ ...db.get(`SELECT * FROM ${name}`) }));
  const expected = rows();
  db.exec(WITH_ROW_IDS + RUN_TABLES_WITH_ROW_IDS);
  assert.deepEqual(rows(), expected);
  assert.deepEqual(others(), before);
  assert.throws(() => db.exec("UPDATE audit SET action = 'x'"), /never changed/);
  db.close();
});
