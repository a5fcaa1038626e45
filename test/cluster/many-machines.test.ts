// Tests of many servers on one database as one. They share the process of the test, but nothing else: kills are in
// test/faults/machines-*.test.ts.
//   many-machines.1. Waiting calls and streams work whichever process has the run; Last-Event-ID resumes at any of
//        them.
//   many-machines.2. A cancellation reaches a run on another machine at once.
//   many-machines.3. Another process can read a stateless run to its end, which deletes the thread.
//   many-machines.4. A process has only its role: an API process has no runs, a worker serves no calls.
//   many-machines.5. Callers share the queue fairly, runs that resume a pause come first, and a full queue is 503.
//   many-machines.6. A stopping API process accepts no runs, and waits for its callers' runs as long as a worker does
//        for its own; then it returns their join URLs.
//   many-machines.7. It waits for no person and no date: callers of a run behind a pause, or of a delayed one, get its
//        join URL while it stops.
//   many-machines.8. A run that is cancelled between two attempts gives back no answer that the first one used.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { questionsIn, resumeBody, until, within } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { call } from "../harness/server.ts";
import type { ServerHere } from "../harness/server-here.ts";

const fleet = new Fleet();
const { bench } = fleet;
let [api, other, worker] = [] as unknown as [ServerHere, ServerHere, ServerHere];
before(async () => {
  [api, worker] = await Promise.all([fleet.startHere("api"), fleet.startHere("worker")]);
  other = await fleet.startHere("api");
  fleet.use(api);
});
after(() => fleet.end());

test("a run is paused, answered and ended by a worker, its callers wait at an API process (many-machines.1)", async () => {
  const { thread, question } = await bench.pause("ask");
  assert.deepEqual(question.value, { please: thread });
  const answered = await bench.resume(thread, "ask", "yes");
  assert.deepEqual(answered.body, { log: ["prepared", "yes", "recorded"] });
  assert.equal(bench.listEffects(thread, "answered").length, 1);
});

test("a call joins a run that another process has, while it runs and after it (many-machines.1)", async () => {
  const { thread } = await bench.pause("ask");
  bench.hold(thread, "ask");
  const run = (await bench.post(`/threads/${thread}/runs`, resumeBody("ask", 1))).body as { readonly run_id: string };
  await bench.sees(thread, "answered");
  const path = `/threads/${thread}/runs/${run.run_id}/join`;
  const joins = [call(api, "GET", path), call(other, "GET", path)];
  bench.release(thread, "ask");
  const late = Promise.all(joins).then(() => call(other, "GET", path));
  for (const { body } of [...(await within("the joins end", Promise.all(joins))), await late]) {
    assert.deepEqual(body, { log: ["prepared", 1, "recorded"] });
  }
});

