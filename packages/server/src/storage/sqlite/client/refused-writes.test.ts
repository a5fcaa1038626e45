// Tests of refused writes, on a database that may not grow: refused-writes.1.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { SILENT } from "../../../../../../test/harness/storage/sqlite-storage.ts";
import { openDatabase } from "./database.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createRefusedWrites } from "../storage.ts";

test("after a refused write, small ones do not count: only one that is large ends it (refused-writes.1)", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-full-"));
  const db = openDatabase(join(folder, "holdpoint.db"));
  t.after(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  db.exec("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  const writes = createRefusedWrites(db);
  const hooks = { before: () => undefined, after: writes.committed, refused: writes.refused };
  const commits = createGroupCommit(db, SILENT, hooks);
  const put = (units: number) =>
    commits.run(() => db.run("INSERT OR REPLACE INTO meta VALUES ('k', ?)", "x".repeat(units)), false);
  const check = () => commits.run(() => writes.probe(), false);
  await check();
  db.exec("PRAGMA max_page_count = 20");
  await check();
  await assert.rejects(put(100_000), { code: "storage_unavailable" });
  await put(10);
  for (const _ of ["at once", "again"]) await assert.rejects(check(), { code: "storage_unavailable" });
  await put(10);
  db.exec("PRAGMA max_page_count = 100000");
  await check();
  const pages = Number(db.get("PRAGMA page_count")?.["page_count"]);
  await check();
  assert.equal(Number(db.get("PRAGMA page_count")?.["page_count"]), pages, "nothing more is written");
});
