// Contract of the storage port for the long-term store: items, namespaces and vectors.
// Rules:
//   contract/store.1. An item is under its own namespace and every prefix of it, and under no other.
//   contract/store.2. A list comes newest first; a rewritten item counts as new.
//   contract/store.3. Expired items are invisible; a sweep deletes them in batches.
//   contract/store.4. A search that would read too much returns no result rather than a partial one.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { StoreItem, StoreVector } from "../../model/model.ts";
import type { NamespaceQuery, Storage, StorePage, StorePlace, StoreRanking, StoreRefs } from "../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";

const NOW = 1000;

const newItem = (namespace: readonly string[], key: string, changes: Partial<StoreItem> = {}): StoreItem => ({
  namespace,
  key,
  value: {},
  createdAt: 1,
  updatedAt: 2,
  ttlMs: null,
  expiresAt: null,
  ...changes,
});

const spaces = (changes: Partial<NamespaceQuery> = {}): NamespaceQuery => ({
  prefix: [],
  suffix: [],
  depthMax: null,
  limit: 100,
  offset: 0,
  scanMax: 1000,
  at: NOW,
  ...changes,
});

const vector = (...numbers: readonly number[]): Float32Array => Float32Array.from(numbers);

/** @param odd an object whose text is hard to store */
/** @param isSealed the sizes are those of sealed values */
export function storeCases(open: (t: TestContext) => Promise<Storage>, odd: JsonObject, isSealed: boolean): void {
  const put = (storage: Storage, item: StoreItem, vectors: readonly StoreVector[] = []) =>
    storage.transaction((tx) => tx.putStoreItem(item, vectors));
  const newest = async (storage: Storage, prefix: readonly string[], at = NOW) =>
    (await storage.read((tx) => tx.newestStoreItems({ prefix, after: null, limit: 100, at }))).refs;
  const nearest = (
    storage: Storage,
    prefix: readonly string[],
    to: Float32Array,
    changes: Partial<StoreRanking> = {},
  ) => storage.read((tx) => tx.nearestStoreItems({ prefix, vector: to, scanMax: 1000, at: NOW, ...changes }));
  const keys = (refs: readonly { readonly key: string }[] | null) => refs?.map(({ key }) => key) ?? null;

  test("an item reads back as stored; replacing and deleting affect the whole item", async (t) => {
    const storage = await open(t);
    const item = newItem(["a", "ü"], "käy 'x' %", { value: odd, ttlMs: 5, expiresAt: NOW + 5 });
    const get = () => storage.transaction((tx) => tx.storeItem(item.namespace, item.key, NOW));
    await put(storage, item, [{ field: "x", vector: vector(1, 0) }]);
    assert.deepEqual(await get(), item);
    const second = { ...item, value: { y: 1 }, updatedAt: 9, ttlMs: null, expiresAt: null };
    await put(storage, second);
    assert.deepEqual(await get(), second);
    assert.deepEqual(await nearest(storage, [], vector(1, 0)), [], "its vectors are gone");
    await storage.transaction((tx) => tx.deleteStoreItem(item.namespace, "another"));
    await storage.transaction((tx) => tx.deleteStoreItem(item.namespace, item.key));
    assert.equal(await get(), null);
    assert.deepEqual(await newest(storage, []), []);
  });

  test("an item is found under every prefix of its namespace, and under no other (contract/store.1)", async (t) => {
    const storage = await open(t);
    const namespaces = [
      ["a"],
      ["a", "b"],
      ["a", "b", "c"],
      ["a", "bb"],
      ["a-"],
      ["a "],
      ["ab"],
      ["b", "a"],
      ["a/", "b"],
    ];
    for (const namespace of namespaces) await put(storage, newItem(namespace, namespace.join(">")));
    const found: readonly (readonly [prefix: readonly string[], keys: readonly string[]])[] = [
      [["a"], ["a", "a>b", "a>b>c", "a>bb"]],
      [
        ["a", "b"],
        ["a>b", "a>b>c"],
      ],
      [["a", "b", "c"], ["a>b>c"]],
      [["a-"], ["a-"]],
      [["b"], ["b>a"]],
      [["c"], []],
      [[], namespaces.map((namespace) => namespace.join(">"))],
    ];
    for (const [prefix, expected] of found) {
      assert.deepEqual(new Set(keys(await newest(storage, prefix))), new Set(expected), prefix.join(">"));
    }
  });

  test("a search comes newest first, in pages, and a rewritten item counts as new (contract/store.2)", async (t) => {
    const storage = await open(t);
    for (const at of [1, 2, 3, 4]) await put(storage, newItem(["n", String(at)], `k${at}`, { updatedAt: at }));
    assert.deepEqual(keys(await newest(storage, ["n"])), ["k4", "k3", "k2", "k1"]);
    await put(storage, newItem(["n", "2"], "k2", { updatedAt: 5 }));
    assert.deepEqual(keys(await newest(storage, ["n"])), ["k2", "k4", "k3", "k1"]);
    const pages: (readonly string[] | null)[] = [];
    for (let after: StorePlace | null = null; pages.length < 9;) {
      const page: StorePage = { prefix: ["n"], after, limit: 2, at: NOW };
      const { refs, next }: StoreRefs = await storage.read((tx) => tx.newestStoreItems(page));
      pages.push(keys(refs));
      if (next === null) break;
      after = next;
    }
    assert.deepEqual(pages, [["k2", "k4"], ["k3", "k1"], []]);
  });

  test("a list has the size of each value, and the items are read by their ids", { skip: isSealed }, async (t) => {
    const storage = await open(t);
    const one = newItem(["n"], "one", { value: odd, ttlMs: 5, expiresAt: NOW + 5 });
    await put(storage, one);
    await put(storage, newItem(["n"], "two", { value: { text: "x".repeat(1000) }, updatedAt: 9 }));
    const refs = await newest(storage, ["n"]);
    const [two, first] = refs;
    assert.ok(two !== undefined && first !== undefined);
    assert.deepEqual([two.namespace, two.ttlMs, two.score, two.bytes], [["n"], null, null, 1011]);
    assert.equal(first.ttlMs, 5);
    const read = (at: number) =>
      storage.read((tx) =>
        tx.storeItems(
          refs.map(({ itemId }) => itemId),
          at,
        ),
      );
    assert.deepEqual((await read(NOW)).get(first.itemId), one);
    assert.deepEqual([...(await read(NOW + 5)).keys()], [two.itemId]);
    await put(storage, { ...one, updatedAt: 10 });
    assert.deepEqual([...(await read(NOW)).keys()], [two.itemId], "a replaced item has another id");
  });

  test("an expired item is invisible, unless refreshed in time (contract/store.3)", async (t) => {
    const storage = await open(t);
    const [short, long] = [newItem(["n"], "short", { ttlMs: 10, expiresAt: NOW }), newItem(["n"], "long")];
    await put(storage, short, [{ field: "x", vector: vector(1) }]);
    await put(storage, long, [{ field: "x", vector: vector(1) }]);
    const seen = async (at: number) => {
      const [item, list, near, names] = await storage.transaction(async (tx) => [
        await tx.storeItem(["n"], "short", at),
        (await tx.newestStoreItems({ prefix: ["n"], after: null, limit: 9, at })).refs,
        await tx.nearestStoreItems({ prefix: ["n"], vector: vector(1), scanMax: 9, at }),
        await tx.storeNamespaces(spaces({ at })),
      ]);
      return [item !== null, list.length, near?.length, names];
    };
    assert.deepEqual(await seen(NOW - 1), [true, 2, 2, [["n"]]]);
    assert.deepEqual(await seen(NOW), [false, 1, 1, [["n"]]]);
    await storage.transaction((tx) => tx.refreshStoreItems([short, long], NOW));
    assert.deepEqual(await seen(NOW + 9), [true, 2, 2, [["n"]]]);
    assert.deepEqual(await seen(NOW + 10), [false, 1, 1, [["n"]]]);
    await storage.transaction((tx) => tx.deleteStoreItem(["n"], "long"));
    assert.deepEqual(await seen(NOW + 10), [false, 0, 0, []]);
  });

  test("a sweep deletes expired items, up to a limit per call (contract/store.3)", async (t) => {
    const storage = await open(t);
    for (const at of [1, 2, 3, 4]) {
      await put(storage, newItem(["n"], `k${at}`, { ttlMs: 1, expiresAt: at }), [{ field: "x", vector: vector(1) }]);
    }
    await put(storage, newItem(["n"], "kept"));
    const sweep = (at: number) => storage.transaction((tx) => tx.deleteExpiredStoreItems(at, 2));
    assert.deepEqual([await sweep(3), await sweep(3), await sweep(3)], [2, 1, 0]);
    const left = keys(await newest(storage, ["n"], 0));
    assert.deepEqual(new Set(left), new Set(["k4", "kept"]));
    assert.deepEqual(keys(await nearest(storage, ["n"], vector(1), { at: 0 })), ["k4"]);
  });

  test("the best vector ranks an item; items without a comparable vector are left out", async (t) => {
    const storage = await open(t);
    const at = (...numbers: readonly number[]): StoreVector => ({ field: numbers.join(), vector: vector(...numbers) });
    await put(storage, newItem(["n"], "same"), [at(2, 0)]);
    await put(storage, newItem(["n", "m"], "half"), [at(0, 3), at(4, 3)]);
    await put(storage, newItem(["n"], "across"), [at(0, 1)]);
    await put(storage, newItem(["n"], "against"), [at(-1, 0)]);
    await put(storage, newItem(["n"], "longer"), [at(1, 0, 0)]);
    await put(storage, newItem(["n"], "nowhere"), [at(0, 0)]);
    await put(storage, newItem(["n"], "none"));
    await put(storage, newItem(["other"], "same"), [at(1, 0)]);
    const found = await nearest(storage, ["n"], vector(1, 0));
    assert.deepEqual(
      found?.map(({ key, score }) => [key, Math.round((score ?? 9) * 1000) / 1000]),
      [
        ["same", 1],
        ["half", 0.8],
        ["across", 0],
        ["against", -1],
      ],
    );
  });

  test("a search that would read too much returns no result (contract/store.4)", async (t) => {
    const storage = await open(t);
    for (let at = 0; at < 10; at++) {
      await put(storage, newItem(["n", String(at)], "k", { updatedAt: at }), [{ field: "x", vector: vector(1) }]);
    }
    assert.equal((await nearest(storage, ["n"], vector(1), { scanMax: 10 }))?.length, 10);
    assert.equal(await nearest(storage, ["n"], vector(1), { scanMax: 9 }), null);
    const list = (changes: Partial<NamespaceQuery>) => storage.read((tx) => tx.storeNamespaces(spaces(changes)));
    assert.equal((await list({ scanMax: 10 }))?.length, 10);
    assert.equal(await list({ suffix: ["none"], scanMax: 9 }), null);
  });

  test("each namespace is listed once, by prefix, suffix and depth, in pages", async (t) => {
    const storage = await open(t);
    const all = ["a- v1", "a", "a x", "a x v1", "a y v1", "b x v1", "b x v2"];
    for (const name of all) for (const key of ["1", "2", "3"]) await put(storage, newItem(name.split(" "), key));
    const cases: readonly (readonly [query: Partial<NamespaceQuery>, found: readonly string[]])[] = [
      [{}, all],
      [{ prefix: ["a"] }, ["a", "a x", "a x v1", "a y v1"]],
      [{ prefix: ["a", "x"] }, ["a x", "a x v1"]],
      [{ prefix: ["*", "x"] }, ["a x", "a x v1", "b x v1", "b x v2"]],
      [{ prefix: ["b", "*", "v2"] }, ["b x v2"]],
      [{ suffix: ["v1"] }, ["a- v1", "a x v1", "a y v1", "b x v1"]],
      [{ suffix: ["x", "*"] }, ["a x v1", "b x v1", "b x v2"]],
      [{ prefix: ["a"], suffix: ["v1"] }, ["a x v1", "a y v1"]],
      [{ prefix: ["a", "x", "v1", "more"] }, []],
      [{ depthMax: 1 }, ["a-", "a", "b"]],
      [{ depthMax: 2 }, ["a- v1", "a", "a x", "a y", "b x"]],
      [{ depthMax: 1, suffix: ["v1"] }, ["a-", "a", "b"]],
      [{ limit: 2, offset: 1 }, ["a", "a x"]],
      [{ depthMax: 1, limit: 1, offset: 2 }, ["b"]],
      [{ offset: 7 }, []],
    ];
    for (const [query, expected] of cases) {
      const found = await storage.read((tx) => tx.storeNamespaces(spaces(query)));
      assert.deepEqual(
        found?.map((labels) => labels.join(" ")),
        expected,
        JSON.stringify(query),
      );
    }
  });
}