test("a stream follows a run of another process live, and continues at a third one (many-machines.1)", async () => {
  const thread = await bench.newThread();
  bench.hold(thread, "two");
  const body = { assistant_id: "steps", input: {}, stream_mode: ["updates"], stream_resumable: true };
  const response = await fetch(`${api.url}/threads/${thread}/runs/stream`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader !== undefined);
  let text = "";
  while (!text.includes('"one"')) text += (await within("an event", reader.read())).value ?? assert.fail(text);
  await reader.cancel();
  const seen = [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? "";
  const runPath = response.headers.get("content-location") ?? "";
  const rest = call(other, "GET", `${runPath}/stream`, undefined, { "last-event-id": seen });
  bench.release(thread, "two");
  const { text: after } = await within("the stream ends", rest);
  assert.deepEqual(
    [...after.matchAll(/^data: \{"(one|two|three)"/gm)].map(([, name]) => name),
    ["two", "three"],
  );
});

test("a cancellation at one process ends a run in another at once (many-machines.2)", async () => {
  const thread = await bench.newThread();
  bench.hold(thread, "two");
  const run = (await bench.post(`/threads/${thread}/runs`, { assistant_id: "steps", input: {} })).body as {
    readonly run_id: string;
  };
  await bench.sees(thread, "two starts");
  const cancelled = call(other, "POST", `/threads/${thread}/runs/${run.run_id}/cancel?wait=1`);
  assert.equal((await within("the cancellation", cancelled)).status, 204);
  assert.equal((await bench.runs(thread))[0]?.status, "interrupted");
  assert.equal(await bench.status(thread), "idle");
  bench.release(thread, "two");
});

test("a stateless run ends elsewhere, is read to its end, and its thread is to go (many-machines.3)", async () => {
  const { status, body } = await bench.call("POST", "/runs/wait", { assistant_id: "steps", input: {} });
  assert.equal(status, 200);
  assert.deepEqual(body, { log: ["one", "two", "three"] });
  const streamed = await bench.call("POST", "/runs/stream", { assistant_id: "steps", input: {} });
  assert.match(streamed.text, /"three"/);
  const paused = await bench.call("POST", "/runs/wait", { assistant_id: "ask", input: {} });
  assert.equal(questionsIn(paused.body).length, 1);
});

test("runs of one thread go one after the other, in their order, and a delayed one when it is due (many-machines.1)", async () => {
  const thread = await bench.newThread();
  const body = { assistant_id: "steps", input: {} };
  const late = bench.post(`/threads/${thread}/runs/wait`, { ...body, after_seconds: 1 });
  await Promise.all(Array.from({ length: 5 }, () => bench.post(`/threads/${thread}/runs/wait`, body)));
  await late;
  const starts = bench.effects(thread).map(({ node }) => node);
  const one = ["one", "two", "three"].flatMap((name) => [`${name} starts`, `${name} ends`]);
  assert.deepEqual(starts, Array.from({ length: 6 }, () => one).flat());
});

test("an API process has no runs and a worker serves no calls, but both report their health (many-machines.4)", async () => {
  assert.equal((await call(worker, "GET", "/ok")).status, 200);
  assert.equal((await call(worker, "POST", "/threads", {})).status, 404);
  const slots = async (server: ServerHere): Promise<string | undefined> =>
    /^agent_workers_max (\d+)/m.exec((await call(server, "GET", "/metrics")).text)?.[1];
  assert.deepEqual([await slots(api), await slots(worker)], ["0", "10"]);
  await until("nothing waits", async () => /^agent_runs_pending 0$/m.test((await call(api, "GET", "/metrics")).text));
});

test("waiting runs are shared fairly, those that resume a pause come first, and a full queue is 503 (many-machines.5)", async () => {
  const keys = { HOLDPOINT_API_KEYS: "many:key-of-many-1,few:key-of-few-12" };
  const own = new Fleet();
  try {
    const server = await own.startHere("all", { ...keys, N_JOBS_PER_WORKER: "1" }, { pendingRunsMax: 25 });
    const as = (name: "many" | "few") => ({ "x-api-key": name === "many" ? "key-of-many-1" : "key-of-few-12" });
    const ask = async (name: "many" | "few", path: string, body: object) => {
      const answer = await call(server, "POST", path, body, as(name));
      assert.equal(answer.status, 200, answer.text);
      return answer.body as { readonly thread_id: string; readonly run_id: string };
    };
    const { thread_id: paused } = await ask("many", "/threads", {});
    await ask("many", `/threads/${paused}/runs/wait`, { assistant_id: "ask", input: {} });
    const { thread_id: first } = await ask("many", "/threads", {});
    own.bench.hold(first, "two");
    await ask("many", `/threads/${first}/runs`, { assistant_id: "steps", input: {} });
    await own.bench.sees(first, "two starts"); // no slot is free
    const waiting = async (name: "many" | "few", count: number): Promise<string[]> => {
      const threads: string[] = [];
      while (threads.length < count) {
        const { thread_id: thread } = await ask(name, "/threads", {});
        await ask(name, `/threads/${thread}/runs`, { assistant_id: "steps", input: {} });
        threads.push(thread);
      }
      return threads;
    };
    const many = await waiting("many", 20);
    const few = await waiting("few", 4);
    await ask("many", `/threads/${paused}/runs`, resumeBody("ask", "yes"));
    const refused = await call(
      server,
      "POST",
      `/threads/${first}/runs`,
      { assistant_id: "steps", input: {} },
      as("few"),
    );
    assert.deepEqual([refused.status, (refused.body as { readonly code: string }).code], [503, "overloaded"]);
    assert.notEqual(refused.headers.get("retry-after"), null);
    own.bench.release(first, "two");
    const ended = () => own.bench.effects().filter(({ node }) => node === "three ends").length === 25;
    await own.bench.whenEffects("all have run", ended);
    const order = own.bench.effects().filter(({ node }) => node === "one starts" || node === "answered");
    const place = (thread: string): number => order.findIndex((effect) => effect.thread === thread);
    assert.equal(place(paused), 1, "right after the run that had the slot");
    for (const [at, thread] of few.entries()) assert.ok(place(thread) <= 2 * (at + 1) + 2, `place ${place(thread)}`);
    assert.ok(place(many.at(-1) ?? "") >= 20);
  } finally {
    await own.end();
  }
});

test("a stopping API process waits for its callers' runs, within the grace period (many-machines.6)", async () => {
  const hasty = await fleet.startHere("api", { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "1" });
  const wait = async (at: ServerHere) => {
    const thread = await bench.newThread();
    bench.hold(thread, "two");
    const answer = call(at, "POST", `/threads/${thread}/runs/wait`, { assistant_id: "steps", input: {} });
    await bench.sees(thread, "two starts");
    return { thread, answer };
  };
  const [long, short] = await Promise.all([wait(hasty), wait(other)]);
  const stopped = Promise.all([hasty.stop(), other.stop()]);
  const told = await within("the caller of the long run is told", long.answer);
  assert.equal(told.status, 200);
  assert.match(told.text, /ServerShutdown/);
  assert.equal((await call(other, "GET", "/ready")).status, 503);
  assert.equal((await call(other, "POST", "/runs", { assistant_id: "steps", input: {} })).status, 503);
  assert.equal((await call(other, "GET", "/live")).status, 200);
  for (const { thread } of [long, short]) bench.release(thread, "two");
  const whole = { log: ["one", "two", "three"] };
  assert.deepEqual((await within("the short run ends", short.answer)).body, whole);
  assert.deepEqual(await stopped, [0, 0]);
  assert.deepEqual((await bench.call("GET", told.headers.get("location") ?? "")).body, whole);
});

test("a stopping process waits for no run behind a pause, and for no delayed one (many-machines.7)", async () => {
  const patient = await fleet.startHere("api"); // for three minutes
  const { thread } = await bench.pause("ask");
  const wait = (on: string, more: object): Promise<Response> =>
    fetch(`${patient.url}/threads/${on}/runs/wait`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "ask", input: {}, ...more }),
    });
  const [answer, delayed] = await Promise.all([
    wait(thread, { on_paused: "enqueue" }),
    wait(await bench.newThread(), { after_seconds: 3600 }),
  ]);
  const stopped = patient.stop();
  for (const told of [answer, delayed]) assert.match(await within("the caller is told", told.text()), /ServerShutdown/);
  assert.equal(await within("it has stopped", stopped), 0);
  await bench.resume(thread, "ask", "yes");
  const { body } = await bench.call("GET", answer.headers.get("location") ?? "");
  assert.notEqual(questionsIn(body).length, 0);
});

test("a run cancelled between two attempts keeps the answer that the first one used (many-machines.8)", async () => {
  const own = new Fleet();
  try {
    const [alone, hasty] = await Promise.all([
      own.startHere("api"),
      own.startHere("worker", { BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "1" }),
    ]);
    own.use(alone);
    const { thread } = await own.bench.pause("ask");
    own.bench.hold(thread, "record");
    const post = (path: string, body: object) => call(alone, "POST", `/threads/${thread}${path}`, body);
    const { run_id: run } = (await post("/runs", resumeBody("ask", "yes"))).body as { readonly run_id: string };
    await own.bench.sees(thread, "record");
    assert.equal(await within("the worker stops", hasty.stop()), 0);
    assert.equal((await post(`/runs/${run}/cancel?wait=true`, {})).status, 204);
    const { status, interrupts } = (await own.bench.call("GET", `/threads/${thread}`)).body as Record<string, unknown>;
    assert.deepEqual([status, interrupts], ["idle", {}]);
    assert.equal((await post("/runs", resumeBody("ask", "no"))).status, 409);
  } finally {
    await own.end();
  }
});
