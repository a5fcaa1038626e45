// Tests of failing writes: one statement, one commit, all commits, a full disk, a failed sync.
//   agent-write-failure.1. A failing write ends only its own run: the process stays up, other runs finish.
//   agent-write-failure.2. After it no further node of that run starts.
//   agent-write-failure.3. Callers get 503 or an `__error__`, never a 200 for an unstored result; an unresolved pause
//        stays.
//   agent-write-failure.4. After the storage recovers, service continues without a restart, and no thread stays busy.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Bench, each, FULL, identity, only, pause, resumeBody, until, within } from "../harness/faults/fault-server.ts";
import { temporaryFolder, type Answer } from "../harness/server.ts";

const FOR_EVER = 1_000_000_000;
const bench = new Bench();
before(() => bench.start());
after(() => bench.end());

const STEPS = { assistant_id: "steps", input: {} };
const WHOLE = { log: ["one", "two", "three"] };

function errorOf(answer: Answer): string | undefined {
  return (answer.body as { readonly __error__?: { readonly error: string } }).__error__?.error;
}

/** A rejection, or the failure of the run. */
function isFailure(answer: Answer): boolean {
  return answer.status === 503 || (answer.status === 200 && errorOf(answer) !== undefined);
}

function faultsMet(): number {
  return bench.server.logs.filter(({ event }) => event === "fault").length;
}

/** Each test starts with a storage that works and a process that is the same as at first. */
async function proveHealthy(): Promise<void> {
  const thread = await bench.newThread();
  assert.deepEqual((await bench.post(`/threads/${thread}/runs/wait`, STEPS)).body, WHOLE);
  assert.equal(bench.starts, 1, "the process stayed up");
}

/** Without durability sync, how many checkpoints share a write is a matter of timing. */
const FAILING_WRITES = { sync: [1, 2], async: [1] } as const;

for (const durability of ["sync", "async"] as const) {
  for (const nth of FAILING_WRITES[durability]) {
    test(`a checkpoint that cannot be written (${durability}, write ${nth}) ends its run and no other (agent-write-failure.1, agent-write-failure.2)`, async () => {
      const [bad, good] = [await bench.newThread(), await bench.newThread()];
      const met = faultsMet();
      bench.hold(bad, "two");
      bench.hold(good, "two");
      bench.arm({ point: "statement: checkpoints", action: "throw", thread: bad, nth, times: FOR_EVER });
      const other = bench.post(`/threads/${good}/runs/wait`, STEPS);
      const answer = await bench.call("POST", `/threads/${bad}/runs/wait`, { ...STEPS, durability });
      assert.ok(isFailure(answer), answer.text);
      bench.disarm();
      bench.release(bad, "two");
      bench.release(good, "two");
      assert.deepEqual((await other).body, WHOLE);
      assert.ok(faultsMet() > met, "the fault was met");
      assert.equal(await bench.settled(bad), "error");
      await proveHealthy();
      assert.equal(bench.effectsOf(bad, "three starts").length, 0, "no further node started");
      if (durability === "sync") assert.equal(bench.effectsOf(bad, "two starts").length, 0);
      assert.deepEqual(only(await bench.runs(bad), "one run").status, "error");
      await bench.post(`/threads/${bad}/runs/wait`, STEPS); // the thread works again
      assert.equal(await bench.status(bad), "idle");
    });
  }
}

for (const rollbackToo of [false, true]) {
  const also = rollbackToo ? ", and taking back fails too" : "";
  test(`the commit that accepts a run fails${also}: 503, and nothing is left of the run (agent-write-failure.3)`, async () => {
    const thread = await bench.newThread();
    bench.arm({ point: "before commit: accept", action: "throw", rollbackToo });
    const answer = await within("an answer", bench.call("POST", `/threads/${thread}/runs/wait`, STEPS));
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.headers.get("retry-after"), "1");
    assert.deepEqual(await bench.runs(thread), []);
    assert.equal(await bench.status(thread), "idle");
    await proveHealthy();
  });
}

test("the commit that accepts an answer fails: 503, and the pause is unchanged (agent-write-failure.3)", async () => {
  const { thread, question } = await bench.pause("ask");
  bench.arm({ point: "before commit: accept answer", action: "throw", times: 3 });
  for (let attempt = 0; attempt < 3; attempt++) {
    const refused = await bench.resume(thread, "ask", `answer ${attempt}`);
    assert.equal(refused.status, 503, refused.text);
  }
  assert.deepEqual((await bench.questions(thread)).map(identity), [identity(question)]);
  assert.deepEqual((await bench.resume(thread, "ask", "yes")).body, { log: ["prepared", "yes", "recorded"] });
  assert.equal(bench.effectsOf(thread, "answered").length, 1);
  await proveHealthy();
});

