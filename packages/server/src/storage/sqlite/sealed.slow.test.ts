// Tests of encryption at rest on SQLite: the port's contract with keys, and that it leaves no plain cell (sealing.1).
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test, type TestContext } from "node:test";
import type { EncryptionKey } from "@holdpoint/base/keyring.ts";
import { SILENT } from "../../../../../test/harness/storage/sqlite-storage.ts";
import { findCells } from "../contract/sealed.contract.ts";
import { sealingContract } from "../contract/sealing.contract.ts";
import { storageContract } from "../contract/storage.contract.ts";
import { TABLES } from "../shared/sealed-columns.ts";
import { createSqliteStorage, type SqliteStorage } from "./storage.ts";

const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };
const keys: readonly EncryptionKey[] = ["new", "old"].map((id) => ({ id, key: randomBytes(32) }));
const folder = mkdtempSync(join(tmpdir(), "holdpoint-sealed-"));
const storage = createSqliteStorage({ folder, owner: "the contract", versions: VERSIONS, log: SILENT, keys });
await storage.start();
const direct = new DatabaseSync(join(folder, "holdpoint.db"));
const tables = direct
  .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'")
  .all()
  .map(({ name }) => String(name))
  .filter((name) => !name.startsWith("search_words_"));
const [others, sealed] = [new Set<string>(), new Set<string>()];

/** What a test stored, before the next one finds the storage empty. */
async function look(): Promise<void> {
  const found = await findCells((sql) => direct.prepare(sql).all(), "", tables, "new");
  for (const one of found.others) others.add(one);
  for (const one of found.sealed) sealed.add(one);
}

after(async () => {
  direct.close();
  await storage.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function emptied(): Promise<SqliteStorage> {
  await look();
  const names = tables.filter((name) => name !== "meta");
  const words = "INSERT INTO search_words (search_words) VALUES ('delete-all')";
  direct.exec(["BEGIN", ...names.map((name) => `DELETE FROM ${name}`), words, "COMMIT"].join("; "));
  await storage.transaction((tx) => tx.unindexedThreads(Infinity, { now: 0, claimedUntil: 0 }));
  return storage;
}

storageContract("SQLite with keys", emptied, startNew, true);

async function startNew(t: TestContext): Promise<SqliteStorage> {
  const own = newFolder(t);
  const started = createSqliteStorage({ folder: own, owner: "this test", versions: VERSIONS, log: SILENT, keys });
  await started.start();
  t.after(() => started.stop());
  return started;
}

function newFolder(t: TestContext): string {
  const own = mkdtempSync(join(tmpdir(), "holdpoint-sealed-"));
  t.after(() => rmSync(own, { recursive: true, force: true }));
  return own;
}

test("the contract leaves no plain cell in a sealed column (sealing.1)", async () => {
  await look();
  assert.deepEqual([...others], []);
  assert.ok(sealed.size > 20);
});

sealingContract("SQLite", async (t) => {
  const own = newFolder(t);
  return {
    create: (given) =>
      createSqliteStorage({ folder: own, owner: "this test", versions: VERSIONS, log: SILENT, keys: given }),
    readRows(sql) {
      const reader = new DatabaseSync(join(own, "holdpoint.db"));
      try {
        return reader.prepare(sql).all();
      } finally {
        reader.close();
      }
    },
    schema: "",
  };
});

test("every column of the schema is listed as sealed or plain", () => {
  for (const name of tables) {
    const columns = direct.prepare(`SELECT name FROM pragma_table_info('${name}')`).all();
    const { sealed: own, plain } = TABLES[name] ?? { sealed: {}, plain: [] };
    const listed = [...Object.keys(own), ...plain];
    const missing = columns.map((column) => String(column["name"])).filter((column) => !listed.includes(column));
    assert.deepEqual(missing, [], name);
  }
});
