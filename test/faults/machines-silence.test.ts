// Tests of a server with a silent database: its statements hang, or the network drops all packets. Its pool is soon
// used up.
//   machines-silence.1. Every call gets 503 with Retry-After after a limited time, at any load, and /ok replies
//        meanwhile. The calls leave no memory behind.
//   machines-silence.2. When the database replies again, so does the server. Acknowledged writes survive, callers that
//        wait for a run get its end, and a repeated call with its Idempotency-Key took effect once.
//   machines-silence.3. A claim in progress when the database goes away holds its run back from nobody: the run starts
//        when the database is back, after any time.
//   machines-silence.4. A run claimed by a commit with unknown outcome continues (worker.ts, worker.5).
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { isMarked, startPostgresProxy, type Fate, type PostgresProxy } from "../fakes/postgres-proxy.ts";
import { FULL, pause, resumeBody, until, within } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { PATIENCE } from "../harness/patience.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { call, type Answer, type TestServer } from "../harness/server.ts";
import { IS_LONG } from "../harness/long.ts";

/** Times as in production in the long form. */
const SHORTER = FULL ? {} : { statement_timeout: "5000", lock_timeout: "2000", query_timeout: "6000" };
const [WAVES, CALLS] = FULL ? [10, 100] : [1, 8];
const env = { LANGGRAPH_POSTGRES_POOL_MAX_SIZE: "3", BG_JOB_MAX_RETRIES: "100", LOG_LEVEL: "debug" };
/** More than the sum of all limits in sequence: queue, connection, statement, lookup. */
const PATIENCE_MS = 90_000;
const LOOK_MS = 250;
/** Some times the limits of the claim in progress, and the poll behind it (engine/queue.3). */
const SOON_MS = 40_000;
const timeout = FULL ? 1_200_000 : PATIENCE.timeout;

let proxy: PostgresProxy;
let fleet: Fleet;
let server: TestServer;
/** Not through the proxy. */
let db: Client;

before(async () => {
  const uri = await newDatabase();
  proxy = await startPostgresProxy(uri);
  const through = new URL(proxy.uri);
  for (const [name, value] of Object.entries(SHORTER)) through.searchParams.set(name, value);
  fleet = new Fleet(through.href);
  server = await fleet.start("all", env);
  fleet.use(server);
  db = new Client({ connectionString: uri });
  await db.connect();
  beforeDrop(() => db.end());
});
after(async () => {
  await fleet.end();
  await proxy.close();
});

const STEPS = { assistant_id: "steps", input: {} };
const WHOLE = { log: ["one", "two", "three"] };

interface Sent {
  readonly path: string;
  readonly body: object;
  readonly key: string;
}

const send = ({ path, body, key }: Sent): Promise<Answer> =>
  within(`an answer to ${path}`, call(server, "POST", path, body, { "idempotency-key": key }), PATIENCE_MS);

/** Calls that each want something else, and as many that want one thread. */
function wave(paused: string): readonly Sent[] {
  const key = randomUUID();
  return [
    ...Array.from({ length: CALLS }, () => ({ path: "/runs/wait", body: STEPS, key: randomUUID() })),
    ...Array.from({ length: CALLS }, () => ({ path: `/threads/${paused}/runs/wait`, body: resumeBody("ask", 1), key })),
  ];
}

/** Polls the server during the calls. */
async function alive(calls: Promise<unknown>): Promise<number> {
  let [looks, over] = [0, false];
  const finished = calls.finally(() => (over = true));
  await until(
    "all calls are answered",
    async () => {
      assert.equal((await call(server, "GET", "/ok")).status, 200);
      looks++;
      await pause(LOOK_MS);
      return over;
    },
    PATIENCE_MS,
  );
  await finished;
  return looks;
}

const memory = async (): Promise<number> => {
  const { text } = await call(server, "GET", "/metrics");
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1]) / 1024 / 1024;
};

