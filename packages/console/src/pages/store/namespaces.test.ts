// Test of the namespaces as a tree, and of the page's requests to the store.
import assert from "node:assert/strict";
import { test } from "node:test";
import { splitLabels, buildRows, buildSearch } from "./namespaces.ts";

test("namespaces become a tree with their parents, each once", () => {
  const rows = buildRows([["users", "7", "notes"], ["docs"], ["users", "4711"], ["users", "4711", "memories"]]);
  assert.deepEqual(
    rows.map(({ path, label, level }) => `${" ".repeat(level)}${label} ${path}`),
    [
      "docs docs",
      "users users",
      " 4711 users.4711",
      "  memories users.4711.memories",
      " 7 users.7",
      "  notes users.7.notes",
    ],
  );
});

const CASES = [
  { name: "nothing looks everywhere", view: {}, asks: { namespace_prefix: [] } },
  { name: "a namespace looks below it", view: { in: "users.7" }, asks: { namespace_prefix: ["users", "7"] } },
  {
    name: "words rank by meaning, pairs filter, with their types",
    view: { find: "food", filter: "kind=diet, age=3" },
    asks: { namespace_prefix: [], query: "food", filter: { kind: "diet", age: 3 } },
  },
];

for (const { name, view, asks } of CASES) {
  test(`${name}, and looking is no use of an item`, () => {
    const body = buildSearch(view, 50, 100);
    assert.deepEqual(body, { ...asks, limit: 50, offset: 100, refresh_ttl: false });
  });
}

test("no path has no labels", () => {
  assert.deepEqual(splitLabels(""), []);
  assert.deepEqual(splitLabels(undefined), []);
});
