// Tests of start, stop, errors at start, and callers that disconnect.
//   agent-lifecycle.1. SIGTERM: no new runs, runs in progress end, waiting callers get replies, exit code 0. One
//        that arrives twice (from the terminal and from npm) is one; a later one ends at once.
//   agent-lifecycle.2. A run longer than the grace period is requeued, and the next process ends it.
//   agent-lifecycle.3. One process per data folder; kill -9 frees it.
//   agent-lifecycle.4. Errors at start appear together, with a specific exit code.
//   agent-lifecycle.5. A caller that disconnects loses nothing: a join has the result.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { Bench, each, FULL, ON_POSTGRES, until, within } from "../harness/faults/fault-server.ts";
import { IS_LONG, testInLong } from "../harness/long.ts";
import { startServerHere } from "../harness/server-here.ts";
import { ROOT, type Answer } from "../harness/server.ts";

const STEPS = { assistant_id: "steps", input: {} };
const WHOLE = { log: ["one", "two", "three"] };

async function started(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<Bench> {
  const bench = new Bench(env);
  t.after(() => bench.end());
  await bench.start();
  return bench;
}

/** A run on a new thread, blocked in its second node, and its waiting call. */
async function waitingRun(bench: Bench): Promise<{ readonly thread: string; readonly answer: Promise<Answer | null> }> {
  const thread = await bench.newThread();
  bench.hold(thread, "two");
  const answer = bench.attempt("POST", `/threads/${thread}/runs/wait`, STEPS);
  await bench.sees(thread, "two starts");
  return { thread, answer };
}

async function stopping(bench: Bench): Promise<void> {
  bench.server.process.kill("SIGTERM");
  await bench.server.whenLogged("it is stopping", (logs) => logs.some(({ event }) => event === "stopping"));
}

test("SIGTERM: waiting calls get their result or a join URL, new runs get 503, exit code 0 (agent-lifecycle.1)", async (t) => {
  // On PostgreSQL another process may take the queued run: its caller waits for the grace period.
  const bench = await started(t, { N_JOBS_PER_WORKER: "1", BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "20" });
  const [other, queued] = [await bench.newThread(), await bench.newThread()];
  const { thread, answer } = await waitingRun(bench);
  const behind = bench.call("POST", `/threads/${queued}/runs/wait`, STEPS);
  await until("it is queued", async () => (await bench.runs(queued)).length === 1);
  await stopping(bench);
  const refused = await bench.call("POST", `/threads/${other}/runs/wait`, STEPS);
  assert.equal(refused.status, 503, refused.text);
  assert.equal((refused.body as { readonly code: string }).code, "shutting_down");
  assert.ok(refused.headers.has("retry-after"));
  bench.release(thread, "two");
  assert.deepEqual((await answer)?.body, WHOLE);
  assert.match((await behind).text, /"ServerShutdown".*\/join/);
  assert.deepEqual(await within("it ends", bench.server.exited), [0, null]);
});

testInLong(
  "SIGTERM with a paused run: it drains at once, and the next process takes the answer (agent-lifecycle.1)",
  async (t) => {
    // Nothing runs, so a drain that waited for the pause would last an hour.
    const bench = await started(t, { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "3600" });
    const thread = await bench.newThread();
    await bench.call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "ask", input: {} });
    const asked = await bench.call("GET", "/inbox");
    assert.ok(asked.text.includes(thread), asked.text);
    await stopping(bench);
    assert.deepEqual(await within("it ends", bench.server.exited), [0, null]);
    await bench.start();
    assert.deepEqual((await bench.call("GET", "/inbox")).body, asked.body, "the same question is open");
    const answer = { assistant_id: "ask", command: { resume: "yes" } };
    const ended = await bench.call("POST", `/threads/${thread}/runs/wait`, answer);
    assert.match(ended.text, /"yes"/);
    assert.ok(!(await bench.call("GET", "/inbox")).text.includes(thread));
  },
);

testInLong("a signal that arrives twice is one: the server drains (agent-lifecycle.1)", async (t) => {
  const bench = await started(t, { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "3600" });
  const { thread, answer } = await waitingRun(bench);
  await stopping(bench);
  bench.server.process.kill("SIGTERM");
  assert.equal((await bench.call("GET", "/ok")).status, 200, "it did not end");
  bench.release(thread, "two");
  assert.deepEqual((await answer)?.body, WHOLE);
  assert.deepEqual(await within("it ends", bench.server.exited), [0, null]);
});

test("a later SIGTERM ends at once; the next process takes the run up again (agent-lifecycle.1, agent-lifecycle.2)", async (t) => {
  const bench = await started(t, { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "3600" });
  const { thread, answer } = await waitingRun(bench);
  await stopping(bench);
  const again = setInterval(() => bench.server.process.kill("SIGTERM"), 100);
  const [code, signal] = await within("it ends", bench.server.exited);
  clearInterval(again);
  assert.deepEqual([code, signal], [1, null]);
  assert.equal(await answer, null, "the waiting call was cut off");
  await bench.startHere();
  bench.release(thread, "two");
  assert.equal(await bench.settled(thread), "idle");
  assert.deepEqual(await bench.values(thread), WHOLE);
});

const SHORT_GRACE = { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "1", BG_JOB_MAX_RETRIES: "1", N_JOBS_PER_WORKER: "100" };

