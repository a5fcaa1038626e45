// Servers behind PgBouncer.
//   pgbouncer.1. With DATABASE_DIRECT_URI, transactions are pooled, and every history of starts, answers, cancellations
//        and kills is linearizable, as without a pooler; a worker hears of a run that another process queued.
//   pgbouncer.2. The trace store works behind it.
//   pgbouncer.3. A pooler of transactions without the other address, or as the other address, is refused by name; so is
//        one that rejects the limits of a connection. A pooler of sessions is an ordinary address.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { names, post, run } from "@holdpoint/collector/traces/store.contract.ts";
import { EVERY_TRACE } from "@holdpoint/collector/traces/query.ts";
import { createSharedTraceStore } from "@holdpoint/collector/traces/postgres/store.ts";
import { openPlainDatabase } from "@holdpoint/server/storage/postgres/client/plain-sql.ts";
import { Bench } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { checkHistories, restart, SETTINGS, timeout } from "../harness/faults/histories.ts";
import { IS_LONG } from "../harness/long.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { startPgBouncer } from "../harness/postgres/pgbouncer.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { SILENT } from "../harness/storage/sqlite-storage.ts";

const LIMITS = "statement_timeout, lock_timeout, idle_in_transaction_session_timeout";

async function newPooled(settings: Readonly<Record<string, string | number>> = {}) {
  const direct = await newDatabase();
  const pooler = await startPgBouncer(direct, settings);
  beforeDrop(() => pooler.stop());
  return { direct, uri: pooler.uri };
}

test(
  "rounds with kills behind a pooler of transactions: every history is linearizable (pgbouncer.1)",
  { timeout },
  async (t) => {
    const { direct, uri } = await newPooled();
    const bench = new Bench({ ...SETTINGS, DATABASE_URI: uri, DATABASE_DIRECT_URI: direct });
    t.after(() => bench.end());
    await bench.start();
    await checkHistories(t, bench, {
      rounds: IS_LONG ? 2 : 1,
      trouble: (round, progress) => restart(bench, round, progress),
    });
  },
);

test("an answer at one process becomes a run of another, behind a pooler of transactions (pgbouncer.1)", async (t) => {
  const { direct, uri } = await newPooled();
  const fleet = new Fleet(uri);
  t.after(() => fleet.end());
  const env = { DATABASE_DIRECT_URI: direct };
  await fleet.start("worker", env);
  fleet.use(await fleet.startHere("api", env));
  const { thread, question } = await fleet.bench.pause("ask");
  const answered = await Promise.all([1, 2, 3].map((one) => fleet.bench.resume(thread, "ask", { [question.id]: one })));
  assert.deepEqual(answered.filter(({ status }) => status === 200).length, 1);
  assert.ok(answered.every(({ status }) => status === 200 || status === 409));
  assert.equal(await fleet.bench.settled(thread), "idle");
});

test("the trace store stores and finds a run behind a pooler of transactions (pgbouncer.2)", async (t) => {
  const { direct, uri } = await newPooled();
  const open = async () => openPlainDatabase({ uri, directUri: direct, poolMax: 4, log: SILENT });
  const bounds = { traceBytesMax: 1_000_000, traceAgeMax: 86_400_000, search: null };
  const store = createSharedTraceStore(open, bounds, { clock: systemClock, log: SILENT, ring: null });
  await store.start();
  t.after(() => Promise.resolve(store.stop()));
  await store.write(post(run(1, 1, { name: "behind" })));
  assert.deepEqual(names((await store.search(EVERY_TRACE)).items), ["behind"]);
});

test("a transaction behind a pooler has its limits, and leaves none to the next client (pgbouncer.2)", async (t) => {
  const { direct, uri } = await newPooled({ default_pool_size: 1 });
  const sql = openPlainDatabase({ uri, directUri: direct, poolMax: 2, log: SILENT });
  t.after(() => sql.close());
  const show = LIMITS.split(", ").map((name) => `current_setting('${name}') AS ${name}`);
  const text = `SELECT ${show.join(", ")}`;
  const [within] = await sql.transaction((transaction) => transaction.all(text));
  assert.deepEqual(Object.values(within ?? {}), ["30s", "15s", "5s"]);
  const [after] = await sql.all(text);
  assert.deepEqual(Object.values(after ?? {}), ["0", "0", "0"]);
});

interface Case {
  readonly what: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Names the addresses: the pooler's, or PostgreSQL's own. */
  readonly env: (pooler: string, direct: string) => Readonly<Record<string, string>>;
  /** Null: it starts. */
  readonly refusal: RegExp | null;
}
const CASES: readonly Case[] = [
  {
    what: "a pooler of transactions alone",
    settings: {},
    env: (pooler) => ({ DATABASE_URI: pooler }),
    refusal: /DATABASE_URI: is a pooler of transactions: set DATABASE_DIRECT_URI/,
  },
  {
    what: "a pooler of transactions that ignores the limits",
    settings: { ignore_startup_parameters: LIMITS },
    env: (pooler) => ({ DATABASE_URI: pooler }),
    refusal: /DATABASE_URI: is a pooler of transactions: set DATABASE_DIRECT_URI/,
  },
  {
    what: "a pooler of transactions as the direct address",
    settings: {},
    env: (pooler) => ({ DATABASE_URI: pooler, DATABASE_DIRECT_URI: pooler }),
    refusal: /DATABASE_DIRECT_URI: is a pooler of transactions/,
  },
  {
    what: "a pooler of sessions that rejects the limits",
    settings: { pool_mode: "session" },
    env: (pooler) => ({ DATABASE_URI: pooler }),
    refusal: /unsupported startup parameter: statement_timeout: this is a connection pooler/,
  },
  {
    what: "a pooler of sessions that ignores the limits",
    settings: { pool_mode: "session", ignore_startup_parameters: `${LIMITS}, options`, default_pool_size: "20" },
    env: (pooler) => ({ DATABASE_URI: pooler }),
    refusal: null,
  },
  {
    what: "a direct address without the pooler's",
    settings: {},
    env: (_, direct) => ({ DATABASE_URI: "", DATABASE_DIRECT_URI: direct }),
    refusal: /DATABASE_DIRECT_URI: goes with DATABASE_URI, which is not set/,
  },
];

for (const { what, settings, env, refusal } of CASES) {
  test(`${what} ${refusal === null ? "is an ordinary address" : "is refused by name"} (pgbouncer.3)`, async () => {
    const { direct, uri } = await newPooled(settings);
    const dataDir = join(temporaryFolder(), "none");
    try {
      const started = startServerHere({ dataDir, env: env(uri, direct) });
      if (refusal === null) assert.equal(await (await started).stop(), 0);
      else await assert.rejects(started, refusal);
    } finally {
      removeFolder(join(dataDir, ".."));
    }
  });
}
