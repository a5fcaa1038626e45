// Tests of threads apart from their runs: pruning, times to live, initial states, search results. test/threads.1 has
// three parts: a rejected state creates no thread; a paused thread expires only if the settings say so, with a log
// line; a pruned thread continues from its state, also from the middle of a pause.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";
import { inboxPage, readItems, ok } from "../harness/inbox.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import {
  newThread,
  onlyQuestion,
  openThread,
  readProblem,
  listQuestions,
  followLog,
  until,
} from "../harness/threads.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});
const client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });

test("prune with delete takes threads away, and counts those that were there", async () => {
  const [one, two] = [await newThread(server, "echo"), await newThread(server, "echo")];
  await one.run({ input: {} });
  const gone = "01a1fd91-754a-70a5-a92f-655f81dad5d8";
  assert.deepEqual(await client.threads.prune([one.threadId, two.threadId, two.threadId, gone]), { pruned_count: 2 });
  assert.equal((await call(server, "GET", one.path)).status, 404);
  assert.deepEqual((await inboxPage(server, { thread_id: one.threadId })).items, []);
});

for (const graph of ["series", "deep", "nested_parallel"]) {
  test(`prune with keep_latest: ${graph} continues from the middle of its pause (test/threads.1)`, async () => {
    const finish = async (prune: boolean): Promise<unknown> => {
      const thread = await newThread(server, graph);
      let result = await thread.run({ input: {} });
      for (let round = 0; result.__interrupt__ !== undefined && round < 10; round++) {
        if (prune) {
          const before = await thread.get();
          const { pruned_count } = await client.threads.prune([thread.threadId], { strategy: "keep_latest" });
          assert.equal(pruned_count, 1);
          assert.deepEqual(await thread.get(), before);
          assert.equal((await thread.history()).length, 1);
        }
        const answers = listQuestions(result).map(({ id, value }) => [id, { to: value }]);
        result = await thread.run({ command: { resume: Object.fromEntries(answers) as object } });
      }
      return result;
    };
    assert.deepEqual(await finish(true), await finish(false));
  });
}

test("keep_latest leaves a busy thread alone", async () => {
  const thread = await newThread(server, "rules");
  const run = await thread.begin({ input: { mode: "busy" } });
  const pruned = await client.threads.prune([thread.threadId], { strategy: "keep_latest" });
  assert.deepEqual(pruned, { pruned_count: 0 });
  await call(server, "POST", `${thread.path}/runs/${run.run_id}/cancel?wait=1`);
});

test("a thread starts with supersteps, and continues from there", async () => {
  const thread = await client.threads.create({
    graphId: "series",
    supersteps: [
      { updates: [{ values: {}, asNode: "__input__" }] },
      { updates: [{ values: { answers: ["by hand"] }, asNode: "one" }] },
    ],
  });
  const { status, values } = thread as unknown as { readonly status: string; readonly values: object };
  assert.deepEqual([status, values], ["interrupted", { answers: ["by hand"] }]);
  const state = await client.threads.getState(thread.thread_id);
  assert.deepEqual(state.next, ["two"]);
  const [item] = await readItems(server, thread.thread_id);
  assert.deepEqual([item?.kind, item?.node], ["breakpoint", "two"]);
  const opened = openThread(server, "series", thread.thread_id);
  const question = onlyQuestion(await opened.run({ input: null }));
  assert.deepEqual(question.value, { step: "two" });
});

test("a superstep may be a command", async () => {
  const thread = await client.threads.create({
    graphId: "series",
    supersteps: [
      { updates: [{ values: {}, asNode: "__input__" }] },
      { updates: [{ values: null, command: { update: { answers: ["c"] }, goto: "four" }, asNode: "one" }] },
    ],
  });
  const { values, next } = await client.threads.getState(thread.thread_id);
  assert.deepEqual(values, { answers: ["c"] });
  assert.ok(next.includes("four"));
});

