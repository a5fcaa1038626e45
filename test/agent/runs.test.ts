// Tests of ways to start and end runs, with the official client over real sockets.
// Rules:
//   agent/runs.1. A stateless run leaves nothing behind; "keep" keeps its thread, a pause keeps it until the run ends.
//   agent/runs.2. The server accepts or rejects a batch as a whole.
//   agent/runs.3. A delayed run blocks no other run before it is due; it survives restarts, and accepts a cancellation.
//   agent/runs.4. One call cancels many runs: the named ones, or all of a status.
//   agent/runs.5. A cancellation takes its options from the query, and where it has none, from the body.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { countRows } from "../harness/rows.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import {
  newNotes,
  newThread,
  onlyQuestion,
  openThread,
  readProblem,
  type Result,
  type TestThread,
  type WireRun,
} from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const MUCH_LATER_SECS = 3600;
const NO_ID = "11111111-1111-4111-8111-111111111111";

const server = await startServerHere();
const folder = temporaryFolder();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

type Started = WireRun & { readonly thread_id: string; readonly kwargs: Readonly<Record<string, unknown>> };

async function isGone(threadId: string): Promise<true | undefined> {
  const { status } = await call(server, "GET", `/threads/${threadId}`);
  return status === 404 ? true : undefined;
}

/** Id of the run's own thread, from the address that the reply names. */
async function readThreadId(runPath: string): Promise<string> {
  const { body } = await call(server, "GET", runPath);
  return (body as Started).thread_id;
}

