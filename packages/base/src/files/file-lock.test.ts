import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { lockFile } from "./file-lock.ts";

/** Another process in the instant before its refusal: it reads until it sees that the lock waits for it. */
const LOSER = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const reader = new DatabaseSync(workerData);
  reader.exec("BEGIN; SELECT * FROM sqlite_master");
  parentPort.postMessage("reads");
  const isAwaited = () => {
    const other = new DatabaseSync(workerData);
    try {
      other.exec("SELECT * FROM sqlite_master");
      return false;
    } catch {
      return true;
    } finally {
      other.close();
    }
  };
  while (!isAwaited());
  reader.close();
`;

test("the lock waits for a process that is about to be refused (file-lock.2)", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "lock");
  lockFile(path)?.release();
  const loser = new Worker(LOSER, { eval: true, workerData: path });
  t.after(() => loser.terminate());
  await once(loser, "message");
  const lock = lockFile(path);
  assert.ok(lock !== null);
  await once(loser, "exit");
  lock.release();
});

test("one owner, whose release frees the file, and whose user alone reads it (file-lock.1, file-lock.3)", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-lock-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "lock");
  const lock = lockFile(path);
  assert.ok(lock !== null);
  assert.equal(statSync(path).mode & 0o077, 0);
  assert.equal(lockFile(path), null);
  lock.release();
  lockFile(path)?.release();
  assert.throws(() => lockFile(join(folder, "absent", "lock")), /ENOENT/);
});
