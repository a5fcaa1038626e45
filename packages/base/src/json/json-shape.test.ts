// Tests of the shape of a JSON text, against the value that the engine reads.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { findShapeFault } from "./json-shape.ts";
import { fitsDepth } from "./json.ts";

function countWidest(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Math.max(0, ...Object.values(value).map(countWidest));
  return Array.isArray(value) ? inside : Math.max(inside, Object.keys(value).length);
}

test("a text has the depth and the width of its value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(6), fc.nat({ max: 5 }), (value, levels, members) => {
      const fault = findShapeFault(JSON.stringify(value, null, 1), levels, members + 1);
      const isDeep = !fitsDepth(value, levels);
      const isWide = countWidest(value) > members + 1;
      assert.equal(fault !== null, isDeep || isWide);
      if (isDeep !== isWide) assert.equal(fault, isDeep ? "too_deep" : "too_wide");
    }),
  );
});

const ROWS: readonly (readonly [text: string, fault: string | null])[] = [
  ['{"a":"[[[[{{{{,,,,","b":"\\"[[[["}', null],
  ['{"a":"\\\\","b":[[[]]]}', "too_deep"],
  ["[[[[", "too_deep"],
  ["]]]][[[", null],
  ['{"a":1,"b":2,"c":3,"d":4}', "too_wide"],
  ['{"a":[1,2,3,4,5],"b":[1,2,3,4,5]}', null],
  ['{"a":1,"b":{},"c":2,"d":3', "too_wide"],
  ['"', null],
  ["", null],
];

for (const [text, fault] of ROWS)
  test(`the shape of ${text}: ${fault ?? "fits"}`, () => assert.equal(findShapeFault(text, 3, 3), fault));
