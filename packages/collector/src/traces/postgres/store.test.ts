// Tests of the trace store on PostgreSQL: the contract, and what is its own (trace-tables.1–3, postgres/write.1).
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Clock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { openPlainDatabase, type PlainDatabase } from "../../../../server/src/storage/postgres/client/plain-sql.ts";
import { startPostgres } from "../../../../../test/harness/postgres/server.ts";
import { runRing as ring } from "../../../../../test/fakes/keys.ts";
import { newDatabase } from "../../../../../test/harness/postgres/databases.ts";
import { MIB, names, post, run, START, testTraceStore, uuid } from "../store.contract.ts";
import { migrateTraces } from "./trace-tables.ts";
import { createSharedTraceStore } from "./store.ts";
import { EVERY_TRACE } from "../query.ts";

const DAY_MS = 86_400_000;
const log = createLog({ level: "error", json: true, secrets: [], now: () => START, write: () => undefined });
const uri = await newDatabase();

/** On an empty store, or on that of `uri`. */
async function open(t: TestContext, limits: { bytes?: number; uri?: string } = {}) {
  const at: { now: number; sweep: () => void } = { now: START, sweep: () => undefined };
  const after: Clock["after"] = (_ms, callback) => {
    at.sweep = callback;
    return () => undefined;
  };
  const clock: Clock = { now: () => at.now, monotonic: () => at.now, after };
  const address = limits.uri ?? (await emptied());
  const sql = openPlainDatabase({ uri: address, poolMax: 4, log });
  const config = { traceBytesMax: limits.bytes ?? 64 * MIB, traceAgeMax: 2 * DAY_MS, search: true };
  const store = createSharedTraceStore(async () => sql, config, { clock, log, ring });
  await store.start();
  t.after(() => store.stop());
  const count = async (table: string): Promise<number> => {
    const rows = await sql.all(`SELECT coalesce(sum(bytes), 0)::bigint AS n FROM holdpoint_traces.${table}`);
    return Number(rows[0]?.["n"]);
  };
  const sumBytes = async () => ({ runs: await count("runs"), traces: await count("traces") });
  return Object.assign(at, { store, sumBytes, sql, uri: address });
}

async function emptied(): Promise<string> {
  const sql = openPlainDatabase({ uri: uri, poolMax: 4, log });
  await sql.all("DROP SCHEMA IF EXISTS holdpoint_traces CASCADE");
  await sql.close();
  return uri;
}

testTraceStore("PostgreSQL", open);

test("several processes write one trace at once, and its sums are those of its runs (postgres/write.1)", async (t) => {
  const first = await open(t);
  const others = await Promise.all([open(t, first), open(t, first)]);
  const stores = [first, ...others].map(({ store }) => store);
  const uploads = Array.from({ length: 10 }, (_, at) =>
    stores.map((store, of) => store.write(post(run(1, 3 * at + of + 1), run(100, 3 * at + of + 100)))),
  );
  await Promise.all(uploads.flat());
  for (const store of stores)
    assert.deepEqual(
      (await store.search(EVERY_TRACE)).items.map(({ runs }) => runs),
      [30, 30],
    );
  const { runs, traces } = await first.sumBytes();
  assert.equal(runs, traces);
});

/** Of the statements from now on. */
function recordParameters(sql: PlainDatabase): unknown[][] {
  const asked: unknown[][] = [];
  const all: typeof sql.all = sql.all.bind(sql);
  const record: typeof sql.all = async (...call) => {
    asked.push(call.slice(1));
    return all(...call);
  };
  Object.assign(sql, { all: record });
  return asked;
}

test("a page of common words is read at once; of others the index finds the rarest, and the rest are looked up (postgres/query.4)", async (t) => {
  const { store, sql } = await open(t);
  const text = (at: number): string => (at === 7 ? "order walrus" : "order");
  await store.write(post(...Array.from({ length: 110 }, (_, at) => run(at, at, { inputs: { text: text(at) } }))));
  await sql.all("ANALYZE holdpoint_traces.traces_20260101");
  const asked = recordParameters(sql);
  const find = async (...words: string[]): Promise<readonly unknown[]> => {
    asked.length = 0;
    const { items } = await store.search({ ...EVERY_TRACE, words });
    return [items.length, asked.length, asked.at(-1)];
  };
  assert.deepEqual(await find("order", "walrus"), [1, 4, ["'walrus':*", "'order':*"]]);
  assert.deepEqual(await find("order", "run"), [100, 1, ["'order':* & 'run':*"]]);
});

