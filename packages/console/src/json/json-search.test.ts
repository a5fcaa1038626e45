// Test of the search in a value: names and scalars, in the order in which they are written, never more than asked for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathsIn } from "./json-search.ts";

const STATE = { order: { id: 1042, items: [{ name: "Lamp" }, { name: "lampshade" }] }, lamps: 2, note: null };

const CASES: readonly (readonly [wanted: string, paths: readonly string[]])[] = [
  ["lamp", ["order.items[0].name", "order.items[1].name", "lamps"]],
  ["1042", ["order.id"]],
  ["items", ["order.items"]],
  ["null", ["note"]],
  ["nowhere", []],
];

for (const [wanted, paths] of CASES) {
  test(`"${wanted}" is found at ${paths.join(", ") || "no place"}`, () => {
    assert.deepEqual(
      pathsIn(STATE, wanted, 10).map(({ path }) => path),
      paths,
    );
  });
}

test("the search ends when enough is found", () => assert.equal(pathsIn(STATE, "lamp", 2).length, 2));
