// Every method of the official client, called at least once, with replies of its declared types. The last test lists
// the client's own methods: one without a call here fails it, also a method of a later version.
import { Client, type Cron } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder } from "../harness/server.ts";
import { PATIENCE } from "../harness/patience.ts";

const server = await startServerHere();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const PARTS = ["assistants", "threads", "runs", "crons", "store"] as const;

/** It speaks another protocol, which the server does not have: docs/reference/agent-server.md, "Streams". */
const NOT_SERVED: readonly string[] = ["threads.stream"];

const called = new Set<string>();

function listMethods(part: (typeof PARTS)[number]): readonly string[] {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(client[part]));
  return names.filter((name) => name !== "constructor");
}

for (const part of PARTS) {
  for (const name of listMethods(part)) {
    const target = client[part] as unknown as Record<string, (...values: unknown[]) => unknown>;
    const method = target[name]?.bind(target);
    target[name] = (...values) => {
      called.add(`${part}.${name}`);
      return method?.(...values);
    };
  }
}

const { assistants, threads, runs, crons, store } = client;
const WHOLE = { visited: ["node_a", "node_b", "node_c"] };

async function nameEvents(stream: AsyncIterable<{ readonly event: string }>): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { event } of stream) names.push(event);
  return names;
}

suite("the official client", PATIENCE, () => {
  test("assistants: from making one to deleting it", async () => {
    const made = await assistants.create({ graphId: "steps", name: "Stepper", metadata: { of: "methods" } });
    const { assistant_id: id } = made;
    assert.deepEqual(await assistants.get(id), made);
    const changed = await assistants.update(id, { name: "Climber" });
    assert.deepEqual([changed.name, changed.version], ["Climber", 2]);
    assert.deepEqual(
      (await assistants.getVersions(id)).map(({ version }) => version),
      [2, 1],
    );
    assert.equal((await assistants.setLatest(id, 1)).name, "Stepper");
    assert.equal((await assistants.search({ metadata: { of: "methods" } })).length, 1);
    assert.equal(await assistants.count({ metadata: { of: "methods" } }), 1);
    assert.equal((await assistants.getGraph(id)).nodes.length, 5);
    assert.equal((await assistants.getSchemas(id)).graph_id, "steps");
    assert.deepEqual(await assistants.getSubgraphs(id), {});
    await assistants.delete(id);
    assert.equal(await assistants.count({ metadata: { of: "methods" } }), 0);
  });

  test("threads: from making one to pruning it", async () => {
    const made = await threads.create({ metadata: { of: "methods" }, graphId: "steps" });
    const { thread_id: id } = made;
    assert.deepEqual((await threads.get(id)).metadata, made.metadata);
    await runs.wait(id, "steps", { input: {} });
    const state = await threads.getState(id);
    assert.deepEqual(state.values, WHOLE);
    assert.equal((await threads.getHistory(id)).length, 5);
    await threads.updateState(id, { values: { visited: ["by hand"] }, asNode: "node_b" });
    assert.deepEqual((await threads.getState(id)).next, ["node_c"]);
    await threads.patchState(id, { patched: true });
    await threads.update(id, { metadata: { updated: true } });
    const { metadata } = await threads.get(id);
    assert.deepEqual([metadata?.["patched"], metadata?.["updated"]], [true, true]);
    const copy = await threads.copy(id);
    assert.deepEqual(copy.values, (await threads.get(id)).values);
    assert.equal((await threads.search({ metadata: { of: "methods" } })).length, 2);
    assert.equal(await threads.count({ metadata: { of: "methods" } }), 2);
    await threads.delete(copy.thread_id);
    assert.deepEqual(await threads.prune([id]), { pruned_count: 1 });
    assert.equal(await threads.count({ metadata: { of: "methods" } }), 0);
  });

  test("threads: a stream of all runs of one", async () => {
    const { thread_id: id } = await threads.create();
    const run = await runs.create(id, "steps", { input: {}, streamMode: "updates" });
    await runs.join(id, run.run_id);
    const seen: string[] = [];
    for await (const { event, data } of threads.joinStream(id, { lastEventId: "-1" })) {
      seen.push(event);
      if ((data as { readonly status?: string }).status === "run_done") break;
    }
    assert.deepEqual(seen, ["metadata", "updates", "updates", "updates", "metadata"]);
  });

  test("runs: waited for, streamed, in the background, several at once", async () => {
    const { thread_id: id } = await threads.create();
    assert.deepEqual(await runs.wait(id, "steps", { input: {} }), WHOLE);
    const stream = runs.stream(id, "steps", { input: {}, streamMode: "updates" });
    assert.deepEqual(await nameEvents(stream), ["metadata", "updates", "updates", "updates"]);
    const run = await runs.create(id, "steps", { input: {}, streamMode: "updates" });
    await runs.join(id, run.run_id);
    assert.equal((await runs.get(id, run.run_id)).status, "success");
    assert.deepEqual((await nameEvents(runs.joinStream(id, run.run_id))).length, 4);
    assert.deepEqual((await nameEvents(runs.joinStream(undefined, run.run_id, { lastEventId: "2" }))).length, 1);
    assert.equal((await runs.list(id)).length, 3);
    await runs.delete(id, run.run_id);
    assert.equal((await runs.list(id)).length, 2);
    const batch = await runs.createBatch([
      { assistantId: "steps", input: {} },
      { assistantId: "steps", input: {} },
    ]);
    assert.equal(batch.length, 2);
  });

  test("runs: cancelled, one and many", async () => {
    const { thread_id: id } = await threads.create();
    const [first, second] = [
      await runs.create(id, "slow", { input: { waitMs: 60_000 } }),
      await runs.create(id, "slow", { input: { waitMs: 60_000 } }),
    ];
    await runs.cancelMany({ threadId: id, runIds: [second.run_id] });
    await runs.cancel(id, first.run_id, true);
    assert.deepEqual(
      (await runs.list(id)).map(({ status }) => status),
      ["interrupted", "interrupted"],
    );
  });

  test("crons: of a thread and of none, from making one to deleting it", async () => {
    const { thread_id: id } = await threads.create();
    const schedule = "0 0 1 1 *";
    const made = (await crons.createForThread(id, "ticker", {
      schedule,
      metadata: { of: "methods" },
    })) as unknown as Cron;
    const other = (await crons.create("ticker", { schedule, metadata: { of: "methods" } })) as unknown as Cron;
    assert.deepEqual([made.thread_id, other.thread_id ?? null], [id, null]);
    assert.equal((await crons.update(made.cron_id, { schedule: "0 0 2 1 *" })).schedule, "0 0 2 1 *");
    assert.equal((await crons.search({ threadId: id })).length, 1);
    assert.equal(await crons.count({ threadId: id }), 1);
    for (const { cron_id } of [made, other]) await crons.delete(cron_id);
    assert.equal(await crons.count(), 0);
  });

  test("store: put, get, search, list, delete", async () => {
    await store.putItem(["methods"], "key", { colour: "red" });
    assert.deepEqual((await store.getItem(["methods"], "key"))?.value, { colour: "red" });
    assert.equal((await store.searchItems(["methods"], { filter: { colour: "red" } })).items.length, 1);
    assert.deepEqual((await store.listNamespaces({ prefix: ["methods"] })).namespaces, [["methods"]]);
    await store.deleteItem(["methods"], "key");
    assert.equal(await store.getItem(["methods"], "key"), null);
  });

  test("every method has been called, but those that are not served", () => {
    const all = PARTS.flatMap((part) => listMethods(part).map((name) => `${part}.${name}`));
    assert.ok(all.length > 40, "the client has its methods where they are looked for");
    const missing = all.filter((name) => !called.has(name));
    assert.deepEqual(missing, NOT_SERVED);
  });
});