for (const [name, request, code] of [
  ["without a graph", { supersteps: [{ updates: [{ values: {} }] }] }, "thread_without_graph"],
  ["with an unknown graph", { metadata: { graph_id: "no" }, supersteps: [{ updates: [{}] }] }, "assistant_not_found"],
  [
    "with an unknown node",
    { metadata: { graph_id: "series" }, supersteps: [{ updates: [{ values: {}, as_node: "no" }] }] },
    "node_unknown",
  ],
  [
    "that the graph refuses in the second step",
    {
      metadata: { graph_id: "series" },
      supersteps: [{ updates: [{ values: {}, as_node: "__input__" }] }, { updates: [{ values: 7, as_node: "one" }] }],
    },
    "state_update_invalid",
  ],
  ["without updates", { metadata: { graph_id: "series" }, supersteps: [{ updates: [] }] }, "invalid_request"],
] as const) {
  test(`supersteps ${name} make no thread (test/threads.1)`, async () => {
    const threadId = crypto.randomUUID();
    const refused = await call(server, "POST", "/threads", { thread_id: threadId, ...request });
    assert.equal(readProblem(refused).code, code);
    assert.equal((await call(server, "GET", `/threads/${threadId}`)).status, 404);
  });
}

test("patchState changes the thread's metadata", async () => {
  const thread = await client.threads.create({ metadata: { a: 1 } });
  await client.threads.patchState(thread.thread_id, { b: 2 });
  assert.deepEqual((await client.threads.get(thread.thread_id)).metadata, { a: 1, b: 2 });
});

test("a search returns the selected fields and the values at the paths", async () => {
  const thread = await newThread(server, "echo", { metadata: { case: "extract" } });
  await thread.run({ input: { payload: "?" } });
  await thread.resume({ deep: [1, 2] });
  const [found] = await client.threads.search({
    metadata: { case: "extract" },
    select: ["thread_id", "status"],
    extract: { last: "values.answer[-1].deep[-1]", none: "values.nothing" },
  });
  assert.deepEqual(found, { thread_id: thread.threadId, status: "idle", extracted: { last: 2, none: null } });
  const wrong = await call(server, "POST", "/threads/search", { limit: 1, extract: { a: "[" } });
  assert.equal(readProblem(wrong).code, "invalid_request");
});

test("a thread shows the config of its newest run, and when its state last changed", async () => {
  const thread = await newThread(server, "echo");
  await thread.run({ input: {}, config: { configurable: { tenant: "t" }, recursion_limit: 9 } });
  const before = await client.threads.get(thread.threadId);
  assert.deepEqual(before.config, { configurable: { tenant: "t" }, recursion_limit: 9 });
  await client.threads.update(thread.threadId, { metadata: { touched: true } });
  const patched: { readonly updated_at: string; readonly state_updated_at: string } = await ok(
    call(server, "GET", thread.path),
  );
  assert.equal(patched.state_updated_at, before.state_updated_at);
  assert.ok(patched.updated_at >= before.updated_at);
});

test("the total of a page is bounded, the count is not", async () => {
  const metadata = { case: "many" };
  await Promise.all(Array.from({ length: 130 }, () => client.threads.create({ metadata })));
  const page = await call(server, "POST", "/threads/search", { metadata, limit: 10 });
  assert.deepEqual([page.headers.get("x-pagination-total"), page.headers.get("x-pagination-next")], ["100", "10"]);
  assert.equal(await client.threads.count({ metadata }), 130);
  const last = await call(server, "POST", "/threads/search", { metadata, limit: 10, offset: 120 });
  assert.deepEqual([last.headers.get("x-pagination-total"), last.headers.get("x-pagination-next")], ["130", null]);
});

test("metadata of a thread has a limit", async () => {
  const metadata = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`key ${at}`, at]));
  assert.equal((await call(server, "POST", "/threads", { metadata })).status, 422);
});