test("a run longer than the grace period is requeued; callers that hang up lose nothing (agent-lifecycle.2, agent-lifecycle.5)", async (t) => {
  const bench = await started(t, SHORT_GRACE);
  const { thread, answer } = await waitingRun(bench);
  // More often than the limit on crashes: a requeue is no crash.
  for (let restart = 0; restart < (FULL ? 5 : IS_LONG ? 2 : 1); restart++) {
    assert.equal(await within("it ends", bench.server.stop()), 0);
    await bench.start();
    await bench.sees(thread, "two starts", restart + 2);
  }
  const told = await answer;
  assert.equal(told?.status, 200);
  assert.match(told.text, /ServerShutdown/);
  bench.release(thread, "two");
  const joined = await bench.call("GET", told.headers.get("location") ?? "");
  assert.deepEqual(joined.body, WHOLE);
  assert.equal(bench.listEffects(thread, "one ends").length, 1, "what was stored did not run again");
  await hangUpAndJoin(bench);
});

test(
  "a second process on the data folder is refused by name; kill -9 frees the folder (agent-lifecycle.3)",
  { skip: ON_POSTGRES && "servers share a database: see test/cluster" },
  async (t) => {
    const bench = await started(t);
    const second = new Bench({}, bench.dataDir);
    t.after(() => second.end());
    const message = new RegExp(`process ${bench.server.process.pid}\\b`);
    await assert.rejects(second.startHere(), { name: "NotStarted", code: 1, message });
    assert.equal((await bench.call("GET", "/ok")).status, 200, "the first one is not disturbed");
    await bench.server.kill();
    await second.startHere();
    assert.equal((await second.call("GET", "/ok")).status, 200);
  },
);

testInLong("the error names a port in use, and the exit code is not 0 (agent-lifecycle.4)", async (t) => {
  const bench = await started(t);
  const port = new URL(bench.server.url).port;
  const second = new Bench({ PORT: port });
  t.after(() => second.end());
  await assert.rejects(
    second.start(),
    new RegExp(`the server ended \\(1\\)[^]*port ${port} on 127\\.0\\.0\\.1 is in use`),
  );
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function serve(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const main = [join(ROOT, "packages/holdpoint/src/main.ts"), "serve", ...args];
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, main, { env: { ...process.env, ...env } });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Ended;
  }
}

test("a wrong configuration: exit code 78, and every problem is listed (agent-lifecycle.4)", async (t) => {
  const bench = new Bench();
  t.after(() => bench.end());
  const wrong = { PORT: "many", N_JOBS_PER_WORKER: "0", LOG_LEVEL: "loud", BG_JOB_TIMEOUT_SECS: "-1" };
  const { code, stderr } = await serve([], { ...wrong, HOLDPOINT_DATA_DIR: bench.dataDir });
  assert.equal(code, 78, stderr);
  for (const name of Object.keys(wrong)) assert.match(stderr, new RegExp(name));
  assert.equal(existsSync(bench.dataDir), false, "nothing was touched");
  for (const [name, env] of [
    ["HOST", { HOST: "0.0.0.0", HOLDPOINT_DATA_DIR: bench.dataDir }],
    ["HOLDPOINT_DATA_DIR: .*ENOTDIR", { HOLDPOINT_DATA_DIR: join(ROOT, "package.json", "data") }],
  ] as const)
    await assert.rejects(startServerHere({ env }), { name: "NotStarted", code: 78, message: new RegExp(name) });
});

testInLong(
  "--print-config shows the effective configuration, without secrets of the environment (agent-lifecycle.4)",
  async (t) => {
    const bench = new Bench();
    t.after(() => bench.end());
    const canary = "canary-6f1f0c52";
    const env = { HOLDPOINT_DATA_DIR: bench.dataDir, PORT: "4321", OPENAI_API_KEY: canary, HOLDPOINT_API_KEYS: canary };
    const { code, stdout, stderr } = await serve(["--print-config"], env);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /PORT\W+4321/);
    assert.match(stdout, /N_JOBS_PER_WORKER/);
    assert.doesNotMatch(stdout + stderr, new RegExp(canary));
    assert.equal(existsSync(bench.dataDir), false);
  },
);

const WAITING = FULL ? 2000 : 50;
const RSS_MIB_MAX = 400;
/** Calls that start at the same time: on PostgreSQL, one that waits too long for a connection gets 503. */
const STARTING = ON_POSTGRES ? 64 : WAITING;

/** Waiting callers lose their connections: every result can be joined. */
async function hangUpAndJoin(bench: Bench): Promise<void> {
  bench.hold("all", "two");
  const threads: string[] = [];
  await each(Array.from({ length: WAITING }), 8, async () => void threads.push(await bench.newThread()));
  const hangUp = new AbortController();
  const open: { readonly join: string; readonly text: Promise<string | null> }[] = [];
  await each(threads, STARTING, async (thread) => {
    // Headers come with the first newline, and with them the address to join again.
    const response = await fetch(`${bench.server.url}/threads/${thread}/runs/wait`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(STEPS),
      signal: hangUp.signal,
    });
    assert.equal(response.status, 200);
    open.push({ join: response.headers.get("location") ?? "", text: response.text().catch(() => null) });
  });
  const memory = residentMiB(bench);
  hangUp.abort();
  for (const { text } of open) assert.equal(await text, null, "cut off");
  bench.release("all", "two");
  let joined = 0;
  await each(open, 16, async ({ join }) => {
    assert.deepEqual((await bench.call("GET", join)).body, WHOLE);
    joined++;
  });
  console.log(`hung up: ${WAITING} callers, ${joined} results joined, ${memory ?? "?"} MiB resident while they waited`);
  assert.equal(joined, WAITING);
  if (memory !== null) assert.ok(memory < RSS_MIB_MAX, `${memory} MiB`);
  assert.equal(await bench.server.stop(), 0, "nobody is left to wait for");
}

/** Null if the system does not report it. */
function residentMiB(bench: Bench): number | null {
  try {
    const status = readFileSync(`/proc/${bench.server.process.pid}/status`, "utf8");
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
  } catch {
    return null;
  }
}
