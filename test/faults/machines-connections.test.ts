// Tests of two servers whose connections to the database break at a COMMIT, and of a silent database.
//   machines-connections.1. A completed COMMIT is a success, even without its reply: no call fails, no node runs twice.
//   machines-connections.2. A call with 503 and Retry-After has changed nothing, and never will: retries are safe, with
//        a key or without.
//   machines-connections.3. For any broken connection: a 2xx is durable; a repeated call with its Idempotency-Key takes
//        effect once; one run uses an answer, once an attempt; every run ends.
//   machines-connections.4. A run after a failed claim is like any other: cancelling it at another server ends it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Pool } from "pg";
import { isMarked, onlyNext, startPostgresProxy, type Fate, type PostgresProxy } from "../fakes/postgres-proxy.ts";
import { each, FULL, only, pause, questionsIn, resumeBody, seeded, within } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { PATIENCE } from "../harness/patience.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { call, type Answer, type TestServer } from "../harness/server.ts";
import { IS_LONG } from "../harness/long.ts";

const CYCLES = FULL ? 400 : IS_LONG ? 5 : 2;
const CALLERS = FULL ? 8 : 4;
const PATIENCE_MS = 90_000;
/** A shortened Retry-After: longer waits meet fewer faults. */
const AGAIN_MS = 20;
const env = { LANGGRAPH_POSTGRES_POOL_MAX_SIZE: "4", BG_JOB_MAX_RETRIES: "100", LOG_LEVEL: "debug" };
const timeout = FULL ? 1_200_000 : PATIENCE.timeout;

let proxy: PostgresProxy;
let fleet: Fleet;
let servers: readonly TestServer[];
/** Bypasses the proxy: the stored rows, regardless of the servers. */
let db: Pool;
const { seed, next: random } = seeded();

before(async () => {
  const uri = await newDatabase();
  proxy = await startPostgresProxy(uri);
  fleet = new Fleet(proxy.uri);
  servers = await Promise.all([fleet.start("all", env), fleet.start("all", env)]);
  fleet.use(servers[0] as TestServer);
  db = new Pool({ connectionString: uri, max: 2 });
  db.on("error", () => undefined); // the database may go before its last connection has
  beforeDrop(() => db.end());
});
after(async () => {
  await fleet.end();
  await proxy.close();
});

interface Tally {
  cuts: number;
  putOff: number;
  again: number;
}

interface Picture {
  readonly status: string | null;
  readonly runs: number;
  readonly open: number;
  readonly answered: number;
}

/** The rows of a thread. */
async function picture(thread: string): Promise<Picture> {
  const { rows } = await db.query<Record<"status" | "runs" | "open" | "answered", string | null>>(
    `SELECT (SELECT status FROM holdpoint.threads WHERE thread_id = $1) AS status,
            (SELECT count(*) FROM holdpoint.runs WHERE thread_id = $1) AS runs,
            (SELECT count(*) FROM holdpoint.interrupts WHERE thread_id = $1 AND state = 'open') AS open,
            (SELECT count(*) FROM holdpoint.interrupts WHERE thread_id = $1 AND state = 'answered') AS answered`,
    [thread],
  );
  const [row] = rows;
  const count = (value: unknown): number => Number(value);
  return {
    status: row?.status ?? null,
    runs: count(row?.runs),
    open: count(row?.open),
    answered: count(row?.answered),
  };
}

/**
 * Repeats a call until it gets an answer, at one server after the other; a postponed call must have changed nothing.
 */
async function insist(
  tally: Tally,
  thread: string,
  path: string,
  body: object,
  key: string | null,
  stored: Picture,
): Promise<Answer> {
  const was = await picture(thread);
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let turn = 0; ; turn++) {
    assert.ok(performance.now() < giveUpAt, `no answer to ${path}`);
    const server = servers[turn % servers.length] as TestServer;
    const headers = key === null ? {} : { "idempotency-key": key };
    const answer = await call(server, "POST", path, body, headers);
    if (answer.status === 503) {
      tally.putOff++;
      assert.notEqual(answer.headers.get("retry-after"), null, answer.text);
      assert.equal((answer.body as { readonly code: string }).code, "storage_unavailable", answer.text);
      assert.deepEqual(await picture(thread), was, "nothing has changed"); // machines-connections.2
      await pause(AGAIN_MS);
      continue;
    }
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    assert.deepEqual(await picture(thread), stored, "what was answered is stored"); // machines-connections.3
    return answer;
  }
}