suite("stateless runs (agent/runs.1)", PATIENCE, () => {
  test("wait returns the result, and the thread disappears with the run", async () => {
    let runId = "";
    const onRunCreated = (run: { readonly run_id: string; readonly thread_id?: string }): void => {
      runId = run.run_id;
      assert.equal(run.thread_id, undefined, "the client learns of a run without a thread");
    };
    const result = await client.runs.wait(null, "steps", { input: {}, metadata: { of: "wait" }, onRunCreated });
    assert.deepEqual(result, { visited: ["node_a", "node_b", "node_c"] });
    assert.equal((await call(server, "GET", `/runs/${runId}`)).status, 404);
    assert.deepEqual(await client.threads.search({ metadata: { of: "wait" } }), []);
  });

  test("a stream has the whole run, and the thread goes with it", async () => {
    let runId = "";
    const onRunCreated = (run: { readonly run_id: string }): void => void (runId = run.run_id);
    const events = [];
    const stream = client.runs.stream(null, "steps", { input: {}, streamMode: ["values", "updates"], onRunCreated });
    for await (const { event } of stream) events.push(event);
    assert.deepEqual(events, ["metadata", ...["a", "b", "c"].flatMap(() => ["updates", "values"])]);
    assert.equal((await call(server, "GET", `/runs/${runId}`)).status, 404);
  });

  test("a run in the background can be joined while it runs, by its id alone", async () => {
    const gate = join(folder, "gate-of-the-joined");
    const started = await call(server, "POST", "/runs", { assistant_id: "slow", input: { waitMs: 0, gate } });
    const run: Started = started.body;
    assert.equal(started.headers.get("content-location"), `/runs/${run.run_id}`);
    assert.equal(started.headers.get("location"), `/runs/${run.run_id}/join`);
    const joined = await fetch(`${server.url}/runs/${run.run_id}/join`); // its headers come while it waits
    writeFileSync(gate, "");
    assert.equal(((await joined.json()) as Result)["result"], "whole");
    assert.equal((await call(server, "GET", `/threads/${run.thread_id}`)).status, 404);
    assert.equal(await countRows(server, run.thread_id), 0, "nothing is left in any table");
  });

  const ENDS = [
    { name: "fails", graph: "failing", input: {}, error: "NodeFault" },
    { name: "cannot be stored", graph: "unserialisable", input: {}, error: "state_not_serialisable" },
  ] as const;
  for (const { name, graph, input, error } of ENDS) {
    test(`a run that ${name} returns the error, and its thread disappears too`, async () => {
      const started: Started = (await call(server, "POST", "/runs", { assistant_id: graph, input })).body;
      const joined = await call(server, "GET", `/runs/${started.run_id}/join`);
      if (joined.status === 200) assert.equal((joined.body as Result).__error__?.error, error);
      else assert.equal(readProblem(joined).code, "run_not_found", "it had ended already");
      assert.equal(await countRows(server, started.thread_id), 0);
      const waited = await call(server, "POST", "/runs/wait", { assistant_id: graph, input });
      assert.equal((waited.body as Result).__error__?.error, error);
    });
  }

  test("a cancelled run takes its thread along, whether it ran or waited", async () => {
    for (const extra of [{}, { after_seconds: MUCH_LATER_SECS }]) {
      const body = { assistant_id: "hanging", input: {}, ...extra };
      const run: Started = (await call(server, "POST", "/runs", body)).body;
      await client.runs.cancel(run.thread_id, run.run_id, true);
      assert.equal(await isGone(run.thread_id), true);
      assert.equal(await countRows(server, run.thread_id), 0);
    }
  });

  for (const on_completion of ["keep", "continue"]) {
    test(`on_completion "${on_completion}" keeps the thread and its result`, async () => {
      const body = { assistant_id: "steps", input: {}, on_completion };
      const waited = await call(server, "POST", "/runs/wait", body);
      const thread = await client.threads.get(await readThreadId(waited.headers.get("content-location") ?? ""));
      assert.equal(thread.status, "idle");
      assert.deepEqual(thread.values, { visited: ["node_a", "node_b", "node_c"] });
    });
  }

  test("a run that pauses keeps its thread until it is answered, and then the thread goes", async () => {
    const paused = await call(server, "POST", "/runs/wait", {
      assistant_id: "echo",
      input: {},
      metadata: { of: "pause" },
    });
    const question = onlyQuestion(paused.body);
    const thread = openThread(server, "echo", await readThreadId(paused.headers.get("content-location") ?? ""));
    assert.equal((await thread.get()).status, "interrupted");
    assert.equal((await thread.get()).metadata["of"], "pause", "it can be found by what the call said");
    const end = await thread.resume({ [question.id]: "yes" });
    assert.equal(end.__interrupt__, undefined);
    assert.equal(await countRows(server, thread.threadId), 0);
  });

  test("ending a paused stateless run deletes its thread", async () => {
    const paused = await call(server, "POST", "/runs/wait", { assistant_id: "echo", input: {} });
    const threadId = await readThreadId(paused.headers.get("content-location") ?? "");
    await client.threads.updateState(threadId, { values: null, asNode: "__end__" });
    assert.equal(await countRows(server, threadId), 0);
  });

  test("a repeated call with its Idempotency-Key gets the same run and its result", async () => {
    const notes = newNotes(folder);
    const body = { assistant_id: "slow", input: { waitMs: 1, notes: notes.notes } };
    const [first, second] = [
      await call(server, "POST", "/runs/wait", body, { "Idempotency-Key": "stateless" }),
      await call(server, "POST", "/runs/wait", body, { "Idempotency-Key": "stateless" }),
    ];
    assert.equal(first.headers.get("content-location"), second.headers.get("content-location"));
    assert.deepEqual(first.body, second.body);
    assert.equal(notes.count("first"), 1);
  });

  test("there is nothing to answer or to continue on a new thread", async () => {
    for (const [body, code] of [
      [{ command: { resume: 1 } }, "no_pending_interrupt"],
      [{}, "nothing_to_continue"],
    ] as const) {
      const answer = await call(server, "POST", "/runs/wait", { assistant_id: "echo", ...body });
      assert.equal(readProblem(answer).code, code);
    }
  });
});