test("a page of a tag is read from the newest days, and is whole also where an older day has newer traces (postgres/query.5)", async (t) => {
  const at = await open(t);
  const { store, sql } = at;
  const busy = (id: number, name: string, started: number) =>
    run(id, id, { name, start_time: new Date(started).toISOString(), tags: ["busy"] });
  for (const day of [1, 2, 3, 4]) {
    const of = (n: number) => busy(10 * day + n, `${day}.${n}`, at.now + n);
    await store.write(post(...Array.from({ length: 8 }, (_, n) => of(n))));
    await sql.all(`ANALYZE holdpoint_traces.traces_2026010${day}`);
    at.now += DAY_MS;
  }
  const asked = recordParameters(sql);
  const page = { ...EVERY_TRACE, tag: "busy", limit: 3 };
  const { items, next } = await store.search(page);
  assert.deepEqual(names(items), ["4.7", "4.6", "4.5"]);
  assert.deepEqual(asked.slice(1).map((values) => values.at(-1)), ["20260104", "20260104"], "of the last day, and before it"); // prettier-ignore
  assert.deepEqual(names((await store.search({ ...page, cursor: next })).items), ["4.4", "4.3", "4.2"]);
  at.now = START + DAY_MS;
  await store.write(post(busy(9, "2.late", START + 9 * DAY_MS)));
  assert.deepEqual(names((await store.search(page)).items), ["2.late", "4.7", "4.6"]);
});

test("a day goes as a whole after its last change, and a trace that goes on keeps its day (trace-tables.1, trace-tables.2)", async (t) => {
  const at = await open(t);
  await at.store.write(post(run(10, 10, { name: "old" })));
  at.now += DAY_MS;
  await at.store.write(post(run(20, 20, { name: "kept" })));
  const days = async (): Promise<readonly unknown[]> =>
    (await at.sql.all("SELECT DISTINCT day::text AS day FROM holdpoint_traces.runs ORDER BY 1")).map(({ day }) => day);
  assert.deepEqual(await days(), ["2026-01-01", "2026-01-02"]);
  const swept = async (): Promise<readonly string[]> => {
    const before = at.sweep;
    at.sweep();
    while (at.sweep === before) await new Promise((resolve) => setImmediate(resolve));
    return names((await at.store.search(EVERY_TRACE)).items).toSorted();
  };
  at.now = START + 3 * DAY_MS - 1;
  assert.deepEqual(await swept(), ["kept", "old"]);
  at.now += 1;
  assert.deepEqual(await swept(), ["kept"]);
  await at.store.write(post(run(20, 21), run(30, 30, { name: "new" })));
  assert.deepEqual(await days(), ["2026-01-02", "2026-01-04"]);
  at.now += DAY_MS;
  assert.deepEqual(await swept(), ["kept", "new"], "its last change is a day old");
  at.now += 2 * DAY_MS;
  assert.deepEqual(await swept(), []);
  assert.equal(await at.store.run(uuid(21)), null);
});

test("without its database a write is refused, and the store says so until one succeeds", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const { store } = await open(t, server);
  await server.shutDown();
  await assert.rejects(store.write(post(run(1, 1))), { code: "storage_unavailable" });
  assert.match(store.problem() ?? "", /Nothing was written/);
  await server.start();
  await store.write(post(run(1, 1)));
  assert.deepEqual([store.problem(), (await store.search(EVERY_TRACE)).items.length], [null, 1]);
});

test("a database of a newer version stays untouched (trace-tables.3)", async (t) => {
  const { sql } = await open(t);
  await sql.all("UPDATE holdpoint_traces.meta SET version = 99");
  await assert.rejects(migrateTraces(sql), /written by a newer version/);
});

test("texts that PostgreSQL cannot hold read back as sent", async (t) => {
  const { store } = await open(t);
  const odd = { text: "nul \u0000, lone \ud800, \u0001 'quote' \\ ." };
  await store.write(
    post(run(1, 1, { name: odd.text, inputs: odd, extra: { metadata: { odd: odd.text } }, tags: [odd.text] })),
  );
  const shown = JSON.parse((await store.run(uuid(1))) ?? "{}") as { readonly inputs?: unknown; readonly name?: string };
  assert.deepEqual([shown.inputs, shown.name], [odd, odd.text]);
  assert.equal((await store.search({ ...EVERY_TRACE, metadata: [["odd", odd.text]], tag: odd.text })).items.length, 1);
});
