// Rows of the calls of threads: all but their states.
import type { Client, Thread } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { type Check, newMark, ran } from "./rows.ts";
import { readStates } from "./states.ts";

const ids = (list: readonly Thread[]): readonly string[] => list.map(({ thread_id: id }) => id);

export const THREADS: Readonly<Record<string, Check>> = {
  create: async ({ client }) => assert.equal((await client.threads.create()).status, "idle"),
  "create.metadata": async ({ client }) => {
    const metadata = newMark();
    assert.deepEqual((await client.threads.create({ metadata })).metadata, metadata);
  },
  "create.threadId": async ({ client }) => {
    const threadId = crypto.randomUUID();
    assert.equal((await client.threads.create({ threadId })).thread_id, threadId);
  },
  "create.ifExists": async ({ client }) => {
    const { thread_id: threadId } = await client.threads.create();
    await assert.rejects(client.threads.create({ threadId, ifExists: "raise" }), /HTTP 409/);
    assert.equal((await client.threads.create({ threadId, ifExists: "do_nothing" })).thread_id, threadId);
  },
  "create.graphId": async ({ client }) => {
    const { thread_id: id } = await client.threads.create({ graphId: "steps" });
    await client.threads.updateState(id, { values: { visited: ["by hand"] }, asNode: "node_a" });
    assert.deepEqual((await client.threads.getState(id)).next, ["node_b"]);
  },
  "create.supersteps": async ({ client }) => {
    const updates = [{ values: { visited: ["before"] }, asNode: "node_a" }];
    const { thread_id: id } = await client.threads.create({ graphId: "steps", supersteps: [{ updates }] });
    assert.deepEqual((await client.threads.getState(id)).values, { visited: ["before"] });
  },
  "create.ttl": async ({ client }) => {
    const { thread_id: id } = await client.threads.create({ ttl: 60 });
    assert.equal((await withTtl(client, id)).ttl?.ttl, 60);
  },
  get: async ({ client }) => {
    const { thread_id: id } = await client.threads.create();
    assert.equal((await client.threads.get(id)).thread_id, id);
  },
  "get.include": async ({ client }) => {
    const { thread_id: id } = await client.threads.create({ ttl: { ttl: 5, strategy: "delete" } });
    assert.equal((await withTtl(client, id)).ttl?.ttl, 5);
    assert.equal("ttl" in (await client.threads.get(id)), false);
  },
  copy: async ({ client }) => {
    const id = await ran(client);
    const copy = await client.threads.copy(id);
    assert.deepEqual([copy.values, copy.thread_id === id], [{ visited: ["node_a", "node_b", "node_c"] }, false]);
  },
  update: async ({ client }) => {
    const { thread_id: id } = await client.threads.create();
    assert.equal((await client.threads.update(id)).thread_id, id);
  },
  "update.metadata": async ({ client }) => {
    const { thread_id: id } = await client.threads.create({ metadata: { kept: 1 } });
    assert.deepEqual((await client.threads.update(id, { metadata: { added: 2 } })).metadata, { kept: 1, added: 2 });
  },
  "update.ttl": async ({ client }) => {
    const { thread_id: id } = await client.threads.create();
    await client.threads.update(id, { ttl: 7 });
    assert.equal((await withTtl(client, id)).ttl?.ttl, 7);
  },
  "update.returnMinimal": async ({ client }) => {
    const { thread_id: id } = await client.threads.create();
    assert.equal(await client.threads.update(id, { metadata: { a: 1 }, returnMinimal: true }), undefined);
  },
  delete: async ({ client }) => {
    const { thread_id: id } = await client.threads.create();
    await client.threads.delete(id);
    await assert.rejects(client.threads.get(id), /HTTP 404/);
  },
  prune: async ({ client }) => {
    const { thread_id: id } = await client.threads.create();
    assert.deepEqual(await client.threads.prune([id]), { pruned_count: 1 });
    await assert.rejects(client.threads.get(id), /HTTP 404/);
  },
  "prune.strategy": async ({ client }) => {
    const id = await ran(client);
    await client.threads.prune([id], { strategy: "keep_latest" });
    assert.equal((await client.threads.getHistory(id)).length, 1);
  },
  search: async ({ client }) => assert.ok(Array.isArray(await client.threads.search())),
  ...searches(),
  count: async ({ client }) => assert.ok((await client.threads.count()) >= 0),
  "count.metadata": async ({ client }) => {
    const metadata = newMark();
    await client.threads.create({ metadata });
    assert.equal(await client.threads.count({ metadata }), 1);
  },
  "count.status": async ({ client }) => {
    const metadata = newMark();
    await client.threads.create({ metadata });
    assert.equal(await client.threads.count({ metadata, status: "busy" }), 0);
  },
  "count.values": async ({ client }) => {
    const metadata = newMark();
    await ran(client, metadata);
    assert.equal(await client.threads.count({ metadata, values: { visited: ["node_a", "node_b", "node_c"] } }), 1);
    assert.equal(await client.threads.count({ metadata, values: { visited: ["other"] } }), 0);
  },
  ...readStates(),
  joinStream: async ({ client }) => assert.equal((await threadEvents(client, {})).at(-1), "metadata"),
  "joinStream.lastEventId": async ({ client }) => {
    assert.deepEqual(await threadEvents(client, {}), ["metadata", "values", "metadata"]);
  },
  "joinStream.streamMode": async ({ client }) => {
    assert.deepEqual(await threadEvents(client, { streamMode: "lifecycle" }), ["metadata", "metadata"]);
  },
  stream: async ({ client }) => {
    const stream = client.threads.stream({ assistantId: "steps" });
    const output = stream.output;
    await stream.run.start({ input: { visited: [] } });
    assert.deepEqual(await output, { visited: ["node_a", "node_b", "node_c"] });
    await stream.close();
  },
  "stream.assistantId": async ({ client }) => {
    const stream = client.threads.stream({ assistantId: "no such graph" });
    await assert.rejects(async () => stream.run.start({ input: {} }));
    await stream.close();
  },
  "stream.transport": async ({ client }) => {
    const stream = client.threads.stream({ assistantId: "steps", transport: "websocket" });
    const output = stream.output;
    await stream.run.start({ input: { visited: [] } });
    assert.deepEqual(await output, { visited: ["node_a", "node_b", "node_c"] });
    await stream.close();
  },
};