for (const point of ["pause", "end"]) {
  test(`the commit of the ${point} fails: the caller hears of it, the run is an error, the thread can be used (agent-write-failure.3)`, async () => {
    const graph = point === "pause" ? "ask" : "steps";
    const thread = await bench.newThread();
    bench.arm({ point: "before commit: finish", action: "throw", thread, times: 2 });
    const answer = await bench.call("POST", `/threads/${thread}/runs/wait`, { assistant_id: graph, input: {} });
    assert.ok(isFailure(answer), answer.text);
    assert.equal(await bench.settled(thread), "error");
    assert.deepEqual(await bench.questions(thread), [], "what could not be stored is not shown");
    await bench.post(`/threads/${thread}/runs/wait`, { assistant_id: graph, input: {} });
    await proveHealthy();
  });
}

test("nothing can be written for a while: calls get 503, the run in progress ends, and all heals by itself (agent-write-failure.1–4)", async () => {
  const { thread: paused, question } = await bench.pause("ask");
  const [held, more] = [await bench.newThread(), await bench.newThread()];
  bench.hold(held, "two");
  const waiting = bench.call("POST", `/threads/${held}/runs/wait`, { ...STEPS, durability: "sync" });
  await bench.sees(held, "two starts");
  bench.arm({ point: "before commit: any", action: "throw", times: FOR_EVER });
  for (const [path, body] of [
    [`/threads/${more}/runs/wait`, STEPS],
    [`/threads/${more}/runs`, STEPS],
    [`/threads/${paused}/runs/wait`, resumeBody("ask", "lost")],
    ["/threads", {}],
  ] as const) {
    const answer = await bench.call("POST", path, body);
    assert.equal(answer.status, 503, `${path}: ${answer.text}`);
  }
  assert.equal((await bench.call("GET", "/ok")).status, 200);
  bench.release(held, "two");
  const answer = await within("the waiting call is answered", waiting);
  assert.ok(isFailure(answer), answer.text);
  bench.disarm();
  assert.equal(await bench.settled(held), "error"); // agent-write-failure.4
  await proveHealthy();
  assert.equal(bench.effectsOf(held, "three starts").length, 0);
  assert.deepEqual((await bench.questions(paused)).map(identity), [identity(question)]);
  assert.equal((await bench.resume(paused, "ask", "kept")).status, 200);
  assert.deepEqual((await bench.post(`/threads/${held}/runs/wait`, STEPS)).status, 200);
});

test(
  "the disk is full, and then it is not (agent-write-failure.1, agent-write-failure.4)",
  { skip: !FULL && "long form only" },
  async (t) => {
    const folder = temporaryFolder();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", folder]);
    } catch (error) {
      rmSync(folder, { recursive: true });
      return t.skip(`no small file system could be mounted: ${String(error)}`);
    }
    const small = new Bench({}, join(folder, "data"));
    try {
      mkdirSync(join(folder, "data"));
      writeFileSync(join(folder, "filler"), Buffer.alloc(1_000_000));
      await small.start();
      const { thread: paused, question } = await small.pause("ask");
      let [accepted, failed] = [0, 0];
      while (failed < 20) {
        const answer = await small.call("POST", "/threads", { metadata: { ballast: "x".repeat(20_000) } });
        assert.ok(answer.status === 200 || answer.status === 503, answer.text);
        if (answer.status === 503) failed++;
        else accepted++;
        const [, read] = await Promise.all([
          small.call("POST", "/threads", { metadata: { ballast: "x".repeat(20_000) } }),
          small.call("GET", `/threads/${paused}`),
        ]);
        assert.equal(read.status, 200, "reads go on, beside writes that fail too");
        assert.ok(accepted < 1000, "the disk is full at some time");
      }
      const refused = await small.resume(paused, "ask", "no room");
      assert.ok(isFailure(refused) || refused.status === 200, refused.text);
      assert.equal((await small.call("GET", "/ok")).status, 200);
      rmSync(join(folder, "filler"));
      await until(
        "the storage can be written again",
        async () => (await small.call("POST", "/threads", {})).status === 200,
      );
      if (refused.status === 503) {
        assert.deepEqual((await small.questions(paused)).map(identity), [identity(question)]);
        assert.equal((await small.resume(paused, "ask", "room")).status, 200);
      }
      assert.notEqual(await small.settled(paused), "busy");
      await small.killAndRestart();
      const { text } = await small.call("POST", "/threads/count", {});
      assert.ok(Number(text) > accepted, `${text} threads, ${accepted} acknowledged and one paused`);
      console.log(`disk full: ${accepted} threads accepted, ${failed} refused, healed, ${text} there after kill -9`);
    } finally {
      await small.end();
      execFileSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true });
    }
  },
);

