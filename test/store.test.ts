// Tests of the store, end to end: the long-term memory over HTTP, with the official client.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { call, removeFolder, startServer } from "./harness/server.ts";

const PATIENCE = { timeout: 20_000 };
const server = await startServer({ env: { HOLDPOINT_MAX_STORE_ITEM_BYTES: "2000" } });
const { store } = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const keysOf = ({ items }: { readonly items: readonly { readonly key: string }[] }) => items.map(({ key }) => key);

suite("items", () => {
  test("an item is put, read, changed and deleted; created_at stays", PATIENCE, async () => {
    const namespace = ["items", "ünï code"];
    await store.putItem(namespace, "key with spaces/and %", { text: "one", deep: { list: [1, null, true] } });
    const first = await store.getItem(namespace, "key with spaces/and %");
    assert.deepEqual(first?.namespace, namespace);
    assert.deepEqual(first.value, { text: "one", deep: { list: [1, null, true] } });
    assert.match(first.createdAt, /^\d{4}-\d\d-\d\dT.*Z$/);

    await store.putItem(namespace, "key with spaces/and %", { text: "two" });
    const second = await store.getItem(namespace, "key with spaces/and %");
    assert.deepEqual(second?.value, { text: "two" });
    assert.equal(second.createdAt, first.createdAt);
    assert.ok(second.updatedAt >= first.updatedAt);

    await store.deleteItem(namespace, "key with spaces/and %");
    assert.equal(await store.getItem(namespace, "key with spaces/and %"), null);
    await store.deleteItem(namespace, "key with spaces/and %"); // again: it is all the same
  });

  test("replies have the shape of the reference: 204, 200 with the item, 200 with null", PATIENCE, async () => {
    const item = { namespace: ["shape", "b"], key: "k", value: { x: 1 } };
    const put = await call(server, "PUT", "/store/items", item);
    assert.deepEqual([put.status, put.text], [204, ""]);
    const got = await call(server, "GET", "/store/items?namespace=shape.b&key=k");
    const { created_at: createdAt, updated_at: updatedAt, ...rest } = got.body as Record<string, unknown>;
    assert.deepEqual(rest, item);
    assert.equal(createdAt, updatedAt);
    const missing = await call(server, "GET", "/store/items?namespace=shape.b&key=zz");
    assert.deepEqual([missing.status, missing.text], [200, "null"]);
    const gone = await call(server, "DELETE", "/store/items", { namespace: ["shape", "b"], key: "k" });
    assert.deepEqual([gone.status, gone.text], [204, ""]);
  });

  test("what was put is there after kill -9", PATIENCE, async () => {
    const first = await startServer();
    const client = new Client({ apiUrl: first.url, apiKey: null });
    await client.store.putItem(["kept"], "k", { x: 1 });
    await first.kill();
    const second = await startServer({ dataDir: first.dataDir });
    const item = await new Client({ apiUrl: second.url, apiKey: null }).store.getItem(["kept"], "k");
    assert.deepEqual(item?.value, { x: 1 });
    await second.stop();
    removeFolder(first.dataDir);
  });
});

suite("search", () => {
  test("a prefix finds its own items and those below, newest first, in pages", PATIENCE, async () => {
    for (const [namespace, key] of [
      [["s", "u1"], "a"],
      [["s", "u1", "deep"], "b"],
      [["s", "u10"], "c"],
      [["s", "u2"], "d"],
      [["s", "u1"], "a"],
    ] as const) {
      await store.putItem([...namespace], key, { key });
    }
    assert.deepEqual(keysOf(await store.searchItems(["s", "u1"])), ["a", "b"]);
    assert.deepEqual(keysOf(await store.searchItems(["s"])), ["a", "d", "c", "b"]);
    assert.deepEqual(keysOf(await store.searchItems(["s"], { limit: 2, offset: 1 })), ["d", "c"]);
    assert.deepEqual(keysOf(await store.searchItems(["nothing"])), []);
    const [item] = (await store.searchItems(["s", "u2"])).items;
    assert.deepEqual(item?.namespace, ["s", "u2"]);
    assert.ok(item.createdAt !== "" && !("score" in item), "nothing was ranked");
  });

  test("filters compare members of the value", PATIENCE, async () => {
    await store.putItem(["f"], "one", { kind: "note", size: 1, by: { name: "ann" } });
    await store.putItem(["f"], "two", { kind: "memo", size: 2, by: { name: "bob" } });
    for (const [filter, expected] of [
      [{ kind: "note" }, ["one"]],
      [{ size: { $gt: 1 } }, ["two"]],
      [{ kind: { $in: ["note", "memo"] }, size: { $ne: 1 } }, ["two"]],
      [{ by: { name: "ann" } }, ["one"]],
      [{ "kind' OR 1=1 --": "note" }, []],
    ] as const) {
      assert.deepEqual(keysOf(await store.searchItems(["f"], { filter })), expected, JSON.stringify(filter));
    }
  });

  test("a query in words is passed over when the server has no embedding function", PATIENCE, async () => {
    await store.putItem(["q"], "one", { text: "hello" });
    assert.deepEqual(keysOf(await store.searchItems(["q"], { query: "greeting" })), ["one"]);
  });

  test("namespaces are listed by prefix, suffix and depth", PATIENCE, async () => {
    for (const last of ["x", "y"]) await store.putItem(["n", "a", last], "k", {});
    await store.putItem(["n", "b", "x"], "k", {});
    const list = async (options: Parameters<typeof store.listNamespaces>[0]) =>
      (await store.listNamespaces(options)).namespaces.map((labels) => labels.join(" "));
    assert.deepEqual(await list({ prefix: ["n"] }), ["n a x", "n a y", "n b x"]);
    assert.deepEqual(await list({ prefix: ["n"], suffix: ["x"] }), ["n a x", "n b x"]);
    assert.deepEqual(await list({ prefix: ["n", "*", "y"] }), ["n a y"]);
    assert.deepEqual(await list({ prefix: ["n"], maxDepth: 2 }), ["n a", "n b"]);
    assert.deepEqual(await list({ prefix: ["n"], limit: 1, offset: 1 }), ["n a y"]);
  });
});

