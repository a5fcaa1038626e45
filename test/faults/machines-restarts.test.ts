// Tests of two servers on one database during rolling restarts, and during restarts of the database.
//   machines-restarts.1. A rolling restart fails no call: a stopping server completes its calls, and the balancer uses
//        the other one meanwhile. Every run happens once, and every server exits with 0 under load.
//   machines-restarts.2. A run longer than its server's grace period continues at the other one, from its last
//        checkpoint. That does not count as a crash. Readers and waiting callers at the stopping server get the events
//        so far and the join URL; so do those that wait there for a run of the other one. No connection breaks.
//   machines-restarts.3. During repeated restarts of the database, each call repeated until its answer takes effect
//        once: errors are 503 with Retry-After, pauses stay, answers count once.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { each, FULL, only, pause, questionsIn, resumeBody } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres/server.ts";
import { call, type Answer, type TestServer } from "../harness/server.ts";
import { IS_LONG } from "../harness/long.ts";

const CYCLES = FULL ? 1000 : IS_LONG ? 12 : 4;
const [SERVER_RESTARTS, RESTARTS] = FULL ? [20, 20] : [1, IS_LONG ? 2 : 1];
const CALLERS = FULL ? 8 : 2;
const PATIENCE_MS = 90_000;
/** A shortened Retry-After: longer waits meet fewer faults. */
const AGAIN_MS = 50;
const env = {
  LANGGRAPH_POSTGRES_POOL_MAX_SIZE: "8",
  BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "2",
  BG_JOB_MAX_RETRIES: "100",
};

let database: PostgresServer;
let fleet: Fleet;
let servers: TestServer[];
/** The balancer's targets. */
let inRotation: TestServer[];
/** Calls in flight. */
const inFlight = new Map<TestServer, number>();
before(async () => {
  database = await startPostgres(true);
  fleet = new Fleet(database.uri);
  servers = await Promise.all([fleet.start("all", env), fleet.start("all", env)]);
  inRotation = servers;
  fleet.use(servers[0] as TestServer);
});
after(async () => {
  await fleet.end();
  await database.stop();
});

interface Tally {
  cycles: number;
  /** 503 with Retry-After. */
  putOff: number;
  /** Without a connection, the call sent nothing. */
  notTaken: number;
  /** The connection broke before the reply. */
  cutOff: number;
}

/** Calls of the official client behind a balancer: a postponed call goes to the other server. */
function caller(tally: Tally, first: number) {
  let turn = first;
  return async (path: string, body: object): Promise<Answer> => {
    const key = { "idempotency-key": randomUUID() };
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      assert.ok(performance.now() < giveUpAt, `no answer to ${path}: ${JSON.stringify(tally)}`);
      const server = inRotation[turn++ % inRotation.length] as TestServer;
      inFlight.set(server, (inFlight.get(server) ?? 0) + 1);
      try {
        const answer = await call(server, "POST", path, body, { ...key, connection: "close" });
        if (answer.status !== 503) return answer;
        assert.notEqual(answer.headers.get("retry-after"), null, answer.text);
        tally.putOff++;
      } catch (error) {
        if (isRefused(error)) tally.notTaken++;
        else tally.cutOff++;
      } finally {
        inFlight.set(server, (inFlight.get(server) ?? 0) - 1);
      }
      await pause(AGAIN_MS);
    }
  };
}

function isRefused(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return cause?.code === "ECONNREFUSED";
}

/** A pause and its answer, on a new thread. */
async function cycle(send: ReturnType<typeof caller>): Promise<string> {
  const thread = randomUUID();
  const made = await send("/threads", { thread_id: thread, if_exists: "do_nothing" });
  assert.equal(made.status, 200, made.text);
  const paused = await send(`/threads/${thread}/runs/wait`, { assistant_id: "ask", input: {} });
  assert.equal(paused.status, 200, paused.text);
  assert.deepEqual(only(questionsIn(paused.body), paused.text).value, { please: thread });
  const ended = await send(`/threads/${thread}/runs/wait`, resumeBody("ask", thread));
  assert.equal(ended.status, 200, ended.text);
  assert.deepEqual(ended.body, { log: ["prepared", thread, "recorded"] });
  return thread;
}

