// Tests of log-checkpoints.ts and its thread, on real files.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import type { Log } from "@holdpoint/base/log/log.ts";
import { openDatabase, type Database } from "./database.ts";
import { createLogCheckpoints, type LogCheckpoints } from "./log-checkpoints.ts";

const ROW = "x".repeat(100_000);
const MB = 1_000_000;

interface Bench {
  readonly path: string;
  readonly db: Database;
  readonly checkpoints: LogCheckpoints;
  /** Writes that much text, a row each commit. */
  readonly write: (megabytes: number) => Promise<void>;
  /** Emits the name of each warning. */
  readonly warnings: EventEmitter;
}

function setUp(t: TestContext, { threadPath }: { readonly threadPath?: string } = {}): Bench {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-log-"));
  const path = join(folder, "holdpoint.db");
  const db = openDatabase(path);
  db.exec("CREATE TABLE rows (id INTEGER PRIMARY KEY, value TEXT NOT NULL)");
  const warnings = new EventEmitter();
  const note = (): void => undefined;
  const log: Log = { debug: note, info: note, warning: (event) => void warnings.emit(event), error: note };
  const checkpoints = createLogCheckpoints(db, threadPath ?? path, log);
  t.after(async () => {
    await checkpoints.stop();
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    path,
    db,
    checkpoints,
    warnings,
    async write(megabytes) {
      for (let n = 0; n < (megabytes * MB) / ROW.length; n++) {
        db.run("INSERT OR REPLACE INTO rows VALUES (?, ?)", n % 20, ROW);
        checkpoints.committed();
        await turn(); // as between two groups of calls
      }
    },
  };
}

/** SQLite counts in the header how often the log has started again. */
function readStarts(path: string): number {
  const header = Buffer.alloc(32);
  const file = openSync(`${path}-wal`, "r");
  readSync(file, header);
  closeSync(file);
  return header.readUInt32BE(12);
}

test("under constant writes the log starts again and again, and stays small (log-checkpoints.1, log-checkpoints.2)", async (t) => {
  const { path, write } = setUp(t);
  const before = readStarts(path);
  await write(80);
  assert.ok(readStarts(path) > before + 1, `${readStarts(path) - before} starts`);
  assert.ok(statSync(`${path}-wal`).size < 100 * MB, `${statSync(`${path}-wal`).size} bytes`);
});

test("pages that a long reader holds back move after it, and no commit moves them (log-checkpoints.1)", async (t) => {
  const { path, db, write } = setUp(t);
  await write(1);
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM rows").get();
  await write(30);
  assert.equal(db.get("PRAGMA wal_autocheckpoint")?.["wal_autocheckpoint"], 0);
  assert.ok(statSync(`${path}-wal`).size > 30 * MB);
  reader.close();
  const starts = readStarts(path);
  for (let round = 0; readStarts(path) === starts && round < 100; round++) await write(1);
  assert.ok(readStarts(path) > starts);
});

test("if the thread cannot start, commits move the pages (log-checkpoints.3)", async (t) => {
  const { db, write, warnings } = setUp(t, { threadPath: join(tmpdir(), "no such folder", "holdpoint.db") });
  const failed = once(warnings, "log_checkpoint_thread_failed");
  await write(2);
  await failed;
  assert.equal(db.get("PRAGMA wal_autocheckpoint")?.["wal_autocheckpoint"], 4000);
  await write(2);
});
