// Tests of graph factories.
// Rules:
//   factories.1. Each run calls the factory with its config, its context and `accessContext`.
//   factories.2. State calls use a graph for the config of the thread's newest run.
//   factories.3. A factory that throws or hangs fails only its own run or request.
//   factories.4. A pause continues in the graph of its config, also after a restart. A run whose graph lacks the
//        interrupted node fails and changes no state: with the right config, the node interrupts again.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { isRunning } from "../harness/protocol/thread-page.ts";
import { openEvents } from "../harness/thread-protocol.ts";
import { newThread, openThread, type WireProblem } from "../harness/threads.ts";

let server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const nodeName = (name: string) => ({ config: { configurable: { nodeName: name } } });

test("each run uses the graph of its own config (factories.1)", async () => {
  for (const [config, name] of [
    [{}, "default"],
    [nodeName("one"), "one"],
    [nodeName("two"), "two"],
  ] as const) {
    const thread = await newThread(server, "dynamic");
    assert.deepEqual((await thread.run({ input: {}, ...config }))["said"], [name]);
  }
});

test("the assistant's config makes the graph, and its drawing (factories.1)", async () => {
  const made = await call(server, "POST", "/assistants", { graph_id: "dynamic", ...nodeName("assistant") });
  const { assistant_id: id } = made.body as { readonly assistant_id: string };
  const thread = await newThread(server, id);
  assert.deepEqual((await thread.run({ input: {} }))["said"], ["assistant"]);
  const { body } = await call(server, "GET", `/assistants/${id}/graph`);
  const names = (body as { readonly nodes: readonly { readonly id: string }[] }).nodes.map((node) => node.id);
  assert.deepEqual(names, ["__start__", "assistant", "__end__"]);
});

test("runtime, config and context reach the function; each run calls it (factories.1)", async () => {
  const thread = await newThread(server, "factory_runtime");
  const context = { tenant: "current" };
  const first = await thread.run({ input: {}, context, config: { configurable: { legacy: "kept" } } });
  const { calls, ...seen } = first;
  assert.deepEqual(seen, { factory: context, node: context, access: "threads.create_run", legacy: "kept" });
  const second = await thread.run({ input: {} });
  assert.equal(second["factory"], null);
  assert.ok(Number(second["calls"]) > Number(calls));
});

test("states are read and edited with the graph of the thread's config (factories.2)", async () => {
  const thread = await newThread(server, "dynamic");
  await thread.run({ input: {}, ...nodeName("own") });
  const edit = { values: { said: ["edited"] }, as_node: "own" };
  assert.equal((await call(server, "POST", `${thread.path}/state`, edit)).status, 200);
  const { body } = await call(server, "GET", `${thread.path}/state`);
  assert.deepEqual((body as { readonly values: object }).values, { said: ["own", "edited"] });
  assert.ok((await thread.history()).length > 2);
});

test("the function gets the kind of access; one that throws fails the request (factories.2, factories.3)", async () => {
  const thread = await newThread(server, "factory_reading");
  assert.equal((await thread.run({ input: {} }))["access"], "threads.create_run");
  const edit = { values: { access: "edited" }, as_node: "capture" };
  assert.equal((await call(server, "POST", `${thread.path}/state`, edit)).status, 200);
  assert.equal((await call(server, "GET", `${thread.path}/state`)).status, 200);
  await thread.run({ input: {}, config: { configurable: { broken: true } } });
  const { status, body } = await call(server, "GET", `${thread.path}/state`);
  const { code, detail } = body as WireProblem;
  assert.deepEqual([status, code], [500, "graph_not_made"]);
  assert.match(detail, /the graph "factory_reading" failed: Error: no state for you/);
});

test("a function that throws fails its run, and no other (factories.3)", async () => {
  const thread = await newThread(server, "factory_runtime");
  const { __error__: error } = await thread.run({ input: {}, context: { reject: true } });
  assert.deepEqual(
    [error?.error, error?.message],
    ["GraphFactoryError", 'the factory of the graph "factory_runtime" failed: TypeError: refused by the factory'],
  );
  assert.equal((await thread.get()).status, "error");
  assert.equal((await thread.run({ input: {} }))["access"], "threads.create_run");
});

test("a run whose function never returns can be cancelled (factories.3)", async () => {
  const thread = await newThread(server, "factory_runtime");
  const events = await openEvents(server, thread.threadId, { channels: ["lifecycle"] });
  const run = await thread.begin({ input: {}, context: { hang: true } });
  const path = `${thread.path}/runs/${run.run_id}`;
  const readStatus = async () => ((await call(server, "GET", path)).body as { readonly status: string }).status;
  await events.until(isRunning);
  events.close();
  assert.equal(await readStatus(), "running");
  await call(server, "POST", `${path}/cancel?wait=true`);
  assert.equal(await readStatus(), "interrupted");
});

test("nodes that the run's graph does not have are refused by the run (factories.3)", async () => {
  const thread = await newThread(server, "dynamic");
  const body = { input: {}, interrupt_before: ["two"], ...nodeName("one") };
  const { __error__: error } = await thread.run(body);
  assert.equal(error?.error, "node_unknown");
  const held = await newThread(server, "dynamic");
  await held.run({ ...body, ...nodeName("two") });
  assert.equal((await held.get()).status, "interrupted");
});

test("a breakpoint that only the run's config compiles in cannot be switched off (factories.1)", async () => {
  const thread = await newThread(server, "dynamic");
  await thread.run({ input: {}, interrupt_before: [], config: { configurable: { nodeName: "one", held: true } } });
  assert.equal((await thread.get()).status, "interrupted");
});

test("a pause continues in its own graph, and in no other (factories.4)", async () => {
  const thread = await newThread(server, "dynamic_asking");
  const { __interrupt__: asked } = await thread.run({ input: {}, ...nodeName("clerk") });
  assert.deepEqual(asked?.[0]?.value, { by: "clerk" });
  const { dataDir } = server;
  await server.stop();
  server = await startServerHere({ dataDir });
  const again = openThread(server, "dynamic_asking", thread.threadId);
  const { __error__: error } = await again.run({ command: { resume: "no" }, ...nodeName("other") });
  assert.equal(error?.error, "graph_incompatible");
  assert.match(error?.message ?? "", /it lacks node clerk/);
  const { __interrupt__: askedAgain } = await again.run({ input: null, ...nodeName("clerk") });
  assert.deepEqual(askedAgain?.[0]?.value, { by: "clerk" });
  const { said } = await again.resume("yes");
  assert.deepEqual(said, ["clerk: yes"]);
});
