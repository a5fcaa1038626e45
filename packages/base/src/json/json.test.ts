// Tests of the JSON helpers: the exact depth limit, hostile depth, containment case by case.
import assert from "node:assert/strict";
import { test } from "node:test";
import { contains, fitsDepth, isJsonObject, type Json } from "./json.ts";

function arrays(levels: number): unknown {
  return JSON.parse("[".repeat(levels) + "]".repeat(levels));
}

function objects(levels: number): unknown {
  return JSON.parse('{"a":'.repeat(levels) + "1" + "}".repeat(levels));
}

const DEPTHS: readonly {
  readonly name: string;
  readonly value: unknown;
  readonly levels: number;
  readonly fits: boolean;
}[] = [
  { name: "a scalar at limit 0", value: 1, levels: 0, fits: true },
  { name: "null at limit 0", value: null, levels: 0, fits: true },
  { name: "an empty array at limit 0", value: [], levels: 0, fits: false },
  { name: "an empty object at limit 0", value: {}, levels: 0, fits: false },
  { name: "500 arrays at limit 500", value: arrays(500), levels: 500, fits: true },
  { name: "501 arrays at limit 500", value: arrays(501), levels: 500, fits: false },
  { name: "500 objects at limit 500", value: objects(500), levels: 500, fits: true },
  { name: "501 objects at limit 500", value: objects(501), levels: 500, fits: false },
  { name: "the deep member last", value: { a: 1, b: [], c: [[]] }, levels: 2, fits: false },
  { name: "many flat members", value: Array.from({ length: 100_000 }, () => ({})), levels: 2, fits: true },
  { name: "depth below a __proto__ key", value: JSON.parse('{"__proto__":[[]]}'), levels: 2, fits: false },
  { name: "a million arrays", value: arrays(1_000_000), levels: 500, fits: false },
  { name: "a million objects", value: objects(1_000_000), levels: 500, fits: false },
];

for (const { name, value, levels, fits } of DEPTHS) {
  test(`depth: ${name} ${fits ? "fits" : "does not fit"}`, () => assert.equal(fitsDepth(value, levels), fits));
}

const CONTAINED: readonly (readonly [whole: Json | undefined, part: Json, contained: boolean])[] = [
  [1, 1, true],
  [1, 2, false],
  [1, "1", false],
  [0, false, false],
  [null, null, true],
  [undefined, null, false],
  ["a", "a", true],
  ["ab", "a", false],
  [{}, {}, true],
  [{ a: 1 }, {}, true],
  [{}, { a: 1 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: null }, { a: null }, true],
  [{}, { a: null }, false],
  [{ a: { b: { c: 1, d: 2 } } }, { a: { b: { c: 1 } } }, true],
  [{ a: { b: 1 } }, { a: {} }, true],
  [{ a: [] }, { a: {} }, false],
  [{ a: {} }, { a: [] }, false],
  [[], {}, false],
  [{}, [], false],
  [{ 0: 1 }, [1], false],
  [[1], [], true],
  [[1, 2, 3], [3, 1], true],
  [[1, 2], [1, 1], true],
  [[1, 2], [1, 4], false],
  [[[1, 2], [3]], [[1]], true],
  [[[1, 2], [3]], [1], false],
  [[{ a: 1, b: 2 }], [{ a: 1 }], true],
  [[{ a: 1 }, { b: 2 }], [{ a: 1, b: 2 }], false],
  [["a", "b"], "a", false],
  [{}, { toString: 1 }, false],
  [{}, { constructor: {} }, false],
  [{ a: 1 }, JSON.parse('{"__proto__":{}}') as Json, false],
  [JSON.parse('{"__proto__":{"a":1}}') as Json, JSON.parse('{"__proto__":{}}') as Json, true],
];

for (const [whole, part, contained] of CONTAINED) {
  test(`containment: ${JSON.stringify(whole)} ${contained ? "contains" : "does not contain"} ${JSON.stringify(part)}`, () =>
    assert.equal(contains(whole, part), contained));
}

test("a JSON object is neither null nor an array nor a scalar", () => {
  assert.deepEqual([{}, { a: 1 }, null, [], "a", 1, true, undefined].map(isJsonObject), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
