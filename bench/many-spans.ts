// Many spans: reads of a trace store with many spans in turn with those of a fresh one. PostgreSQL: 50,000 spans are
// written into each of two stores, and copied inside the second, over seven days, until it has 5 million (`--short`:
// 500,000). The embedded store: 10,000 spans, and the 200,000 that its file keeps.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createSharedTraceStore } from "@holdpoint/collector/traces/postgres/store.ts";
import { addDays } from "@holdpoint/collector/traces/postgres/trace-tables.ts";
import { EVERY_TRACE, type TraceSearch } from "@holdpoint/collector/traces/query.ts";
import { changesOfBatch } from "@holdpoint/collector/traces/run-change.ts";
import { createTraceStore, type TraceStore } from "@holdpoint/collector/traces/store.ts";
import { openPlainDatabase, type PlainDatabase } from "../packages/server/src/storage/postgres/client/plain-sql.ts";
import { startPostgres } from "../test/harness/postgres/server.ts";
import { median } from "./measure.ts";

const RUNS_A_TRACE = 10;
const WRITTEN = 50_000;
const UPLOAD_RUNS = 500;
const ROUNDS = 41;
const DAYS = 7;
const DAY_MS = 86_400_000;
const LIMITS = { traceBytesMax: 2 ** 40, traceAgeMax: 30 * DAY_MS, search: true };
const START = Date.parse("2026-01-01T00:00:00Z");