/** A server that sweeps all the time, over the test graphs. */
async function sweeping(
  ttl: object,
  env: Record<string, string> = {},
): Promise<ServerHere & { end: () => Promise<void> }> {
  const folder = mkdtempSync(join(temporaryFolder(), "config-"));
  const config = join(folder, "langgraph.json");
  const checkpointer = { ttl: { sweep_interval_minutes: 0.0005, ...ttl } };
  writeFileSync(
    config,
    JSON.stringify({ graphs: { echo: join(ROOT, "test/graphs/questions.ts:echo") }, checkpointer }),
  );
  const started = await startServerHere({ config, env });
  const end = async () => {
    await started.stop();
    removeFolder(started.dataDir);
    removeFolder(folder);
  };
  return { ...started, end };
}

const isGone = (from: ServerHere, path: string) => async () =>
  (await call(from, "GET", path)).status === 404 ? true : undefined;

test("threads expire by the deployment's default or their own; one that waits for a person does not (test/threads.1)", async () => {
  const from = await sweeping({ default_ttl: 0.0001 });
  const [plain, kept, asks] = [
    await newThread(from, "echo"),
    await newThread(from, "echo", { ttl: null }),
    await newThread(from, "echo", { ttl: { ttl: 60 } }),
  ];
  const own: { readonly ttl: { readonly ttl: number } } = await ok(call(from, "GET", `${asks.path}?include=ttl`));
  assert.equal(own.ttl.ttl, 60);
  const paused = await newThread(from, "echo", { ttl: 60 });
  await paused.run({ input: {} });
  await ok(call(from, "PATCH", paused.path, { ttl: 0.0001 }));
  await followLog(from, "the plain thread is gone", isGone(from, plain.path));
  const second = await newThread(from, "echo");
  await followLog(from, "and one that was made later", isGone(from, second.path));
  for (const thread of [kept, asks]) assert.equal((await thread.get()).status, "idle");
  assert.equal((await paused.get()).status, "interrupted");
  await from.end();
});

test("a paused thread expires if the configuration says so, with a log line (test/threads.1)", async () => {
  const from = await sweeping({ expire_paused: true });
  const paused = await newThread(from, "echo", { ttl: 60 });
  await paused.run({ input: {} });
  await ok(call(from, "PATCH", paused.path, { ttl: 0.0001 }));
  await followLog(from, "the paused thread is gone", isGone(from, paused.path));
  const logged = await from.whenLogged("it", (logs) => logs.find(({ event }) => event === "paused_threads_expired"));
  assert.deepEqual(logged["threads"], [paused.threadId]);
  await from.end();
});

test("with keep_latest a thread keeps its state and loses its history, once", async () => {
  const from = await sweeping({ default_ttl: 0.0001, strategy: "keep_latest" });
  const thread = await newThread(from, "echo");
  await thread.run({ input: {} });
  await thread.resume("yes");
  const { values } = await thread.get();
  await followLog(from, "the history is one state", async () =>
    (await thread.history()).length === 1 ? true : undefined,
  );
  assert.deepEqual((await thread.get()).values, values);
  await from.end();
});

test("old runs, checkpoints and entries are thinned out, but of threads that wait", async () => {
  const kept = { HOLDPOINT_KEEP_RUNS: "1ms", HOLDPOINT_KEEP_CHECKPOINTS: "1ms", HOLDPOINT_KEEP_AUDIT: "1ms" };
  const from = await sweeping({}, kept);
  const [ended, paused] = [await newThread(from, "echo"), await newThread(from, "echo")];
  for (const thread of [ended, paused]) await thread.run({ input: {} });
  await ended.resume("yes");
  await until("the runs are gone", async () => ((await ended.runs()).length === 0 ? true : undefined));
  await until("the history is short", async () => ((await ended.history()).length === 1 ? true : undefined));
  assert.equal((await paused.runs()).length, 1);
  assert.equal((await paused.history()).length, 2);
  await paused.resume("still");
  await from.end();
});