suite("batches (agent/runs.2)", PATIENCE, () => {
  test("the client gets the runs in the order of its request", async () => {
    const payloads = ["a", "b", "c"].map((value) => ({
      assistantId: "keeper",
      input: { value },
      metadata: { of: value },
      onCompletion: "continue" as const,
      multitaskStrategy: "reject" as const,
    }));
    const runs = (await client.runs.createBatch(payloads)) as unknown as readonly Started[];
    assert.deepEqual(
      runs.map(({ kwargs }) => kwargs["input"]),
      payloads.map(({ input }) => input),
    );
    const values: Result[] = [];
    for (const run of runs) values.push((await client.runs.join(run.thread_id, run.run_id)) as Result);
    assert.deepEqual(
      values.map(({ value }) => value),
      ["a", "b", "c"],
    );
    const found = await client.threads.search({ metadata: { of: "b" } });
    assert.deepEqual(
      found.map(({ thread_id }) => thread_id),
      [runs[1]?.thread_id],
      "names as the client has them were read",
    );
  });

  test("one bad run refuses them all, and the error names it", async () => {
    const before = await client.threads.count();
    const body = [
      { assistant_id: "steps", input: {} },
      { assistant_id: "nobody", input: {} },
    ];
    const refused = await call(server, "POST", "/runs/batch", body);
    assert.deepEqual([refused.status, readProblem(refused).code], [404, "assistant_not_found"]);
    assert.equal((refused.body as { readonly index: number }).index, 1);
    assert.equal(await client.threads.count(), before);
    assert.equal((await call(server, "POST", "/runs/batch", [])).status, 422);
    const shape = await call(server, "POST", "/runs/batch", [{ assistant_id: "steps", multitaskStrategy: "both" }]);
    assert.match(readProblem(shape).detail, /multitask_strategy/);
  });

  test("a batch may name a thread, and its runs follow their strategies", async () => {
    const thread = await newThread(server, "steps");
    const one = (multitask_strategy: string) => ({
      assistant_id: "steps",
      input: {},
      thread_id: thread.threadId,
      multitask_strategy,
    });
    const refused = await call(server, "POST", "/runs/batch", [one("reject"), one("reject")]);
    assert.equal(readProblem(refused).code, "thread_busy");
    assert.deepEqual(await thread.runs(), []);
    const [first, second]: readonly [WireRun, WireRun] = (
      await call(server, "POST", "/runs/batch", [one("enqueue"), one("enqueue")])
    ).body;
    await thread.join(second);
    assert.equal((await thread.join(first)).__error__, undefined);
    const { values } = await thread.get();
    assert.equal((values?.["visited"] as readonly string[] | undefined)?.length, 6);
  });
});

const readRunStatus = async (thread: TestThread, run: WireRun): Promise<string | undefined> =>
  (await thread.runs()).find(({ run_id }) => run_id === run.run_id)?.status;