async function withTtl(client: Client, id: string): Promise<{ readonly ttl?: { readonly ttl: number } | null }> {
  return (await client.threads.get(id, { include: ["ttl"] })) as { readonly ttl?: { readonly ttl: number } | null };
}

/** The events of a thread whose run has ended, up to its end. */
async function threadEvents(
  client: Client,
  options: { readonly streamMode?: "lifecycle" },
): Promise<readonly string[]> {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "echo", { input: {} });
  const names: string[] = [];
  for await (const { event, data } of client.threads.joinStream(id, { lastEventId: "-1", ...options })) {
    names.push(event);
    if ((data as { readonly status?: string }).status === "run_done") break;
  }
  return names;
}

function searches(): Readonly<Record<string, Check>> {
  const pair = async (client: Client) => {
    const metadata = newMark();
    const [one, two] = [await ran(client, metadata), (await client.threads.create({ metadata })).thread_id];
    return { metadata, one, two };
  };
  const finds =
    (
      query: (pair: { readonly one: string; readonly two: string }) => object,
      found: (pair: { readonly one: string; readonly two: string }) => readonly string[],
    ): Check =>
    async ({ client }) => {
      const { metadata, one, two } = await pair(client);
      assert.deepEqual(ids(await client.threads.search({ metadata, ...query({ one, two }) })), found({ one, two }));
    };
  return {
    "search.metadata": finds(
      () => ({}),
      ({ one, two }) => [two, one],
    ),
    "search.ids": finds(
      ({ one }) => ({ ids: [one] }),
      ({ one }) => [one],
    ),
    "search.limit": finds(
      () => ({ limit: 1 }),
      ({ two }) => [two],
    ),
    "search.offset": finds(
      () => ({ offset: 1 }),
      ({ one }) => [one],
    ),
    "search.status": finds(
      () => ({ status: "interrupted" }),
      () => [],
    ),
    "search.sortBy": finds(
      () => ({ sortBy: "state_updated_at", sortOrder: "asc" }),
      ({ one, two }) => [one, two],
    ),
    "search.sortOrder": finds(
      () => ({ sortOrder: "asc" }),
      ({ one, two }) => [one, two],
    ),
    "search.values": finds(
      () => ({ values: { visited: ["node_a", "node_b", "node_c"] } }),
      ({ one }) => [one],
    ),
    "search.select": async ({ client }) => {
      const { metadata } = await pair(client);
      const [found] = await client.threads.search({ metadata, select: ["status"] });
      assert.deepEqual(found, { status: "idle" });
    },
    "search.extract": async ({ client }) => {
      const { metadata, one } = await pair(client);
      const [found] = await client.threads.search({ metadata, ids: [one], extract: { last: "values.visited[-1]" } });
      assert.deepEqual(found?.extracted, { last: "node_c" });
    },
  };
}