interface Silence {
  readonly name: string;
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

const SILENCES: readonly Silence[] = [
  {
    name: "its tables are locked",
    begin: async () => void (await db.query("BEGIN; LOCK TABLE holdpoint.threads IN ACCESS EXCLUSIVE MODE")),
    end: async () => void (await db.query("ROLLBACK")),
  },
  {
    name: "nothing comes through",
    begin: async () => proxy.stall(),
    end: async () => proxy.flow(),
  },
];

for (const { name, begin, end } of IS_LONG ? SILENCES : SILENCES.slice(1)) {
  test(
    `the database does not answer, because ${name} (machines-silence.1, machines-silence.2)`,
    { timeout },
    async () => {
      const { thread: paused } = await fleet.bench.pause("ask");
      const thread = await fleet.bench.newThread();
      fleet.bench.hold(thread, "two");
      const waiting = call(server, "POST", `/threads/${thread}/runs/wait`, STEPS);
      await fleet.bench.sees(thread, "two starts");
      const startedAt = performance.now();
      const sizes: number[] = [];
      let [refused, looks, longest] = [0, 0, 0];
      let sent: readonly Sent[] = [];
      await begin();
      try {
        for (let at = 0; at < WAVES; at++) {
          const from = performance.now();
          sent = wave(paused);
          const all = Promise.all(sent.map(send));
          looks += await alive(all);
          longest = Math.max(longest, performance.now() - from);
          for (const { status, headers, text } of await all) {
            assert.equal(status, 503, text);
            assert.notEqual(headers.get("retry-after"), null, text); // machines-silence.1
            refused++;
          }
          sizes.push(Math.round(await memory()));
          fleet.bench.release(thread, "two");
        }
      } finally {
        await end();
      }
      const [first = 0, last = 0] = [sizes[0], sizes.at(-1)];
      assert.ok(last - first < 100, `memory grows: ${sizes.join(", ")} MB`);
      const onThread = sent.filter(({ path }) => path.includes(paused));
      const answered = await Promise.all(
        [...sent.filter(({ path }) => !path.includes(paused)), ...onThread].map(again),
      );
      for (const { status, text } of answered) assert.equal(status, 200, text); // machines-silence.2
      assert.deepEqual(answered.at(-1)?.body, { log: ["prepared", 1, "recorded"] });
      assert.deepEqual(answered[0]?.body, WHOLE);
      assert.deepEqual((await waiting).body, WHOLE);
      assert.equal((await fleet.bench.runs(paused)).length, 2);
      assert.equal(new Set(fleet.bench.listEffects(paused, "answered").map(({ run }) => run)).size, 1);
      assert.equal(server.process.exitCode, null);
      console.log(
        `the database was silent for ${Math.round((performance.now() - startedAt) / 1000)} s, because ${name}:`,
      );
      console.log(
        `  ${refused} calls got 503, the last after ${Math.round(longest / 1000)} s; /ok answered ${looks} times;`,
      );
      console.log(`  memory in MB after each wave: ${sizes.join(", ")}`);
    },
  );
}

/** Until the server has found its way back. */
async function again(one: Sent): Promise<Answer> {
  let answer = await send(one);
  await until(
    `${one.path} is answered`,
    async () => answer.status !== 503 || (answer = await send(one)).status !== 503,
  );
  return answer;
}

/**
 * Direct claims make the thread busy, those from the queue change a run. Other writes go on: kept ones, as those of a
 * heartbeat, would use up the pool before the second claim.
 */
const CLAIMS = /^(?:WITH changed AS \(UPDATE holdpoint\.threads|UPDATE holdpoint\.runs SET status = \$2, attempt)/;
const keepClaims = (text: string, texts: readonly string[]): Fate =>
  isMarked(text) && texts.some((sql) => CLAIMS.test(sql)) ? "kept" : "pass";

test("a claim with an unknown commit outcome continues (machines-silence.4)", { timeout }, async () => {
  const accepted = await fleet.bench.newThread();
  const { thread: queued, run } = await queuedBefore(
    async () => void (proxy.decideFate = keepClaims),
    async () => {
      proxy.decideFate = () => "pass";
      proxy.deliver();
    },
  );
  const start: Sent = { path: `/threads/${accepted}/runs/wait`, body: STEPS, key: randomUUID() };
  const answer = send(start); // most often claims its run directly, the other one from the queue
  const claimed = async (): Promise<boolean> => {
    const sql = "SELECT thread_id FROM holdpoint.runs WHERE thread_id = ANY ($1) AND status = 'running'";
    return (await db.query(sql, [[accepted, queued]])).rows.length === 2;
  };
  await until("both are claimed", async () => pause(LOOK_MS).then(claimed));
  await db.query("BEGIN; LOCK TABLE holdpoint.commits IN ACCESS EXCLUSIVE MODE");
  proxy.decideFate = () => "pass";
  proxy.deliver();
  const { status, headers, body } = await answer;
  assert.deepEqual([status, (body as { readonly code: string }).code], [503, "commit_unknown"]);
  assert.notEqual(headers.get("retry-after"), null);
  await server.whenLogged("so it is with the other one", (logs) => logs.some(({ event }) => event === "claim_failed"));
  await db.query("ROLLBACK");
  assert.deepEqual((await again(start)).body, WHOLE);
  assert.deepEqual((await fleet.bench.call("GET", `/threads/${queued}/runs/${run}/join`)).body, WHOLE);
  for (const thread of [accepted, queued]) {
    assert.equal((await fleet.bench.runs(thread)).length, 1);
    assert.equal(fleet.bench.listEffects(thread, "one starts").length, 1);
  }
});

/** A delayed run, which is not due before the claims block. @param unblock for another try */
async function queuedBefore(
  block: () => Promise<void>,
  unblock: () => Promise<void>,
): Promise<{ readonly thread: string; readonly run: string }> {
  for (;;) {
    const thread = await fleet.bench.newThread();
    const late = await fleet.bench.post(`/threads/${thread}/runs`, { ...STEPS, after_seconds: 1 });
    const { run_id: run } = late.body as { readonly run_id: string };
    await block();
    if ((await db.query("SELECT FROM holdpoint.runs WHERE run_id = $1 AND status = 'pending'", [run])).rowCount === 1)
      return { thread, run };
    await unblock(); // its time has come before
  }
}

test("a run whose claim meets a database outage starts after it (machines-silence.3)", { timeout }, async () => {
  const { thread } = await queuedBefore(
    async () => void (await db.query("BEGIN; LOCK TABLE holdpoint.threads IN ACCESS EXCLUSIVE MODE")),
    async () => void (await db.query("ROLLBACK")),
  );
  const sql = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'holdpoint.threads'::regclass";
  const isClaimed = async (): Promise<boolean> => ((await db.query(sql)).rowCount ?? 0) > 0;
  await until("its claim waits for the table", async () => pause(LOOK_MS).then(isClaimed));
  const before = server.logs.length;
  proxy.refuse();
  const failures = (): number => server.logs.slice(before).filter(({ event }) => event === "claim_failed").length;
  await server.whenLogged("the queue has tried again, in vain", () => failures() > 1);
  await db.query("ROLLBACK");
  proxy.flow();
  await fleet.bench.sees(thread, "three ends", 1, SOON_MS);
});