suite("delayed runs (agent/runs.3)", PATIENCE, () => {
  test("a delayed run waits, runs when due, and shows its request", async () => {
    const thread = await newThread(server, "steps");
    const before = Date.now();
    const run = await thread.begin({ input: {}, after_seconds: 0.2 });
    assert.equal(run.status, "pending");
    assert.equal((await thread.get()).status, "idle", "the thread does not wait for it");
    assert.deepEqual(await thread.join(run), { visited: ["node_a", "node_b", "node_c"] });
    assert.ok(Date.now() - before >= 200, "not before its time");
    assert.equal((run as Started).kwargs["after_seconds"], 0.2);
  });

  test("other runs of the thread go ahead of it", async () => {
    const thread = await newThread(server, "steps");
    const later = await thread.begin({ input: {}, after_seconds: MUCH_LATER_SECS });
    await thread.run({ input: {}, multitask_strategy: "reject" });
    assert.equal(await readRunStatus(thread, later), "pending");
    assert.equal((await thread.get()).status, "idle");
    await call(server, "DELETE", thread.path);
  });

  test("the earliest due time goes first, in any order of requests", async () => {
    const thread = await newThread(server, "steps");
    const last = await thread.begin({ input: {}, after_seconds: MUCH_LATER_SECS });
    const first = await thread.begin({ input: {}, after_seconds: 0.01 });
    await thread.join(first);
    assert.equal(await readRunStatus(thread, last), "pending");
  });

  test("a due run waits for a busy thread and for a pause", async () => {
    const thread = await newThread(server, "echo");
    const question = onlyQuestion(await thread.run({ input: {} }));
    const due = await thread.begin({ input: {}, after_seconds: 0.001 });
    const other = await newThread(server, "steps");
    await other.join(await other.begin({ input: {}, after_seconds: 0.01 })); // a later one has run: so was this one due
    assert.equal(await readRunStatus(thread, due), "pending");
    await thread.resume({ [question.id]: "yes" });
    onlyQuestion(await thread.join(due));
  });

  for (const strategy of ["interrupt", "rollback"] as const) {
    test(`a later call with ${strategy} puts an earlier delayed one off`, async () => {
      const thread = await newThread(server, "steps");
      const first = await thread.begin({ input: {}, after_seconds: MUCH_LATER_SECS, multitask_strategy: strategy });
      const waiting = thread.join(first);
      const second = await thread.begin({ input: {}, after_seconds: 0.01, multitask_strategy: strategy });
      assert.equal((await waiting).__error__?.error, strategy === "interrupt" ? "Cancelled" : "RolledBack");
      assert.equal((await thread.join(second)).__error__, undefined);
    });
  }

  test("it can be cancelled, and its thread stays as it is", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: {} });
    const before = await thread.state();
    const run = await thread.begin({ input: {}, after_seconds: MUCH_LATER_SECS });
    const waiting = thread.join(run);
    await client.runs.cancel(thread.threadId, run.run_id);
    assert.equal((await waiting).__error__?.error, "Cancelled");
    assert.deepEqual(await thread.state(), before);
    assert.equal((await thread.get()).status, "idle");
  });

  test("an answer and going on after a pause cannot be delayed", async () => {
    const thread = await newThread(server, "echo");
    await thread.run({ input: {} });
    const before = await thread.picture();
    for (const body of [{ command: { resume: 1 } }, { input: null }]) {
      const refused = await thread.wait({ ...body, after_seconds: 1 });
      assert.equal(readProblem(refused).code, "answer_delayed");
    }
    assert.deepEqual(await thread.picture(), before);
    for (const after_seconds of [-1, "1", 1e9]) {
      assert.equal((await thread.wait({ input: {}, after_seconds })).status, 422);
    }
  });

  test("delayed runs survive a restart: overdue ones run at once", async (t) => {
    const one = await startServerHere();
    const [thread, stateless] = [
      await newThread(one, "steps"),
      await call(one, "POST", "/runs", {
        assistant_id: "steps",
        input: {},
        after_seconds: 0.3,
        on_completion: "keep",
      }),
    ];
    const [due, later] = [
      await thread.begin({ input: {}, after_seconds: 0.3 }),
      await thread.begin({ input: {}, after_seconds: MUCH_LATER_SECS }),
    ];
    await one.stop();
    const two = await startServerHere({ dataDir: one.dataDir });
    t.after(async () => {
      await two.stop();
      removeFolder(two.dataDir);
    });
    const again = openThread(two, "steps", thread.threadId);
    assert.deepEqual(await again.join(due), { visited: ["node_a", "node_b", "node_c"] });
    const own: Started = stateless.body;
    assert.equal(((await call(two, "GET", `/runs/${own.run_id}/join`)).body as Result).__error__, undefined);
    assert.equal(await readRunStatus(again, later), "pending");
  });
});

suite("options of a cancellation (agent/runs.5)", PATIENCE, () => {
  const cancelled = async (query: string, body: object): Promise<readonly unknown[]> => {
    const thread = await newThread(server, "hanging");
    const path = `${thread.path}/runs/${(await thread.begin({ input: {} })).run_id}`;
    const { status } = await call(server, "POST", `${path}/cancel${query}`, body);
    const run = (await call(server, "GET", path)).body as { readonly status: string; readonly cancel_reason: string };
    if (status === 422) await call(server, "DELETE", thread.path);
    return status === 422 ? [status] : [status, run.status, run.cancel_reason.split(":")[0]];
  };

  const CASES: readonly (readonly [query: string, body: object, replies: readonly unknown[]])[] = [
    ["", { wait: true, reason: "taken" }, [204, "interrupted", "taken"]],
    ["?wait=1", { action: "rollback" }, [204, "error", "requested"]],
    ["?wait=1&action=interrupt", { action: "rollback" }, [204, "interrupted", "requested"]],
    ["", { action: "rollback", reason: "taken" }, [422]],
    ["?reason=taken&action=rollback", {}, [422]],
    ["", { reason: "other" }, [422]],
  ];
  for (const [query, body, replies] of CASES)
    test(`cancel${query} ${JSON.stringify(body)}`, async () => assert.deepEqual(await cancelled(query, body), replies));

  test("of many", async () => {
    const thread = await newThread(server, "hanging");
    const { run_id } = await thread.begin({ input: {}, after_seconds: MUCH_LATER_SECS });
    const body = { thread_id: thread.threadId, run_ids: [run_id], action: "rollback" };
    assert.equal((await call(server, "POST", "/runs/cancel", body)).status, 204);
    assert.equal((await client.runs.get(thread.threadId, run_id)).status, "error");
  });
});

