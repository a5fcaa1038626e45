// Many spans: reads of a trace store with many spans in turn with those of a fresh one of 10,000. PostgreSQL: 50,000
// spans are written, and copied inside the database, over seven days, until it has 5 million (`--short`: 500,000;
// `--spans 1000000`: as many). The embedded store: the 200,000 that its file keeps. The last spans of both are the same.
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
const FRESH = 10_000;
const EMBEDDED = 200_000;
/** Spans that PostgreSQL copies. */
const COPIED = 50_000;
/** Spans whose words and metadata nothing else has; the same in every store. */
const LAST = 500;
const LAST_TRACE = 30_000;
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
        order: `o${trace}`,
        ...(trace < LAST_TRACE ? {} : { lot: "last" }),
        ls_model_name: `model ${trace % 3}`,
        usage_metadata: { input_tokens: 10, output_tokens: 20 },
      },
    },
  };
}

async function write(store: TraceStore, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += UPLOAD_RUNS) {
    const post = Array.from({ length: Math.min(UPLOAD_RUNS, to - at) }, (_, n) => createRun(at + n));
    await store.write(changesOfBatch({ post }));
  }
}

async function writeLast(store: TraceStore): Promise<void> {
  await write(store, LAST_TRACE * RUNS_A_TRACE, LAST_TRACE * RUNS_A_TRACE + LAST);
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
  "list by metadata that one trace has": list((n) => ({ metadata: [["order", `o${LAST_TRACE + n}`]] })),
  "list by metadata that one trace in 500 has": list((n) => ({ metadata: [["customer", `c${n * 7}`]] })),
  "list by metadata that the same 50 traces have": list(() => ({ metadata: [["lot", "last"]] })),
  "list by metadata that one trace in 20 has": list((n) => ({ metadata: [["region", `r${n % 20}`]] })),
  "search, a word of one trace": list((n) => ({ words: [`c${LAST_TRACE + n}y`] })),
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
    console.log(`| ${what} | ${first.toFixed(2)} ms | ${second.toFixed(2)} ms | ${(second / first).toFixed(1)} |`);
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
    await sql.all(
      `INSERT INTO holdpoint_traces.${table} (${columns.join()}) SELECT ${values.join()}
         FROM holdpoint_traces.${table} WHERE trace_id < '00000001'`,
    );
  };
  const moved = { day: `'${day}'::date`, trace_id: id("trace_id") };
  const hours = `- ${copy} * 3600000000`;
  const thread = `thread_id || ' ' || ${copy}`;
  await again("traces", { ...moved, thread_id: thread, started: `started ${hours}`, ended: `ended ${hours}` });
  const texts = ["dotted_order", "summary", "main"].map((column) => [column, id(column)]);
  await again("runs", { ...moved, run_id: id("run_id"), ...Object.fromEntries(texts) });
}

/** The indexes of words and labels are made after the copies, which takes a tenth of the time. */
async function copyWithoutIndexes(sql: PlainDatabase, copies: number): Promise<void> {
  const indexes = await sql.all(
    `SELECT indexname AS name, indexdef AS text FROM pg_indexes
      WHERE schemaname = 'holdpoint_traces' AND tablename = 'traces' AND indexdef LIKE '%USING gin%'`,
  );
  for (const { name } of indexes) await sql.all(`DROP INDEX holdpoint_traces.${String(name)}`);
  for (let copy = 1; copy <= copies; copy++) {
    const [day = ""] = await addDays(sql, Date.now() - Math.floor((copy * DAYS) / (copies + 1)) * DAY_MS);
    await copyAll(sql, copy, day);
  }
  for (const { text } of indexes) await sql.all(String(text).replace(" ON ONLY ", " ON "));
}

/** As autovacuum does: the partitions, and not the tables that they are of. */
async function vacuum(sql: PlainDatabase): Promise<void> {
  const parts = await sql.all(
    `SELECT oid::regclass::text AS part FROM pg_class
      WHERE relispartition AND relkind = 'r' AND relnamespace = 'holdpoint_traces'::regnamespace`,
  );
  for (const { part } of parts) await sql.all(`VACUUM (ANALYZE) ${String(part)}`);
}

const formatSizes = (sizes: readonly number[]): string =>
  sizes.map((size) => `${size.toLocaleString("en")} spans`).join(" | ");

interface Shared {
  readonly fresh: TraceStore;
  readonly full: TraceStore;
  /** As the head of a table. */
  readonly size: string;
}

async function fillShared(uri: string, spans: number): Promise<Shared> {
  const admin = openPlainDatabase({ uri, poolMax: 1, log });
  await admin.all("CREATE DATABASE fresh");
  await admin.close();
  const open = async (name: string): Promise<readonly [PlainDatabase, TraceStore]> => {
    const address = `${uri.replace(/[^/]*$/, name)}?statement_timeout=600000`;
    const sql = openPlainDatabase({ uri: address, poolMax: 2, log });
    const store = createSharedTraceStore(async () => sql, LIMITS, ports);
    await store.start();
    return [sql, store];
  };
  const [small, fresh] = await open("fresh");
  const [large, full] = await open(new URL(uri).pathname.slice(1));
  await write(fresh, 0, FRESH - LAST);
  await write(full, 0, COPIED);
  await copyWithoutIndexes(large, Math.floor((spans - LAST) / COPIED) - 1);
  for (const store of [fresh, full]) await writeLast(store);
  for (const sql of [small, large]) await vacuum(sql);
  const [found] = await large.all(
    "SELECT count(*) AS runs, pg_size_pretty(pg_database_size(current_database())) AS size FROM holdpoint_traces.runs",
  );
  return { fresh, full, size: `${String(found?.["size"])} | ${formatSizes([FRESH, Number(found?.["runs"])])}` };
}

async function benchShared(uri: string, spans: number): Promise<void> {
  const began = performance.now();
  const { fresh, full, size } = await fillShared(uri, spans);
  try {
    console.log(`filled in ${((performance.now() - began) / 60_000).toFixed(1)} minutes`);
    await compare(`PostgreSQL, ${size}`, fresh, full);
  } finally {
    for (const store of [fresh, full]) await store.stop();
  }
}

async function benchEmbedded(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-bench-"));
  const sizes = [FRESH, EMBEDDED];
  const stores = sizes.map((spans) => createTraceStore(mkdtempSync(join(folder, `${spans}-`)), LIMITS, ports));
  const [fresh, full] = stores;
  try {
    if (fresh === undefined || full === undefined) return;
    for (const [at, store] of stores.entries()) {
      await store.start();
      await write(store, 0, (sizes[at] ?? 0) - LAST);
      await writeLast(store);
    }
    await compare(`embedded | ${formatSizes(sizes)}`, fresh, full);
  } finally {
    for (const store of stores) await store.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function benchManySpans({
  short,
  spans,
}: {
  readonly short: boolean;
  readonly spans?: string;
}): Promise<void> {
  await benchEmbedded();
  const postgres = await startPostgres();
  try {
    await benchShared(postgres.uri, Number(spans ?? (short ? 500_000 : 5_000_000)));
  } finally {
    await postgres.stop();
  }
}
