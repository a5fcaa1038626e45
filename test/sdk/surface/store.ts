// Rows of the calls of the store.
import assert from "node:assert/strict";
import { type Check, newMark } from "./rows.ts";

export const STORE: Readonly<Record<string, Check>> = {
  putItem: async ({ client }) => {
    await client.store.putItem(["surface", "put"], "key", { a: 1 });
    assert.deepEqual((await client.store.getItem(["surface", "put"], "key"))?.value, { a: 1 });
  },
  "putItem.ttl": async ({ client }) => {
    await client.store.putItem(["surface", "ttl"], "key", { a: 1 }, { ttl: 60 });
    assert.ok(await client.store.getItem(["surface", "ttl"], "key"));
    await assert.rejects(client.store.putItem(["surface", "ttl"], "key", {}, { ttl: -1 }), /HTTP 422/);
  },
  "putItem.index": async ({ client }) => {
    await client.store.putItem(["surface", "index"], "key", { a: 1 }, { index: false });
    await assert.rejects(client.store.putItem(["surface"], "key", {}, { index: "a" as never }), /HTTP 422/);
  },
  getItem: async ({ client }) => assert.equal(await client.store.getItem(["surface", "none"], "key"), null),
  "getItem.refreshTtl": async ({ client }) => {
    await client.store.putItem(["surface", "refresh"], "key", { a: 1 }, { ttl: 60 });
    assert.ok(await client.store.getItem(["surface", "refresh"], "key", { refreshTtl: true }));
  },
  deleteItem: async ({ client }) => {
    await client.store.putItem(["surface", "delete"], "key", { a: 1 });
    await client.store.deleteItem(["surface", "delete"], "key");
    assert.equal(await client.store.getItem(["surface", "delete"], "key"), null);
  },
  searchItems: found({}, ["one", "two"]),
  "searchItems.filter": found({ filter: { a: 1 } }, ["one"]),
  "searchItems.limit": found({ limit: 1 }, 1),
  "searchItems.offset": found({ offset: 1 }, 1),
  "searchItems.refreshTtl": found({ refreshTtl: false }, ["one", "two"]),
  // Without a model of embeddings in langgraph.json the query ranks nothing, as in the reference.
  "searchItems.query": found({ query: "one" }, ["one", "two"]),
  listNamespaces: namespaces({}, [["a"], ["a", "b"]]),
  "listNamespaces.prefix": namespaces({}, [["a"], ["a", "b"]]),
  "listNamespaces.suffix": namespaces({ suffix: ["b"] }, [["a", "b"]]),
  "listNamespaces.maxDepth": namespaces({ maxDepth: 3 }, [["a"]]),
  "listNamespaces.limit": namespaces({ limit: 1 }, [["a"]]),
  "listNamespaces.offset": namespaces({ offset: 1 }, [["a", "b"]]),
};

function found(options: object, expected: readonly string[] | number): Check {
  return async ({ client }) => {
    const prefix = ["surface", newMark().of];
    await client.store.putItem(prefix, "one", { a: 1 });
    await client.store.putItem(prefix, "two", { a: 2 });
    const { items } = await client.store.searchItems(prefix, options);
    const keys = items.map(({ key }) => key).toSorted();
    if (typeof expected === "number") assert.equal(keys.length, expected);
    else assert.deepEqual(keys, expected);
  };
}

function namespaces(options: object, expected: readonly (readonly string[])[]): Check {
  return async ({ client }) => {
    const prefix = ["surface", newMark().of];
    for (const path of [["a"], ["a", "b"]]) await client.store.putItem([...prefix, ...path], "key", {});
    const { namespaces: all } = await client.store.listNamespaces({ prefix, ...options });
    assert.deepEqual(
      all.map((one) => one.slice(prefix.length)),
      expected,
    );
  };
}
