// Tests of storage on SQLite: the port's contract, and the rules of the file: sqlite/migrate.1, sqlite/migrate.2,
// folder-lock.1, folder-lock.2, client/database.2 (durability), sqlite/checkpoints.2 (large values once),
// group-commit.3 (failed commit).
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test, type TestContext } from "node:test";
import { assistantRecord } from "../../model/testkit.ts";
import { systemClock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { storageContract } from "../contract/storage.contract.ts";
import { FolderInUseError, type SqliteStorage, createSqliteStorage } from "./storage.ts";
import { compareVersions, NewerDatabaseError } from "../shared/schema-version.ts";

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-storage-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(
  t: TestContext,
  folder: string,
  versions = VERSIONS,
  owner = "the first process",
): Promise<SqliteStorage> {
  const storage = createSqliteStorage({ folder, owner, versions, log: silent });
  await storage.start();
  t.after(() => storage.stop());
  return storage;
}

/** One file and one storage for the contract, with its reader threads: each of its tests finds it empty. */
let shared: Promise<{ readonly folder: string; readonly storage: SqliteStorage }> | null = null;

async function openShared() {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-sqlite-"));
  const storage = createSqliteStorage({ folder, owner: "the contract", versions: VERSIONS, log: silent });
  await storage.start();
  return { folder, storage };
}

after(async () => {
  if (shared === null) return;
  const { folder, storage } = await shared;
  await storage.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function emptied(): Promise<SqliteStorage> {
  const { folder, storage } = await (shared ??= openShared());
  const tables = sql(
    folder,
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'meta'",
  );
  const words = "INSERT INTO search_words (search_words) VALUES ('delete-all')";
  const connection = new DatabaseSync(join(folder, "holdpoint.db"));
  connection.exec(["BEGIN", ...tables.map(({ name }) => `DELETE FROM ${String(name)}`), words, "COMMIT"].join("; "));
  connection.close();
  await storage.transaction((tx) => tx.unindexedThreads(Infinity, { now: 0, claimedUntil: 0 })); // of earlier tests
  return storage;
}

storageContract("SQLite", emptied, (t) => open(t, newFolder(t)));

/** Reads or changes the file without the storage's knowledge. */
function sql(folder: string, text: string): readonly Record<string, unknown>[] {
  const db = new DatabaseSync(join(folder, "holdpoint.db"));
  try {
    return db.prepare(text).all();
  } finally {
    db.close();
  }
}

const assistant = (assistantId: string, context: string) => assistantRecord(assistantId, { context });

test("an acknowledged write survives a restart (client/database.2)", async (t) => {
  const folder = newFolder(t);
  const first = await open(t, folder);
  await first.transaction((tx) => tx.insertAssistant(assistant("a", "kept")));
  const late = first.transactionDeferred((tx) => tx.insertAssistant(assistant("b", "kept too")));
  await first.stop(); // waits for all work requested so far
  await late;
  const second = await open(t, folder);
  assert.equal(await second.transaction((tx) => tx.countAllAssistants()), 2);
});

test("a deleted assistant leaves no row in the metadata index (cold/assistants.1)", async (t) => {
  const folder = newFolder(t);
  const storage = await open(t, folder);
  const rows = () => sql(folder, "SELECT assistant_id, value FROM assistant_metadata").map((row) => ({ ...row }));
  await storage.transaction((tx) => tx.insertAssistant({ ...assistant("a", ""), metadata: { team: "x" } }));
  assert.deepEqual(rows(), [{ assistant_id: "a", value: '"x"' }]);
  await storage.transaction((tx) => tx.deleteAssistant("a"));
  assert.deepEqual(rows(), []);
});

test("only the owner can read the folder and its files", async (t) => {
  const folder = join(newFolder(t), "made", "deep");
  const storage = await open(t, folder);
  await storage.transaction((tx) => tx.checkWritable(1));
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const name of readdirSync(folder)) {
    assert.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
  }
});

test("a large value exists once per content and thread, whichever run writes it (sqlite/checkpoints.2)", async (t) => {
  const folder = newFolder(t);
  const storage = await open(t, folder);
  const data = JSON.stringify("x".repeat(100_000));
  const blobs = (threadId: string) => [{ threadId, hash: "hash", data }];
  for (const threadId of ["one", "one", "two", "one"]) {
    await storage.transaction((tx) => tx.putWriteSet({ checkpoints: [], writes: [], blobs: blobs(threadId) }));
  }
  await storage.stop();
  assert.equal(sql(folder, "SELECT count(*) AS n FROM blobs")[0]?.["n"], 2);
});

test("an unfinished copy leaves no values after a failure or a restart (sqlite/copies.2)", async (t) => {
  const folder = newFolder(t);
  const first = await open(t, folder);
  const blobs = ["a", "b", "c"].map((hash) => ({
    threadId: "from",
    hash,
    data: JSON.stringify(hash.repeat(1_500_000)),
  }));
  await first.transaction((tx) => tx.putWriteSet({ checkpoints: [], writes: [], blobs }));
  const begin = async (to: string) => {
    assert.equal(await first.transaction((tx) => tx.copyValuesAhead("from", to, null)), "");
    assert.equal(await first.transaction((tx) => tx.copyValuesAhead("from", to, "")), "a");
  };
  await begin("failed");
  await begin("crashed");
  await first.transaction((tx) => tx.abandonCopy("failed"));
  const owners = () => sql(folder, "SELECT DISTINCT thread_id FROM blobs ORDER BY 1").map((row) => row["thread_id"]);
  assert.deepEqual(owners(), ["crashed", "from"]);
  await first.stop();
  await open(t, folder);
  assert.deepEqual(owners(), ["from"]);
  assert.deepEqual(sql(folder, "SELECT key FROM meta WHERE key LIKE 'copy:%'"), []);
});

const NEWER: readonly { readonly name: string; readonly change: string; readonly says: RegExp }[] = [
  {
    name: "a newer schema",
    change: "UPDATE meta SET value = '999' WHERE key = 'schema'",
    says: /written by Holdpoint 1\.2\.3: start that version or a newer one/,
  },
  {
    name: "a newer library",
    change: "UPDATE meta SET value = '1.10.0' WHERE key = 'library'",
    says: /@langchain\/langgraph 1\.10\.0 \(this process has 1\.4\.18\)/,
  },
];

for (const { name, change, says } of NEWER) {
  test(`a file of ${name} is rejected with its version and stays untouched (sqlite/migrate.2)`, async (t) => {
    const folder = newFolder(t);
    await (await open(t, folder)).stop();
    sql(folder, change);
    const before = sql(folder, "SELECT * FROM meta ORDER BY key");
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(open(t, folder, { holdpoint: "1.0.0", library: "1.4.18" }), (error) => {
        assert.ok(error instanceof NewerDatabaseError);
        assert.match(error.message, says);
        return true;
      });
    }
    assert.deepEqual(sql(folder, "SELECT * FROM meta ORDER BY key"), before);
  });
}

test("a file of the same or an older version opens and records the current one (sqlite/migrate.1)", async (t) => {
  const folder = newFolder(t);
  await (await open(t, folder)).stop();
  await (await open(t, folder, { holdpoint: "1.3.0", library: "1.5.0" })).stop();
  const meta = Object.fromEntries(sql(folder, "SELECT * FROM meta").map(({ key, value }) => [key, value]));
  assert.deepEqual([meta["holdpoint"], meta["library"]], ["1.3.0", "1.5.0"]);
});

for (const [left, right, sign] of [
  ["1.4.18", "1.4.18", 0],
  ["1.4.18", "1.4.9", 1],
  ["1.10.0", "1.9.9", 1],
  ["0.9.9", "1.0.0", -1],
  ["2.0.0-rc.1", "2.0.0", 0],
  ["1.4", "1.4.1", -1],
] as const) {
  test(`version ${left} against ${right}: ${sign}`, () => {
    assert.equal(Math.sign(compareVersions(left, right)), sign);
  });
}

test("a second process learns the owner of the folder; the folder is free after the owner stops (folder-lock.1, folder-lock.2)", async (t) => {
  const folder = newFolder(t);
  const first = await open(t, folder);
  await assert.rejects(open(t, folder, VERSIONS, "the second process"), (error) => {
    assert.ok(error instanceof FolderInUseError);
    assert.match(error.message, /in use by the first process: stop it first/);
    return true;
  });
  await first.transaction((tx) => tx.insertAssistant(assistant("a", "still works")));
  await first.stop();
  assert.ok(existsSync(join(folder, "lock.db")), "a file that is left behind holds nothing");
  const second = await open(t, folder, VERSIONS, "the second process");
  assert.equal(await second.transaction((tx) => tx.countAllAssistants()), 1);
});

test("a failed commit fails every task in it; the next group starts clean (group-commit.3)", async (t) => {
  const folder = newFolder(t);
  const storage = await open(t, folder);
  await storage.transaction((tx) => tx.insertAssistant(assistant("before", "")));
  const blocker = new DatabaseSync(join(folder, "holdpoint.db"));
  blocker.exec("BEGIN IMMEDIATE"); // no other connection can write now
  const works = await Promise.allSettled([
    storage.transaction((tx) => tx.insertAssistant(assistant("one", ""))),
    storage.transaction((tx) => tx.insertAssistant(assistant("two", ""))),
  ]);
  blocker.exec("ROLLBACK");
  blocker.close();
  for (const work of works) {
    assert.ok(work.status === "rejected");
    assert.equal((work.reason as { readonly code?: unknown }).code, "storage_unavailable");
  }
  await storage.transaction((tx) => tx.insertAssistant(assistant("after", "")));
  assert.equal(await storage.transaction((tx) => tx.countAllAssistants()), 2);
  for (const id of ["before", "after"]) assert.ok(await storage.transaction((tx) => tx.assistant(id)), id);
});

for (const name of ["holdpoint.db", "holdpoint.db-wal", "lock.db"]) {
  test(`${name} deleted under the storage: writes fail, reads of the same turn succeed (file-guard.1, file-guard.2, group-commit.3)`, async (t) => {
    const folder = newFolder(t);
    const said: string[] = [];
    const log: Log = { ...silent, error: (event) => void said.push(event), info: (event) => void said.push(event) };
    let tick: () => void = () => assert.fail("nothing was to be looked at");
    const clock = {
      ...systemClock,
      after: (_ms: number, callback: () => void) => ((tick = callback), () => undefined),
    };
    const storage = createSqliteStorage({ folder, owner: "the first process", versions: VERSIONS, log, clock });
    await storage.start();
    t.after(() => storage.stop());
    await storage.transaction((tx) => tx.insertAssistant(assistant("before", "")));
    const [path, aside] = [join(folder, name), join(folder, "aside")];
    renameSync(path, aside);
    tick();
    tick();
    assert.deepEqual(said, ["data_files_gone"]);
    const write = () => storage.transaction((tx) => tx.insertAssistant(assistant("after", "")));
    const count = () => storage.transaction((tx) => tx.countAllAssistants());
    const [first, written, last] = await Promise.allSettled([count(), write(), count()]);
    assert.ok(written.status === "rejected");
    const { code, message } = written.reason as { readonly code?: unknown; readonly message: string };
    assert.equal(code, "storage_unavailable");
    assert.match(message, new RegExp(`${name} was deleted`));
    for (const read of [first, last]) assert.deepEqual(read, { status: "fulfilled", value: 1 });
    writeFileSync(path, "");
    await assert.rejects(write(), /was replaced/);
    rmSync(path);
    renameSync(aside, path);
    await write();
    assert.equal(await count(), 2);
    assert.equal(said.at(-1), "data_files_restored");
  });
}