/** Cycles go on until there were enough of them, and `trouble` has come to its end. */
async function underLoad(
  trouble: () => Promise<void>,
  { cycles, pauseMs } = { cycles: CYCLES, pauseMs: 0 },
): Promise<{ readonly threads: string[]; readonly tally: Tally }> {
  const tally: Tally = { cycles: 0, putOff: 0, notTaken: 0, cutOff: 0 };
  const threads: string[] = [];
  const load = { isEnough: false };
  const work = each(
    Array.from({ length: CALLERS }, (_, at) => at),
    CALLERS,
    async (at) => {
      const send = caller(tally, at);
      while (!load.isEnough || threads.length < cycles) {
        threads.push(await cycle(send));
        tally.cycles++;
        if (pauseMs > 0) await pause(pauseMs);
      }
    },
  );
  const troubled = trouble().finally(() => (load.isEnough = true));
  await Promise.all([work, troubled]);
  return { threads, tally };
}

/** Each thread has its two runs, and each node ran once, except those that a fault interrupted. */
async function check(threads: readonly string[], faults: boolean): Promise<void> {
  const again = { runs: 0, nodes: 0 };
  await each(threads, CALLERS, async (thread) => {
    assert.deepEqual(await bench().values(thread), { log: ["prepared", thread, "recorded"] });
    assert.equal(await bench().status(thread), "idle");
    const runs = await bench().runs(thread);
    assert.deepEqual(
      runs.map(({ status }) => status),
      ["success", "interrupted"],
    );
    const did = ["prepare", "answered", "record"].map((node) => bench().listEffects(thread, node).length);
    if (did.some((times) => times > 1)) again.nodes++;
    for (const times of did) assert.ok(faults ? times >= 1 : times === 1, `${thread}: ${did.join(" ")}`);
  });
  if (faults) console.log(`  nodes that were cut short and done again: on ${again.nodes} of ${threads.length} threads`);
}

const bench = (): Fleet["bench"] => fleet.bench;

test(`a rolling restart of two servers, ${SERVER_RESTARTS} times, fails no call (machines-restarts.1)`, async () => {
  let [restarts, answeredWhileStopping] = [0, 0];
  const { threads, tally } = await underLoad(async () => {
    while (restarts < SERVER_RESTARTS) {
      const at = restarts++ % 2;
      const old = servers[at] as TestServer;
      inRotation = servers.filter((server) => server !== old);
      for (const _ of "12") await call(old, "GET", "/ready"); // earlier calls arrive earlier
      answeredWhileStopping += inFlight.get(old) ?? 0;
      assert.equal(await old.stop(), 0, old.output().slice(-2000));
      servers[at] = await fleet.start("all", env);
      inRotation = servers;
      fleet.use(servers[at]);
    }
  });
  console.log(`rolling restart: ${restarts} restarts, ${JSON.stringify({ ...tally, answeredWhileStopping })}`);
  const { putOff, notTaken, cutOff } = tally;
  assert.deepEqual({ putOff, notTaken, cutOff }, { putOff: 0, notTaken: 0, cutOff: 0 });
  await check(threads, false);
});

const STEPS = { assistant_id: "steps", input: {}, stream_mode: ["updates"], stream_resumable: true };
const WHOLE = { log: ["one", "two", "three"] };

interface Held<Got> {
  readonly thread: string;
  readonly run: string;
  /** The final result for the call that started it. */
  readonly answer: Promise<Got>;
}

const wait = (server: TestServer, path: string): Promise<Answer> => call(server, "POST", `${path}/wait`, STEPS);

