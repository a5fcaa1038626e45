// Tests of filters that authorization handlers answer for the store. Checked:
//   store-filters.1. A filter applies to `{...value, namespace, key}`; items outside it read, list and delete as if
//        they did not exist.
//   store-filters.2. A write neither replaces an item outside the filter nor creates one.
//   store-filters.3. Limit and offset count the items that fit.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";

const server = await startServerHere({ config: join(ROOT, "test/graphs/tenants/store-filters.json") });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

type Item = readonly [namespace: string, key: string, value: object];
const ITEMS: readonly Item[] = [
  ["docs.ann", "plan", { owner: "ann", tags: ["red", "blue"] }],
  ["docs.kim", "plan", { owner: "kim", tags: ["red"] }],
  ["docs.kim", "shared", { owner: "ann", tags: [] }],
  ["docs.all", "shared", { owner: "kim", namespace: ["kim"], key: "no" }],
  ["docs.all", "unowned", { text: "x" }],
];
const READABLE: Readonly<Record<string, readonly number[]>> = {
  ann: [0, 2],
  kim: [1, 2],
  key: [2, 3],
  tag: [0],
  free: [0, 1, 2, 3, 4],
};
const NAMESPACES: Readonly<Record<string, readonly string[]>> = {
  ann: [], // a namespace has no owner
  kim: ["docs.kim"],
  free: ["docs.all", "docs.ann", "docs.kim"],
};

const ask = (name: string, method: string, path: string, body?: object) =>
  call(server, method, path, body, { authorization: `Bearer token-${name}` });
const place = (at: number) => `${ITEMS[at]?.[0]}/${ITEMS[at]?.[1]}`;
const search = async (name: string, more: object = {}): Promise<readonly string[]> => {
  const { body } = await ask(name, "POST", "/store/items/search", { limit: 50, ...more });
  const { items } = body as { readonly items: readonly { readonly namespace: string[]; readonly key: string }[] };
  return items.map(({ namespace, key }) => `${namespace.join(".")}/${key}`);
};
const put = (name: string, [namespace, key, value]: Item) =>
  ask(name, "PUT", "/store/items", { namespace: namespace.split("."), key, value });

before(async () => {
  for (const item of ITEMS) assert.equal((await put("free", item)).status, 204);
});

for (const [name, readable] of Object.entries(READABLE))
  test(`${name} reads and lists the matches of the filter, and nothing else (store-filters.1)`, async () => {
    for (const [at, [namespace, key]] of ITEMS.entries()) {
      const { status, body } = await ask(name, "GET", `/store/items?namespace=${namespace}&key=${key}`);
      assert.deepEqual([status, body === null], [200, !readable.includes(at)], place(at));
    }
    assert.deepEqual((await search(name)).toSorted(), readable.map(place).toSorted());
    const expected = NAMESPACES[name];
    if (expected === undefined) return;
    const { body } = await ask(name, "POST", "/store/namespaces", {});
    const { namespaces } = body as { readonly namespaces: readonly string[][] };
    assert.deepEqual(namespaces.map((one) => one.join(".")).toSorted(), expected);
  });

test("limit and offset count items that fit, across the pages that are looked at (store-filters.3)", async () => {
  for (let at = 0; at < 450; at++) await put("free", ["pages", `k${at}`, { owner: at % 150 === 149 ? "ann" : "kim" }]);
  const all = await search("ann", { namespace_prefix: ["pages"] });
  assert.deepEqual(all, ["pages/k449", "pages/k299", "pages/k149"], "newest first, as without a filter");
  assert.deepEqual(await search("ann", { namespace_prefix: ["pages"], limit: 1, offset: 1 }), all.slice(1, 2));
  assert.deepEqual(await search("ann", { namespace_prefix: ["pages"], offset: 3 }), []);
});

test("nothing is written outside the filter (store-filters.2)", async () => {
  const [foreign, own] = [
    ["docs.all", "shared", { owner: "ann" }],
    ["docs.new", "n", { owner: "ann" }],
  ] as const;
  assert.equal((await put("ann", foreign)).status, 403, "over an item that does not fit");
  assert.equal((await put("ann", ["docs.new", "n", { owner: "kim" }])).status, 403, "as an item that does not fit");
  assert.equal((await put("ann", ["docs.ann", "plan", { owner: "kim" }])).status, 403, "out of the filter");
  assert.equal((await put("ann", own)).status, 204);
  assert.equal(
    (await put("kim", ["docs.kim.deep", "n", { namespace: "x" }])).status,
    204,
    "the namespace is the item's",
  );
  const removed = { namespace: ["docs", "all"], key: "unowned" };
  assert.equal((await ask("ann", "DELETE", "/store/items", removed)).status, 204, "as an item that does not exist");
  assert.ok((await search("free", { namespace_prefix: ["docs", "all"] })).includes("docs.all/unowned"));
  assert.equal((await ask("ann", "DELETE", "/store/items", { namespace: ["docs", "new"], key: "n" })).status, 204);
  assert.deepEqual(await search("free", { namespace_prefix: ["docs", "new"] }), []);
});