suite("a time to live", () => {
  test(
    "an item without one, with null, or with one that lasts is there; a read does not change the item",
    PATIENCE,
    async () => {
      for (const ttl of [undefined, null, 60]) {
        const key = String(ttl);
        await store.putItem(["ttl"], key, { x: 1 }, ttl === undefined ? {} : { ttl });
        const read = await store.getItem(["ttl"], key, { refreshTtl: true });
        assert.deepEqual(read, await store.getItem(["ttl"], key, { refreshTtl: false }));
        assert.deepEqual(read?.value, { x: 1 });
      }
    },
  );
});

suite("refusals", () => {
  const good = { namespace: ["r"], key: "k", value: {} };
  const put = (changes: object) => ["PUT", "/store/items", { ...good, ...changes }] as const;
  const CASES: readonly (readonly [
    name: string,
    code: string,
    request: readonly [method: string, path: string, body?: unknown],
  ])[] = [
    ["an empty namespace", "store_namespace_invalid", put({ namespace: [] })],
    ["an empty label", "store_namespace_invalid", put({ namespace: ["a", ""] })],
    ["a label with a dot", "store_namespace_invalid", put({ namespace: ["a.b"] })],
    ["a label with NUL", "store_namespace_invalid", put({ namespace: ["a\u0000"] })],
    [
      "half a character",
      "store_namespace_invalid",
      ["PUT", "/store/items", '{"namespace":["\\ud800"],"key":"k","value":{}}'],
    ],
    ["a label that is too long", "store_namespace_invalid", put({ namespace: ["a".repeat(257)] })],
    [
      "a namespace that is too deep",
      "store_namespace_invalid",
      put({ namespace: Array.from({ length: 17 }, () => "a") }),
    ],
    ["the library's own namespace", "store_namespace_invalid", put({ namespace: ["langgraph", "x"] })],
    ["no namespace", "invalid_request", put({ namespace: null })],
    ["an empty key", "store_item_invalid", put({ key: "" })],
    ["a key that is too long", "store_item_invalid", put({ key: "k".repeat(1025) })],
    ["a value that is a list", "invalid_request", put({ value: [] })],
    ["no value", "invalid_request", put({ value: null })],
    ["a value that is too large", "store_item_too_large", put({ value: { text: "ü".repeat(1000) } })],
    ["a time to live of nothing", "invalid_request", put({ ttl: 0 })],
    ["an index that is no list", "invalid_request", put({ index: true })],
    ["a namespace with an empty label to read", "store_namespace_invalid", ["GET", "/store/items?namespace=&key=k"]],
    ["no key to read", "invalid_request", ["GET", "/store/items?namespace=a"]],
    [
      "a namespace with a dot to delete",
      "store_namespace_invalid",
      ["DELETE", "/store/items", { namespace: ["a.b"], key: "k" }],
    ],
    [
      "an unknown operator",
      "store_filter_invalid",
      ["POST", "/store/items/search", { namespace_prefix: ["r"], filter: { a: { $near: 1 } } }],
    ],
    ["a prefix with a dot", "store_namespace_invalid", ["POST", "/store/items/search", { namespace_prefix: ["a.b"] }]],
    ["a limit that is too high", "invalid_request", ["POST", "/store/items/search", { limit: 1001 }]],
    ["a suffix with an empty label", "store_namespace_invalid", ["POST", "/store/namespaces", { suffix: [""] }]],
    ["a depth of nothing", "invalid_request", ["POST", "/store/namespaces", { max_depth: 0 }]],
  ];
  for (const [name, code, [method, path, body]] of CASES) {
    test(`${name} is ${code}`, PATIENCE, async () => {
      const reply = await call(server, method, path, body);
      assert.deepEqual([reply.status, (reply.body as { readonly code: string }).code], [422, code], reply.text);
    });
  }

  test("what was refused has stored nothing", PATIENCE, async () => {
    assert.deepEqual(keysOf(await store.searchItems(["r"])), []);
    assert.equal(await store.getItem(["r"], "k"), null);
  });
});
