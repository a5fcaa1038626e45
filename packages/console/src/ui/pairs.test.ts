// Test of the pairs that people type into filters.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePairs } from "./pairs.ts";

test("pairs keep JSON types, and omit incomplete pairs", () => {
  assert.deepEqual(parsePairs("a=1,b=true,c=x=y,=z,lonely,d="), { a: 1, b: true, c: "x=y", d: "" });
});