const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
const ports = { clock: systemClock, log, ring: null };
/** The first group is zero in what is written, and the number of the copy in copies. */
const uuid = (n: number, copy = 0): string =>
  `${copy.toString(16).padStart(8, "0")}-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;

function createRun(n: number): Record<string, unknown> {
  const [trace, step] = [Math.floor(n / RUNS_A_TRACE), n % RUNS_A_TRACE];
  const root = trace * RUNS_A_TRACE;
  const time = new Date(START + trace * 1000).toISOString().replace("Z", "000Z");
  const segment = (id: number): string => `${time.replaceAll(/[-:.]/g, "")}${uuid(id)}`;
  return {
    id: uuid(n),
    trace_id: uuid(root),
    dotted_order: step === 0 ? segment(root) : `${segment(root)}.${segment(n)}`,
    ...(step === 0 ? {} : { parent_run_id: uuid(root) }),
    name: step === 0 ? `agent ${trace % 20}` : `step ${step}`,
    run_type: step === 0 ? "chain" : step % 3 === 0 ? "tool" : "llm",
    session_name: `project ${trace % 5}`,
    start_time: time,
    end_time: time,
    ...(trace % 50 === 0 && step === 0 ? { error: "it broke" } : {}),
    inputs: { messages: [{ role: "user", content: `order w${trace % 1000}x of customer c${trace}y `.repeat(4) }] },
    outputs: { messages: [{ role: "assistant", content: `the answer of step ${step} is sent `.repeat(6) }] },
    extra: {
      metadata: {
        thread_id: `thread ${Math.floor(trace / 5)}`,
        customer: `c${trace % 500}`,
        region: `r${trace % 20}`,
        ls_model_name: `model ${trace % 3}`,
        usage_metadata: { input_tokens: 10, output_tokens: 20 },
      },
    },
  };
}

async function write(store: TraceStore, from: number, to: number): Promise<number> {
  const began = performance.now();
  for (let at = from; at < to; at += UPLOAD_RUNS) {
    const post = Array.from({ length: Math.min(UPLOAD_RUNS, to - at) }, (_, n) => createRun(at + n));
    await store.write(changesOfBatch({ post }));
  }
  return ((to - from) * 1000) / (performance.now() - began);
}

type Read = (store: TraceStore, round: number) => Promise<unknown>;
const list =
  (search: (round: number) => Partial<TraceSearch>): Read =>
  (store, round) =>
    store.search({ ...EVERY_TRACE, limit: 50, ...search(round) });

const READS: Readonly<Record<string, Read>> = {
  "list, the newest 50": list(() => ({})),
  "list of a project": list((n) => ({ project: `project ${n % 5}` })),
  "list of the failed": list(() => ({ status: "error" })),
  "list by a part of the name": list((n) => ({ name: `agent ${n % 20}` })),
  "list of a thread": list((n) => ({ threadId: `thread ${n}` })),
  "list by metadata that one trace in 500 has": list((n) => ({ metadata: [["customer", `c${n * 7}`]] })),
  "list by metadata that one trace in 20 has": list((n) => ({ metadata: [["region", `r${n % 20}`]] })),
  "search, a word of one trace in 1,000": list((n) => ({ words: [`w${n * 11}x`] })),
  "search, the beginning of a word of every trace": list(() => ({ words: ["ord"] })),
  "search, two words": list((n) => ({ words: ["order", `w${n * 13}x`] })),
  "search, a word of no trace": list(() => ({ words: ["nothing"] })),
  "one trace": (store, n) => store.trace(uuid(n * RUNS_A_TRACE)),
  "one span": (store, n) => store.run(uuid(n * 17 + 3)),
  projects: (store) => store.projects(),
};

/** Reads `fresh` and `full` in turn, and prints the medians. */
async function compare(title: string, fresh: TraceStore, full: TraceStore): Promise<void> {
  console.log(`| ${title} | ratio |`);
  console.log("| --- | --- | --- | --- |");
  for (const [what, ask] of Object.entries(READS)) {
    const times: readonly number[][] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      for (const [at, store] of [fresh, full].entries()) {
        const began = performance.now();
        await ask(store, round);
        times[at]?.push(performance.now() - began);
      }
    }
    const [first = Number.NaN, second = Number.NaN] = times.map(median);
    console.log(`| ${what} | ${first.toFixed(1)} ms | ${second.toFixed(1)} ms | ${(second / first).toFixed(1)} |`);
  }
}

/** Copy `copy` of what was written, with ids of its own, older by `copy` hours. */
async function copyAll(sql: PlainDatabase, copy: number, day: string): Promise<void> {
  const id = (column: string): string => `replace(${column}, '00000000-0000', '${uuid(0, copy).slice(0, 13)}')`;
  const again = async (table: string, changed: Readonly<Record<string, string>>): Promise<void> => {
    const rows = await sql.all(
      `SELECT column_name FROM information_schema.columns
        WHERE table_schema = 'holdpoint_traces' AND table_name = $1 ORDER BY ordinal_position`,
      table,
    );
    const columns = rows.map((row) => String(row["column_name"]));
    const values = columns.map((name) => changed[name] ?? name);
    await sql.transaction(async (own) => {
      await own.all("SET LOCAL statement_timeout = 0");
      await own.all(
        `INSERT INTO holdpoint_traces.${table} (${columns.join()}) SELECT ${values.join()}
           FROM holdpoint_traces.${table} WHERE trace_id < '00000001'`,
      );
    });
  };
  const moved = { day: `'${day}'::date`, trace_id: id("trace_id") };
  const hours = `- ${copy} * 3600000000`;
  const thread = `thread_id || ' ' || ${copy}`;
  await again("traces", { ...moved, thread_id: thread, started: `started ${hours}`, ended: `ended ${hours}` });
  const texts = ["dotted_order", "summary", "main"].map((column) => [column, id(column)]);
  await again("runs", { ...moved, run_id: id("run_id"), ...Object.fromEntries(texts) });
}

/** As autovacuum does: the partitions, and not the tables that they are of. */
async function analyze(sql: PlainDatabase): Promise<void> {
  const parts = await sql.all(
    `SELECT oid::regclass::text AS part FROM pg_class
      WHERE relispartition AND relkind = 'r' AND relnamespace = 'holdpoint_traces'::regnamespace`,
  );
  for (const { part } of parts) await sql.all(`ANALYZE ${String(part)}`);
}

async function benchShared(uri: string, spans: number): Promise<void> {
  const admin = openPlainDatabase({ uri, poolMax: 1, log });
  await admin.all("CREATE DATABASE fresh");
  await admin.close();
  const open = (name: string): PlainDatabase =>
    openPlainDatabase({ uri: uri.replace(/[^/]*$/, name), poolMax: 2, log });
  const [small, large] = [open("fresh"), open(new URL(uri).pathname.slice(1))];
  const stores = [small, large].map((sql) => createSharedTraceStore(async () => sql, LIMITS, ports));
  const [fresh, full] = stores;
  try {
    if (fresh === undefined || full === undefined) return;
    for (const store of stores) await store.start();
    console.log(`${(await write(fresh, 0, WRITTEN)).toFixed(0)} spans a second written`);
    await write(full, 0, WRITTEN);
    const copies = spans / WRITTEN - 1;
    for (let copy = 1; copy <= copies; copy++) {
      const [day = ""] = await addDays(large, Date.now() - Math.floor((copy * DAYS) / (copies + 1)) * DAY_MS);
      await copyAll(large, copy, day);
    }
    for (const sql of [small, large]) await analyze(sql);
    const sizes = [WRITTEN, spans].map((size) => `${size.toLocaleString("en")} spans`);
    await compare(`PostgreSQL | ${sizes.join(" | ")}`, fresh, full);
    const [size] = await large.all("SELECT pg_size_pretty(pg_database_size(current_database())) AS size");
    console.log(`size: ${String(size?.["size"])}`);
  } finally {
    for (const store of stores) await store.stop();
  }
}

async function benchEmbedded(sizes: readonly number[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
  const stores = sizes.map((spans) => createTraceStore(mkdtempSync(join(folder, `${spans}-`)), LIMITS, ports));
  const [fresh, full] = stores;
  try {
    if (fresh === undefined || full === undefined) return;
    for (const [at, store] of stores.entries()) {
      await store.start();
      console.log(`${(await write(store, 0, sizes[at] ?? 0)).toFixed(0)} spans a second written`);
    }
    const heads = sizes.map((size) => `${size.toLocaleString("en")} spans`);
    await compare(`embedded | ${heads.join(" | ")}`, fresh, full);
  } finally {
    for (const store of stores) await store.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function benchManySpans({ short }: { readonly short: boolean }): Promise<void> {
  await benchEmbedded([10_000, 200_000]);
  const postgres = await startPostgres();
  try {
    await benchShared(postgres.uri, short ? 500_000 : 5_000_000);
  } finally {
    await postgres.stop();
  }
}
