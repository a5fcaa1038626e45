// Tests of the trace store on SQLite: the contract, and what is its own (write.3, write.4, traces/database.1–3 and 5).
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { systemClock, type Clock } from "@holdpoint/base/clock.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { openDatabase, VERSIONS } from "./database.ts";
import { MIB, names, post, run, START, testTraceStore, uuid } from "./store.contract.ts";
import { runRing as ring } from "../../../../test/fakes/keys.ts";
import { createTraceStore } from "./store.ts";
import { EVERY_TRACE } from "./query.ts";

const log = createLog({ level: "error", json: true, secrets: [], now: () => START, write: () => undefined });

async function open(t: TestContext, limits: { runs?: number; bytes?: number; folder?: string } = {}) {
  const folder = limits.folder ?? mkdtempSync(join(tmpdir(), "holdpoint-traces-"));
  const at: { now: number; sweep: () => void } = { now: START, sweep: () => undefined };
  const after: Clock["after"] = (_ms, callback) => {
    at.sweep = callback;
    return () => undefined;
  };
  const clock: Clock = { now: () => at.now, monotonic: () => at.now, after };
  const config = {
    runsMax: limits.runs ?? 10_000,
    traceBytesMax: limits.bytes ?? 64 * MIB,
    traceAgeMax: 3_600_000,
    search: true,
  };
  const store = createTraceStore(folder, config, { clock, log, ring });
  await store.start();
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const sumBytes = async () => {
    await store.stop();
    const db = new DatabaseSync(join(folder, "traces.db"));
    const sql = "SELECT (SELECT total(bytes) FROM runs) AS runs, (SELECT total(bytes) FROM traces) AS traces";
    const sums = db.prepare(sql).get() as { readonly runs: number; readonly traces: number };
    db.close();
    await store.start();
    return { ...sums };
  };
  return Object.assign(at, { store, folder, sumBytes });
}

testTraceStore("SQLite", open);

test("the least recently changed traces are deleted first, as a whole (write.3)", async (t) => {
  const { store } = await open(t, { runs: 6 });
  for (const trace of [10, 20, 30])
    await store.write(post(run(trace, trace, { name: `t${trace}` }), run(trace, trace + 1)));
  await store.write(post(run(10, 12))); // changes the first one again
  assert.deepEqual(new Set(names((await store.search(EVERY_TRACE)).items)), new Set(["t10", "t30"]));
  assert.equal(await store.run(uuid(21)), null);
  assert.deepEqual(store.totals().runs, 5);
});

test("writes survive a restart; one process at a time (traces/database.1, traces/database.2)", async (t) => {
  const first = await open(t);
  await first.store.write(post(run(1, 1)));
  await assert.rejects(open(t, { folder: first.folder }), /in use by another process/);
  await first.store.stop();
  const second = await open(t, { folder: first.folder });
  assert.equal(second.store.totals().runs, 1);
});

test("a file of a newer version stays untouched (traces/database.3)", async (t) => {
  const { store, folder } = await open(t);
  await store.stop();
  const db = new DatabaseSync(join(folder, "traces.db"));
  db.exec("PRAGMA user_version = 99");
  db.close();
  await assert.rejects(open(t, { folder }), /written by a newer version/);
});

const REFUSED: readonly [name: string, run: JsonObject, why: RegExp][] = [
  ["no id", { ...run(1, 1), id: "x" }, /not a run id/],
  ["another trace", { ...run(1, 2), trace_id: uuid(7) }, /trace_id does not match first part/],
  ["a root with a parent's order", { ...run(1, 2), parent_run_id: null }, /single part for root runs/],
  ["a child with a root's order", { ...run(1, 1), parent_run_id: uuid(5) }, /at least two parts/],
  ["another parent", { ...run(1, 2), parent_run_id: uuid(5) }, /second to last part/],
  ["an order that ends elsewhere", { ...run(1, 2), id: uuid(8) }, /does not end in its id/],
  ["no order", { ...run(1, 1), dotted_order: null }, /must have trace_id and dotted_order/],
];
for (const [name, body, why] of REFUSED) {
  test(`rejected: ${name} (run-change.2)`, () => {
    assert.throws(() => post(body), why);
  });
}

