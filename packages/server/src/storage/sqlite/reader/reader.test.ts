// Tests of the reader threads. Checked: reader.1 to reader.4. The threads of the file are real; those that die, hang or
// wait are small files of these tests.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { threadRecord } from "../../../model/testkit.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { ReadCall } from "../../shared/long-reads.ts";
import { createSqliteStorage } from "../storage.ts";
import { ALL } from "../../contract/samples.contract.ts";
import { createReader, type ReaderOptions } from "./reader.ts";

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-reader-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A thread that does what `onMessage` says with each call. */
function open(t: TestContext, onMessage: string, options: Partial<ReaderOptions> = {}) {
  const folder = newFolder(t);
  const file = join(folder, "thread.mjs");
  writeFileSync(
    file,
    `import { parentPort, threadId, workerData } from "node:worker_threads";
     const reply = (result) => parentPort.postMessage({ result, failure: null });
     parentPort.on("message", async ({ args: [given] }) => { ${onMessage} });`,
  );
  const reader = createReader({ path: "", log: silent, file: pathToFileURL(file), ...options });
  t.after(() => reader.stop());
  return reader;
}

const call = (...args: readonly unknown[]): ReadCall => ({ verb: "countThreads", args });

test("a long read sees every acknowledged write (reader.3)", async (t) => {
  const storage = createSqliteStorage({ folder: newFolder(t), owner: "this", versions: VERSIONS, log: silent });
  await storage.start();
  t.after(() => storage.stop());
  for (let count = 1; count <= 50; count++) {
    const threadId = crypto.randomUUID();
    await storage.transaction((tx) => tx.insertThread(threadRecord({ threadId, createdAt: count })));
    const [found, counted] = await Promise.all([
      storage.longReads.searchThreadIds({ ...ALL, limit: 1 }),
      storage.longReads.countThreads(ALL, null),
    ]);
    assert.deepEqual([found, counted], [[threadId], count]);
  }
});

test("a long read changes nothing, and one that SQLite refuses fails alone", async (t) => {
  const storage = createSqliteStorage({ folder: newFolder(t), owner: "this", versions: VERSIONS, log: silent });
  await storage.start();
  t.after(() => storage.stop());
  const wrong = { ...ALL, sortBy: "no_column" as "created_at" };
  const [refused, counted] = await Promise.allSettled([
    storage.longReads.searchThreadIds(wrong),
    storage.longReads.countThreads(ALL, null),
  ]);
  assert.match(String((refused as PromiseRejectedResult).reason), /no such column/);
  assert.equal((counted as PromiseFulfilledResult<number>).value, 0);
});

test("other work goes on while a long read runs, and a second thread takes a short one (reader.2)", async (t) => {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const reader = open(t, "if (given instanceof Int32Array) Atomics.wait(given, 0, 0); reply(threadId);");
  const slow = reader.read(call(gate));
  const [first, second] = [await reader.read(call("short")), await reader.read(call("short"))];
  assert.equal(first, second);
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  assert.notEqual(await slow, first);
});

test("calls start in their order (reader.2)", async (t) => {
  const reader = open(t, "reply({ by: threadId, given });");
  const calls = Array.from({ length: 50 }, (_, at) => reader.read(call(at)));
  const claims: { by: number; given: number }[] = [];
  for (const read of calls) void read.then((one) => claims.push(one as (typeof claims)[number]));
  await Promise.all(calls);
  for (const ofThread of Map.groupBy(claims, ({ by }) => by).values()) {
    const given = ofThread.map((one) => one.given);
    assert.deepEqual(
      given,
      given.toSorted((a, b) => a - b),
    );
  }
});

test("a thread that dies takes only its own call with it (reader.4)", async (t) => {
  const reader = open(
    t,
    'if (given === "die") process.exit(3); if (given === "throw") throw new Error("ouch"); reply(given);',
  );
  const calls = ["a", "die", "b", "throw", "c", "die", "d"];
  const ends = await Promise.allSettled(calls.map((given) => reader.read(call(given))));
  for (const [at, end] of ends.entries()) {
    if (end.status === "fulfilled") assert.equal(end.value, calls[at]);
    else assert.equal((end.reason as { readonly code?: string }).code, "storage_unavailable", String(calls[at]));
  }
  assert.deepEqual(
    ends.map(({ status }) => status === "fulfilled"),
    calls.map((given) => given.length === 1),
  );
});

test("a read without a result in time is given up, and those behind it get new threads (reader.1, reader.4)", async (t) => {
  const reader = open(t, 'if (given !== "hang") return reply(given); for (;;);', { limitMs: 300 });
  const hung = ["hang", "hang", "hang", "hang"].map((given) => reader.read(call(given)));
  const ends = await Promise.allSettled(hung);
  for (const end of ends)
    assert.equal(((end as PromiseRejectedResult).reason as { readonly code?: string }).code, "read_too_slow");
  const patient = open(t, "reply(given);");
  assert.equal(await patient.read(call("a")), "a");
});

test("the stop ends running and waiting reads, and refuses later ones (reader.1)", async (t) => {
  const reader = open(t, "for (;;);");
  const reads = ["a", "b", "c"].map((given) => reader.read(call(given)));
  const ends = Promise.allSettled(reads);
  await reader.stop();
  for (const end of await ends) assert.match(String((end as PromiseRejectedResult).reason), /the storage is closed/);
  await assert.rejects(reader.read(call("late")), { code: "storage_unavailable" });
});