/** Which syncs fail, counted from the end of the start: in the long form each of the first 20. */
const FAILING_SYNCS = FULL ? Array.from({ length: 20 }, (_, at) => at + 1) : [3];
const NO_STRACE = straceRuns() ? false : "strace does not run here: the commits that throw above stand in for it";

function straceRuns(): boolean {
  try {
    execFileSync("strace", ["-f", "-o", "/dev/null", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("a failed sync acknowledges no call (agent-write-failure.3)", { skip: NO_STRACE }, async () => {
  const counting = await syncsUnder([], async () => undefined);
  const atStart = counting.good;
  let [acknowledged, refused] = [0, 0];
  for (const sync of FAILING_SYNCS) {
    const inject = ["-e", `inject=fsync,fdatasync:error=EIO:when=${atStart + sync}+`];
    const { good, bad } = await syncsUnder(inject, async (server) => {
      for (let at = 0; at < sync + 3; at++) {
        const answer = await server.attempt("POST", "/threads", {});
        if (answer?.status === 200) acknowledged++;
        else refused++;
        if (answer !== null && answer.status !== 200) assert.equal(answer.status, 503, answer.text);
        if (answer?.status === 200) assert.ok(at < sync, "a sync failed before this call, and all do since");
      }
    });
    assert.ok(bad > 0, "a sync failed");
    assert.ok(good >= atStart, "syncs of the start worked");
  }
  console.log(
    `failed syncs: ${FAILING_SYNCS.length} servers, ${acknowledged} acknowledged before, ${refused} refused after`,
  );
  assert.ok(refused >= FAILING_SYNCS.length * 3);
});

/** Runs `work` on a server under strace. @returns how many of its syncs worked and failed. */
async function syncsUnder(
  inject: readonly string[],
  work: (server: Bench) => Promise<void>,
): Promise<{ readonly good: number; readonly bad: number }> {
  const traced = new Bench();
  const trace = join(traced.folder, "strace.txt");
  const options = ["-D", "-f", "--seccomp-bpf", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync", ...inject];
  try {
    await traced.start({}, { under: ["strace", ...options] });
    await work(traced);
    await traced.server.kill();
    await quiet(trace);
    const lines = readFileSync(trace, "utf8")
      .split("\n")
      .filter((line) => /sync\(|sync resumed/.test(line));
    return {
      good: lines.filter((line) => line.endsWith("= 0")).length,
      bad: lines.filter((line) => line.includes("(INJECTED)")).length,
    };
  } finally {
    await traced.end();
  }
}

/** strace still writes for a moment after the end of the process. */
async function quiet(path: string): Promise<void> {
  let size = -1;
  await until("strace has written all", async () => {
    const before = size;
    size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    await pause(20);
    return size === before;
  });
}

test(`a commit that fails now and then loses nothing that was acknowledged (agent-write-failure.3)`, async () => {
  const threads = FULL ? 200 : 40;
  const all: { readonly thread: string; accepted: unknown }[] = [];
  for (let at = 0; at < threads; at++) all.push({ thread: (await bench.pause("ask")).thread, accepted: null });
  bench.arm({ point: "before commit: any", action: "throw", nth: 3, times: 3 });
  let refused = 0;
  await each(all, 8, async (one) => {
    for (let attempt = 0; one.accepted === null; attempt++) {
      const answer = await bench.resume(one.thread, "ask", attempt);
      if (answer.status === 503) refused++;
      else if (answer.status === 200 && errorOf(answer) === undefined) one.accepted = attempt;
      else return; // the run that had the answer ended in the failure
    }
  });
  bench.disarm();
  let done = 0;
  for (const { thread, accepted } of all) {
    const status = await bench.settled(thread);
    if (accepted === null) {
      assert.match(status, /^(error|idle)$/);
      continue;
    }
    done++;
    assert.deepEqual(await bench.values(thread), { log: ["prepared", accepted, "recorded"] });
    assert.deepEqual(bench.effectsOf(thread, "record").length, 1);
  }
  console.log(`failing commits: ${done} of ${threads} answered, ${refused} refused with 503`);
  assert.ok(done >= threads / 4 && bench.server.logs.some(({ event }) => event === "commit_failed"));
  await proveHealthy();
});