test("a later version's step is made once and keeps traces and sums; this version then refuses the file (traces/database.3, write.4)", async (t) => {
  const { store, folder } = await open(t);
  await store.write(post(run(1, 1), run(1, 2)));
  const sums = store.totals();
  await store.stop();
  const later = [...VERSIONS, "ALTER TABLE traces ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'"];
  for (let starts = 0; starts < 2; starts++) {
    const db = openDatabase(folder, systemClock, log, later);
    assert.deepEqual(
      db.all("SELECT runs, mood FROM traces").map((row) => ({ ...row })),
      [{ runs: 2, mood: "calm" }],
    );
    assert.deepEqual({ ...db.get("SELECT runs, bytes FROM totals") }, sums);
    db.close();
  }
  await assert.rejects(open(t, { folder }), /written by a newer version/);
});

test("a file from before the counts of projects gets them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-traces-"));
  const db = openDatabase(folder, systemClock, log, VERSIONS.slice(0, 1));
  const columns = "name, status, started, runs, errors, input_tokens, output_tokens, bytes, touched, received_at";
  for (const [id, project] of ["shop", "shop", "tests"].entries())
    db.run(
      `INSERT INTO traces (trace_id, project, ${columns}) VALUES (?, ?, '', '', 0, 0, 0, 0, 0, 0, 0, ?)`,
      uuid(id),
      project,
      START,
    );
  db.close();
  const { store } = await open(t, { folder });
  assert.deepEqual(await store.projects(), [
    { name: "shop", traces: 2 },
    { name: "tests", traces: 1 },
  ]);
});

test("traces without a change for the maximum age are deleted", async (t) => {
  const at = await open(t);
  await at.store.write(post(run(10, 10, { name: "quiet" }), run(20, 20, { name: "busy" })));
  at.now += 3_600_000;
  await at.store.write(post(run(20, 21)));
  at.now += 1;
  at.sweep();
  assert.deepEqual(names((await at.store.search(EVERY_TRACE)).items), ["busy"]);
  assert.deepEqual([await at.store.deleteTrace(uuid(20)), await at.store.deleteTrace(uuid(20))], [true, false]);
  assert.deepEqual(at.store.totals(), { runs: 0, bytes: 0 });
});

test("deleted traces are in no file of a stopped store (traces/database.5)", async (t) => {
  const { store, folder } = await open(t, { runs: 4 });
  const canary = "\u2691\u2690\u2691\u2690\u2691"; // no word: the index of words keeps those of deleted traces for a while
  const findIn = (): readonly string[] =>
    readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(canary));
  const long = Array.from({ length: 2000 }, (_, at) => `${canary}${at}`).join(" ");
  await store.write(post(run(10, 10, { inputs: { text: canary } }), run(10, 11, { inputs: { text: long } })));
  if (ring === null) assert.notDeepEqual(findIn(), []); // with keys it is sealed from the start
  for (const trace of [20, 30, 40]) await store.write(post(run(trace, trace), run(trace, trace + 1)));
  assert.equal(await store.run(uuid(10)), null, "the oldest went");
  await store.stop();
  assert.deepEqual(findIn(), []);
  await store.start();
});

test("the index of words gives up deleted words in steps, with other work in between", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-traces-"));
  const db = openDatabase(folder, systemClock, log);
  t.after(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const fill = "INSERT INTO words_index (rowid, words) VALUES (?, ?)";
  for (let part = 0; part < 8; part++)
    db.transaction(() => {
      for (let row = part * 250; row < (part + 1) * 250; row++) {
        const words = Array.from({ length: 30 }, (_, at) => createHash("sha256").update(`${row} ${at}`).digest("hex"));
        db.run(fill, row, `${words.join(" ")} ${row % 25 === 1 ? `canary${row}` : "kept"}`);
      }
    });
  db.run("DELETE FROM words_index WHERE rowid % 25 = 1");
  let turns = 0;
  let isDone = false;
  const count = (): void => void (turns++, isDone || setImmediate(count));
  setImmediate(count);
  await db.scrub();
  isDone = true;
  assert.ok(turns > 2, `${turns} turns of the event loop`);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString("latin1"));
  assert.ok(files.some((file) => file.includes("kept")) && !files.some((file) => file.includes("canary")));
  const found = "SELECT count(*) AS n FROM words_index WHERE words_index MATCH ?";
  assert.deepEqual([db.get(found, "kept")?.["n"], db.get(found, "canary1")?.["n"]], [1920, 0]);
});