suite("cancelling many (agent/runs.4)", PATIENCE, () => {
  const begin = async (extra: object = {}): Promise<readonly [TestThread, WireRun]> => {
    const thread = await newThread(server, "hanging");
    return [thread, await thread.begin({ input: {}, ...extra })];
  };
  const ended = async (thread: TestThread, run: WireRun): Promise<string | undefined> => {
    await call(server, "GET", `${thread.path}/runs/${run.run_id}/join`);
    return readRunStatus(thread, run);
  };

  test("the named runs of a thread, and no others", async () => {
    const [thread, running] = await begin();
    const [second, third] = [await thread.begin({ input: {} }), await thread.begin({ input: { calm: true } })];
    await client.runs.cancelMany({ threadId: thread.threadId, runIds: [running.run_id, second.run_id] });
    assert.equal(await ended(thread, running), "interrupted");
    assert.equal(await readRunStatus(thread, second), "interrupted");
    assert.equal((await thread.join(third))["result"], "calm");
  });

  test("an unknown run among the named ones cancels none", async () => {
    const [thread, running] = await begin();
    const body = { thread_id: thread.threadId, run_ids: [running.run_id, NO_ID] };
    assert.equal(readProblem(await call(server, "POST", "/runs/cancel", body)).code, "run_not_found");
    assert.equal(await readRunStatus(thread, running), "running");
    const missing = { thread_id: NO_ID, run_ids: [running.run_id] };
    assert.equal(readProblem(await call(server, "POST", "/runs/cancel", missing)).code, "thread_not_found");
    for (const wrong of [{}, { run_ids: [running.run_id] }, { ...body, status: "all" }]) {
      assert.equal((await call(server, "POST", "/runs/cancel", wrong)).status, 422, JSON.stringify(wrong));
    }
    await call(server, "DELETE", thread.path);
  });

  test("all pending ones of a thread; then all of every thread, with rollback", async () => {
    const [thread, running] = await begin();
    const waits = await thread.begin({ input: {} });
    const delayed = await thread.begin({ input: {}, after_seconds: MUCH_LATER_SECS });
    await client.runs.cancelMany({ threadId: thread.threadId, status: "pending" });
    assert.equal(await readRunStatus(thread, waits), "interrupted");
    assert.equal(await readRunStatus(thread, delayed), "interrupted");
    assert.equal(await readRunStatus(thread, running), "running");
    const [other, run] = await begin();
    const last = await other.begin({ input: {}, after_seconds: MUCH_LATER_SECS });
    await client.runs.cancelMany({ status: "all", action: "rollback" });
    assert.equal(await ended(thread, running), "error");
    assert.equal(await ended(other, run), "error");
    assert.equal(await readRunStatus(other, last), "error");
    assert.deepEqual(await other.history(), [], "rollback took back what it wrote");
  });
});

test("lists of runs: filtered by status, in pages, with the selected members", PATIENCE, async () => {
  const thread = await newThread(server, "steps");
  const ids = [];
  for (let count = 0; count < 3; count++) ids.unshift((await thread.begin({ input: {} })).run_id);
  await thread.reaches("idle");
  const waits = await thread.begin({ input: {}, after_seconds: MUCH_LATER_SECS });
  const list = async (options: object) =>
    (await client.runs.list(thread.threadId, options)).map(({ run_id }) => run_id);
  assert.deepEqual(await list({ status: "success" }), ids);
  assert.deepEqual(await list({ status: "pending" }), [waits.run_id]);
  assert.deepEqual(await list({ limit: 2, offset: 1 }), ids.slice(0, 2));
  const some = await client.runs.list(thread.threadId, { limit: 1, select: ["run_id", "status"] });
  assert.deepEqual(some, [{ run_id: waits.run_id, status: "pending" }]);
  await call(server, "DELETE", thread.path);
});
