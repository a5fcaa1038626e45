// Tests of the store, end to end: the long-term memory over HTTP, with the official client.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";
import { readProblem } from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const server = await startServerHere({ limits: { storeItemBytesMax: 2000 } });
const client = new Client({ apiUrl: server.url, apiKey: null });
const { store } = client;
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const listKeys = ({ items }: { readonly items: readonly { readonly key: string }[] }) => items.map(({ key }) => key);

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

  test("a value on which LangGraph would act is refused, at any depth", PATIENCE, async () => {
    const name = { namespace: ["acted"], key: "k" };
    for (const acted of [{ __overwrite__: ["x"] }, { lg_name: "Command", goto: "keep" }])
      for (const value of [acted, { list: [{ deep: acted }] }]) {
        const refused = await call(server, "PUT", "/store/items", { ...name, value });
        assert.deepEqual([refused.status, readProblem(refused).code], [422, "control_value_refused"]);
      }
    assert.equal(await store.getItem(name.namespace, name.key), null);
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
    assert.deepEqual(listKeys(await store.searchItems(["s", "u1"])), ["a", "b"]);
    assert.deepEqual(listKeys(await store.searchItems(["s"])), ["a", "d", "c", "b"]);
    assert.deepEqual(listKeys(await store.searchItems(["s"], { limit: 2, offset: 1 })), ["d", "c"]);
    assert.deepEqual(listKeys(await store.searchItems(["nothing"])), []);
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
      assert.deepEqual(listKeys(await store.searchItems(["f"], { filter })), expected, JSON.stringify(filter));
    }
  });

  test("a query in words is passed over when the server has no embedding function", PATIENCE, async () => {
    await store.putItem(["q"], "one", { text: "hello" });
    assert.deepEqual(listKeys(await store.searchItems(["q"], { query: "greeting" })), ["one"]);
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
    "an item without one, with null, or with a long one stays; a read does not change the item",
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

type Calls = readonly (readonly [method: string, ...parameters: unknown[]])[];

suite("in graphs", () => {
  const run = async (graph: string, calls: Calls): Promise<unknown[]> => {
    const { thread_id: id } = await client.threads.create();
    const values = (await client.runs.wait(id, graph, { input: { calls } })) as { readonly results: unknown[] };
    return values.results;
  };

  for (const graph of ["memory", "memory_of_its_own", "memory_in_subgraph"]) {
    test(
      `${graph}: a node sees items stored over HTTP, and the other way round (langgraph-store.1, langgraph-store.2)`,
      PATIENCE,
      async () => {
        const namespace = ["graphs", graph];
        await store.putItem(namespace, "from http", { x: 1, kind: "a" });
        const results = await run(graph, [
          ["get", namespace, "from http"],
          ["put", namespace, "from node", { y: [1, { z: null }], kind: "b" }],
          ["get", namespace, "from node"],
          ["search", namespace, { filter: { kind: { $in: ["b"] } } }],
          ["listNamespaces", { prefix: ["graphs"], suffix: [graph] }],
          [
            "batch",
            [
              { namespace, key: "from http" },
              { namespace, key: "batched", value: { b: 1 } },
            ],
          ],
          ["delete", namespace, "from http"],
          ["get", namespace, "from http"],
        ]);
        const brief = JSON.parse(JSON.stringify(results), (key, value: unknown) =>
          key === "createdAt" || key === "updatedAt" ? undefined : value,
        ) as unknown;
        const http = { namespace, key: "from http", value: { x: 1, kind: "a" } };
        const node = { namespace, key: "from node", value: { y: [1, { z: null }], kind: "b" } };
        assert.deepEqual(brief, [http, null, node, [node], [namespace], [http, null], null, null]);
        assert.deepEqual((await store.getItem(namespace, "from node"))?.value, node.value);
        assert.deepEqual(listKeys(await store.searchItems(namespace)), ["batched", "from node"]);
      },
    );
  }

  test("a date becomes its text, as in JSON", PATIENCE, async () => {
    await run("memory", [["put", ["plain"], "date", "odd:date"]]);
    assert.deepEqual((await store.getItem(["plain"], "date"))?.value, { at: "1970-01-01T00:00:00.000Z" });
  });

  for (const [name, says, calls] of [
    ["a function", /cannot be represented as JSON: "f" is a function/, [["put", ["plain"], "k", "odd:function"]]],
    ["a map", /cannot be represented as JSON: "m" is a Map/, [["put", ["plain"], "k", "odd:map"]]],
    ["a namespace with a dot", /dots|periods/, [["put", ["a.b"], "k", {}]]],
    ["a namespace too deep", /at most 16 labels/, [["search", Array.from({ length: 17 }, () => "a")]]],
    [
      "a value that is too large",
      /more than 2000 bytes as JSON/,
      [["put", ["plain"], "k", { text: "x".repeat(3000) }]],
    ],
    ["an operator that does not exist", /is not an operator/, [["search", ["plain"], { filter: { a: { $x: 1 } } }]]],
  ] as const) {
    test(`${name} fails the node that used it, and stores nothing (langgraph-store.3)`, PATIENCE, async () => {
      await assert.rejects(run("memory", calls), says);
      assert.equal(await store.getItem(["plain"], "k"), null);
    });
  }
});

suite("by meaning", () => {
  const named = async (config: string) => {
    const started = await startServerHere({ config: join(ROOT, "test", "graphs", config) });
    after(async () => {
      await started.stop();
      removeFolder(started.dataDir);
    });
    const again = new Client({ apiUrl: started.url, apiKey: null, callerOptions: { maxRetries: 0 } });
    return { store: again.store, runs: again.runs, threads: again.threads, whenLogged: started.whenLogged };
  };

  test("semantic search ranks items with a score; changed and deleted items are indexed again", PATIENCE, async () => {
    const { store: memory, runs, threads } = await named("with-embeddings.json");
    await memory.putItem(["m"], "cat", { text: "a cat" });
    await memory.putItem(["m", "deep"], "both", { text: "a cat, a dog" });
    await memory.putItem(["m"], "parts", { parts: [{ body: "car" }, { body: "dog" }], kind: "list" });
    await memory.putItem(["m"], "unindexed", { text: "cat" }, { index: false });
    await memory.putItem(["m"], "other field", { text: "car", title: "cat cat" }, { index: ["title"] });
    await memory.putItem(["elsewhere"], "cat", { text: "cat" });
    const ranked = async (query: string, more: object = {}) =>
      (await memory.searchItems(["m"], { query, ...more })).items.map(({ key, score }) => [key, score?.toFixed(2)]);
    assert.deepEqual(await ranked("cat"), [
      ["cat", "1.00"],
      ["other field", "1.00"],
      ["both", "0.71"],
      ["parts", "0.00"],
    ]);
    assert.deepEqual(await ranked("dog", { limit: 2 }), [
      ["parts", "1.00"],
      ["both", "0.71"],
    ]);
    assert.deepEqual(await ranked("dog", { filter: { kind: "list" } }), [["parts", "1.00"]]);
    await memory.putItem(["m"], "cat", { text: "a dog" });
    await memory.deleteItem(["m"], "parts");
    assert.deepEqual(await ranked("dog", { limit: 1 }), [["cat", "1.00"]]);
    const { thread_id: id } = await threads.create();
    const calls = [
      ["search", ["m"], { query: "dog", limit: 1 }],
      ["put", ["m"], "k", { a: "car" }, ["a"]],
    ];
    const { results } = (await runs.wait(id, "memory", { input: { calls } })) as { readonly results: never[][] };
    const [found] = results[0] ?? [];
    assert.deepEqual([found?.["key"], found?.["score"]], ["cat", 1]);
    assert.deepEqual(await ranked("car", { limit: 1 }), [["k", "1.00"]], "a node can say what is indexed");
  });

  test("a failed embedding function fails the call, and the item stays unchanged (store.2)", PATIENCE, async () => {
    const { store: memory } = await named("with-embeddings.json");
    await memory.putItem(["m"], "k", { text: "cat" });
    for (const [text, reason] of [
      ["fail", /the model is not at home/],
      ["short", /a vector has 1 numbers, and store\.index\.dims is 3/],
      ["nan", /contains a value that is not a number/],
    ] as const) {
      const put = memory.putItem(["m"], "k", { text });
      await assert.rejects(put, (error: Error) => error.message.startsWith("HTTP 502: ") && reason.test(error.message));
      assert.deepEqual((await memory.getItem(["m"], "k"))?.value, { text: "cat" });
      await assert.rejects(memory.searchItems(["m"], { query: text }), reason);
    }
    assert.deepEqual(listKeys(await memory.searchItems(["m"], { query: "cat" })), ["k"]);
  });

  test("an Embeddings object embeds queries with its own method; expired items are swept", PATIENCE, async () => {
    const { store: memory, whenLogged } = await named("with-embedding-model.json");
    await memory.putItem(["m"], "both", { text: "cat dog" }, { ttl: null });
    await memory.putItem(["m"], "short", { text: "cat dog" });
    assert.deepEqual(listKeys(await memory.searchItems(["m"], { query: "animal", limit: 1 })).length, 1);
    await whenLogged("the sweep", (logs) => logs.some(({ event }) => event === "store_items_expired"));
    assert.equal(await memory.getItem(["m"], "short"), null);
    assert.deepEqual(listKeys(await memory.searchItems(["m"])), ["both"]);
    assert.deepEqual(listKeys(await memory.searchItems(["m"], { query: "animal" })), ["both"]);
  });
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

  test("rejected calls stored nothing", PATIENCE, async () => {
    assert.deepEqual(listKeys(await store.searchItems(["r"])), []);
    assert.equal(await store.getItem(["r"], "k"), null);
  });
});
