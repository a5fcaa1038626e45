// Rows of the calls that read and edit the states of a thread.
import assert from "node:assert/strict";
import { type Check, ran } from "./rows.ts";

export function readStates(): Readonly<Record<string, Check>> {
  return {
    getState: async ({ client }) => {
      const id = await ran(client);
      const state = await client.threads.getState(id);
      const checkpointId = state.checkpoint.checkpoint_id ?? "";
      assert.deepEqual((await client.threads.getState(id, checkpointId)).values, state.values);
      assert.deepEqual((await client.threads.getState(id, state.checkpoint)).values, state.values);
    },
    "getState.subgraphs": async ({ client }) => {
      const { thread_id: id } = await client.threads.create();
      await client.runs.wait(id, "deep", { input: {} });
      assert.equal((await client.threads.getState(id)).tasks[0]?.state ?? null, null);
      const { tasks } = await client.threads.getState(id, undefined, { subgraphs: true });
      assert.deepEqual(tasks[0]?.state?.next, ["inside"]);
    },
    "getState.select": async ({ client }) => {
      const state = await client.threads.getState(await ran(client), undefined, { select: ["next"] });
      assert.deepEqual(state, { next: [] });
    },
    updateState: async ({ client }) => {
      const id = await ran(client);
      await client.threads.updateState(id, { values: { visited: ["by hand"] } });
      const { values } = await client.threads.getState<{ readonly visited: readonly string[] }>(id);
      assert.equal(values.visited.at(-1), "by hand");
    },
    "updateState.values": async ({ client }) => {
      const { thread_id: id } = await client.threads.create({ graphId: "steps" });
      const values = [{ visited: ["one"] }, { visited: ["two"] }];
      await client.threads.updateState(id, { values: values as never, asNode: "node_a" });
      assert.deepEqual((await client.threads.getState(id)).values, { visited: ["one", "two"] });
    },
    "updateState.asNode": async ({ client }) => {
      const id = await ran(client);
      await client.threads.updateState(id, { values: null as never, asNode: "node_b" });
      assert.deepEqual((await client.threads.getState(id)).next, ["node_c"]);
    },
    "updateState.checkpointId": editAt((checkpointId) => ({ checkpointId })),
    "updateState.checkpoint": editAt((checkpointId, threadId) => ({
      checkpoint: { thread_id: threadId, checkpoint_id: checkpointId, checkpoint_ns: "", checkpoint_map: null },
    })),
    patchState: async ({ client }) => {
      const { thread_id: id } = await client.threads.create();
      await client.threads.patchState(id, { patched: true });
      assert.equal((await client.threads.get(id)).metadata?.["patched"], true);
    },
    "patchState.configurable": async ({ client }) => {
      const { thread_id: id } = await client.threads.create();
      await client.threads.patchState({ configurable: { thread_id: id } }, { patched: true });
      assert.equal((await client.threads.get(id)).metadata?.["patched"], true);
    },
    getHistory: async ({ client }) => assert.equal((await client.threads.getHistory(await ran(client))).length, 5),
    "getHistory.limit": async ({ client }) => {
      assert.equal((await client.threads.getHistory(await ran(client), { limit: 2 })).length, 2);
    },
    "getHistory.before": async ({ client }) => {
      const id = await ran(client);
      const [, second] = await client.threads.getHistory(id);
      const before = { configurable: { checkpoint_id: second?.checkpoint.checkpoint_id } };
      assert.equal((await client.threads.getHistory(id, { before })).length, 3);
    },
    "getHistory.metadata": async ({ client }) => {
      assert.equal((await client.threads.getHistory(await ran(client), { metadata: { source: "input" } })).length, 1);
    },
    "getHistory.checkpoint": async ({ client }) => {
      const { thread_id: id } = await client.threads.create();
      await client.runs.wait(id, "deep", { input: {} });
      const { tasks } = await client.threads.getState(id);
      const { checkpoint_ns: ns } = tasks[0]?.checkpoint ?? {};
      const states = await client.threads.getHistory(id, { checkpoint: { checkpoint_ns: ns ?? "" } });
      assert.deepEqual([...new Set(states.map(({ checkpoint }) => checkpoint.checkpoint_ns))], [ns]);
    },
    "getHistory.select": async ({ client }) => {
      const [state] = await client.threads.getHistory(await ran(client), { select: ["next", "values.visited"] });
      assert.deepEqual(Object.keys(state ?? {}).toSorted(), ["next", "values"]);
    },
  };
}

function editAt(place: (checkpointId: string, threadId: string) => object): Check {
  return async ({ client }) => {
    const id = await ran(client);
    const middle = (await client.threads.getHistory(id)).find(({ next }) => next[0] === "node_b");
    const checkpointId = middle?.checkpoint.checkpoint_id ?? "";
    await client.threads.updateState(id, { values: { visited: ["x"] }, asNode: "node_b", ...place(checkpointId, id) });
    assert.deepEqual((await client.threads.getState(id)).values, { visited: ["node_a", "x"] });
  };
}