/** A pause and its answer, on a new thread. */
async function cycle(tally: Tally, keyed: boolean, durability: "sync" | "async"): Promise<string> {
  const thread = randomUUID();
  const key = (): string | null => (keyed ? randomUUID() : null);
  const runs = `/threads/${thread}/runs/wait`;
  const made = { thread_id: thread, if_exists: "do_nothing" };
  await insist(tally, thread, "/threads", made, null, { status: "idle", runs: 0, open: 0, answered: 0 });
  const start = { assistant_id: "ask", input: {}, durability };
  const atPause = { status: "interrupted", runs: 1, open: 1, answered: 0 };
  const paused = await insist(tally, thread, runs, start, key(), atPause);
  assert.deepEqual(only(questionsIn(paused.body), paused.text).value, { please: thread });
  const resume = { ...resumeBody("ask", thread), durability };
  const ended = await insist(tally, thread, runs, resume, key(), { status: "idle", runs: 2, open: 0, answered: 1 });
  assert.deepEqual(ended.body, { log: ["prepared", thread, "recorded"] });
  return thread;
}

/** Each node ran at most once per attempt, in its own run. */
async function checkEffects(tally: Tally, thread: string): Promise<void> {
  const { rows } = await db.query<{ readonly id: string; readonly status: string; readonly attempt: number }>(
    "SELECT run_id AS id, status, attempt FROM holdpoint.runs WHERE thread_id = $1 ORDER BY created_at, run_id",
    [thread],
  );
  assert.deepEqual(
    rows.map(({ status }) => status),
    ["interrupted", "success"],
  );
  for (const [node, at] of [
    ["prepare", 0],
    ["answered", 1],
    ["record", 1],
  ] as const) {
    const run = rows[at];
    const effects = fleet.bench.listEffects(thread, node);
    assert.deepEqual([...new Set(effects.map((effect) => effect.run))], [run?.id], `${node} is done by one run`);
    assert.ok(effects.length <= (run?.attempt ?? 0), `${node} of ${thread}: ${effects.length} times`);
    tally.again += effects.length - 1;
  }
}

const KINDS: readonly (readonly [name: string, fates: readonly Fate[], share: number])[] = [
  ["has taken place, and its answer is lost (machines-connections.1)", ["after"], 1 / 2],
  ["has not reached the database (machines-connections.2)", ["before"], 1 / 4],
  [
    "is before it, behind it or on its way, also that of a look-up (machines-connections.3)",
    ["before", "after", "during"],
    1 / 4,
  ],
];

for (const [name, fates, share] of KINDS) {
  test(`connections are cut when a COMMIT ${name}: ${CYCLES} pauses and answers`, { timeout }, async (t) => {
    t.diagnostic(`seed ${seed}`);
    const tally: Tally = { cuts: 0, putOff: 0, again: 0 };
    const before = proxy.cuts();
    const looksToo = fates.length > 1;
    let commits = 0;
    proxy.decideFate = (text) => {
      if (!isMarked(text) && !looksToo) return "pass";
      if (commits++ > 0 && random() >= share) return "pass"; // the first one is cut whatever the seed says
      return fates[Math.floor(random() * fates.length)] ?? "pass";
    };
    const threads: string[] = [];
    await each(
      Array.from({ length: CYCLES }, (_, at) => at),
      CALLERS,
      async (at) => void threads.push(await cycle(tally, at % 2 === 0, at % 4 < 2 ? "async" : "sync")),
    ).finally(() => (proxy.decideFate = () => "pass"));
    tally.cuts = proxy.cuts() - before;
    for (const thread of threads) await checkEffects(tally, thread);
    const { rows } = await db.query("SELECT run_id FROM holdpoint.runs WHERE status IN ('pending', 'running')");
    assert.deepEqual(rows, [], "every run has ended");
    assert.ok(tally.cuts > 0);
    // machines-connections.1
    if (fates.every((fate) => fate === "after")) assert.deepEqual([tally.putOff, tally.again], [0, 0]);
    console.log(
      `connections cut, ${fates.join(" or ")}: ${threads.length} pauses and answers, ${JSON.stringify(tally)}`,
    );
    for (const { process } of servers) assert.equal(process.exitCode, null);
  });
}

test(
  "a server that lost its claim on a run cancels it, and the other server ends it (machines-connections.4)",
  { timeout },
  async () => {
    const { bench } = fleet;
    const failures = ({ logs }: TestServer): number => logs.filter(({ event }) => event === "claim_failed").length;
    for (;;) {
      const before = servers.map(failures);
      const thread = await bench.newThread();
      bench.hold(thread, "two");
      const delayed = { assistant_id: "steps", input: {}, after_seconds: 1 };
      const { run_id: run } = (await bench.post(`/threads/${thread}/runs`, delayed)).body as {
        readonly run_id: string;
      };
      proxy.decideFate = onlyNext("before"); // the next write is the claim
      await bench.sees(thread, "two starts");
      const loser = servers.find((server, at) => failures(server) > (before[at] ?? 0));
      const [{ pid } = { pid: 0 }] = bench.listEffects(thread, "two starts");
      if (loser === undefined || pid === loser.process.pid) {
        bench.release(thread, "two"); // it was faster the second time, too
        continue;
      }
      const cancelled = call(loser, "POST", `/threads/${thread}/runs/${run}/cancel?wait=1`);
      assert.equal((await within("it is cancelled", cancelled)).status, 204);
      assert.equal((await bench.runs(thread))[0]?.status, "interrupted");
      return;
    }
  },
);