/** Events until the stream ends or breaks: then clients continue elsewhere, with Last-Event-ID. */
async function stream(server: TestServer, path: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}/stream`, { method: "POST", headers, body: JSON.stringify(STEPS) });
  let text = "";
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
  } catch {
    assert.match(text, /^id: /m);
  }
  return text;
}

/** A run that this server executes, at the gate of its second node. */
async function heldBy<Got>(
  server: TestServer,
  start: (server: TestServer, path: string) => Promise<Got>,
): Promise<Held<Got>> {
  for (;;) {
    const thread = await bench().newThread();
    bench().hold(thread, "two");
    const answer = start(server, `/threads/${thread}/runs`);
    await bench().sees(thread, "two starts");
    const [effect] = bench().listEffects(thread, "two starts");
    if (effect?.pid === server.process.pid) return { thread, run: effect?.run ?? "", answer };
    bench().release(thread, "two"); // it had not yet found the queue empty, so the other one was faster
    await answer;
  }
}

const told = (text: string): readonly (string | undefined)[] =>
  [...text.matchAll(/^data: \{"(one|two|three)"/gm)].map(([, node]) => node);

test("a server stopped under load requeues its runs, and disconnects no caller (machines-restarts.2)", async () => {
  const [stopping, other] = servers as [TestServer, TestServer];
  inRotation = [other];
  fleet.use(other);
  const { tally, threads } = await underLoad(
    async () => {
      const inTime = await heldBy(stopping, wait);
      const [waited, streamed] = [await heldBy(stopping, wait), await heldBy(stopping, stream)];
      const elsewhere = await heldBy(other, wait);
      const join = ({ thread, run }: Held<unknown>): string => `/threads/${thread}/runs/${run}/join`;
      const waitsHere = call(stopping, "GET", join(elsewhere));
      const waitsThere = [waited, streamed].map((held) => call(other, "GET", join(held)));
      await call(stopping, "GET", "/ready"); // earlier calls arrive earlier
      const ended = stopping.stop();
      await stopping.whenLogged("it is stopping", (logs) => logs.some(({ event }) => event === "stopping"));
      bench().release(inTime.thread, "two");
      assert.deepEqual((await inTime.answer).body, WHOLE);
      for (const answer of [await waited.answer, await waitsHere]) {
        assert.equal(answer.status, 200, answer.text);
        assert.match(answer.text, /"ServerShutdown".*\/join/);
      }
      const text = await streamed.answer;
      assert.deepEqual(told(text), ["one"]);
      assert.equal(await ended, 0, stopping.output().slice(-2000));
      for (const held of [waited, streamed]) await bench().sees(held.thread, "two starts", 2, PATIENCE_MS);
      for (const held of [waited, streamed, elsewhere]) bench().release(held.thread, "two");
      const seen = { "last-event-id": [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? "" };
      const path = `/threads/${streamed.thread}/runs/${streamed.run}/stream`;
      assert.deepEqual(told((await call(other, "GET", path, undefined, seen)).text), ["two", "three"]);
      for (const answer of [...waitsThere, elsewhere.answer]) assert.deepEqual((await answer).body, WHOLE);
      for (const [held, times] of [
        [inTime, 1],
        [elsewhere, 1],
        [waited, 2],
        [streamed, 2],
      ] as const) {
        const starts = bench()
          .effects(held.thread)
          .filter(({ node }) => node.endsWith("starts"));
        const twos = Array.from({ length: times }, () => "two starts");
        assert.deepEqual(
          starts.map(({ node }) => node),
          ["one starts", ...twos, "three starts"],
        );
      }
    },
    { cycles: 0, pauseMs: 200 },
  );
  console.log(`stopped under load: ${JSON.stringify(tally)}`);
  const { putOff, notTaken, cutOff } = tally;
  assert.deepEqual({ putOff, notTaken, cutOff }, { putOff: 0, notTaken: 0, cutOff: 0 });
  await check(threads, false);
  servers = FULL ? [other, await fleet.start("all", env)] : [other];
  inRotation = servers;
});

test(`the database is restarted ${RESTARTS} times, at once or in order, under load (machines-restarts.3)`, async () => {
  let restarts = 0;
  const { threads, tally } = await underLoad(async () => {
    for (const { size } of Array.from({ length: RESTARTS }, () => ({ size: CYCLES / RESTARTS / 2 }))) {
      const before = bench().effects().length;
      await bench().whenEffects("there is load", () => bench().effects().length >= before + size, PATIENCE_MS);
      if (restarts++ % 2 === 0) await database.crash();
      else await database.shutDown();
      await database.start();
    }
  });
  console.log(`database restarts: ${restarts}, ${JSON.stringify(tally)}`);
  if (FULL) assert.ok(tally.putOff > 0, "the faults were met");
  await check(threads, true);
  for (const { process } of servers) assert.equal(process.exitCode, null);
});
