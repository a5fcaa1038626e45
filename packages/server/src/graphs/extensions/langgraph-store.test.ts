// Tests of plain JSON: values with a JSON form, and errors instead of silent loss (plain-json.1, plain-json.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { toPlainJson } from "./langgraph-store.ts";

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;
const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
};

test("JSON yields an equal copy (plain-json.2)", () => {
  const value = JSON.parse('{"a":[1,"x",null,true,{"__proto__":{"b":2}}],"":{}}') as Record<string, unknown>;
  const copy = toPlainJson(value) as typeof value;
  assert.deepEqual(copy, value);
  (value["a"] as unknown[]).push("later");
  assert.notDeepEqual(copy, value);
});

test("a value with toJSON becomes its result; an undefined member is omitted", () => {
  const value = { at: new Date(0), link: new URL("http://a.b/"), none: undefined };
  assert.deepEqual(toPlainJson(value), { at: "1970-01-01T00:00:00.000Z", link: "http://a.b/" });
});

const REFUSED: readonly (readonly [name: string, value: unknown, says: RegExp])[] = [
  ["a function", { f: () => 1 }, /"f" is a function/],
  ["a symbol", { s: Symbol("x") }, /"s" is a symbol/],
  ["NaN", { n: Number.NaN }, /"n" is NaN/],
  ["infinity", [Infinity], /"0" is Infinity/],
  ["a hole in a list", [undefined], /"0" is undefined/],
  ["nothing at all", undefined, /it is undefined/],
  ["a map", { m: new Map([[1, 2]]) }, /"m" is a Map/],
  ["a set", { m: new Set([1]) }, /"m" is a Set/],
  ["bytes", { b: new Uint8Array(2) }, /"b" is a Uint8Array/],
  ["a bigint", { b: 1n }, /BigInt/],
  ["a cycle", cycle, /circular/],
  ["501 levels", nested(501), /more than 500 levels/],
];

for (const [name, value, says] of REFUSED) {
  test(`${name} fails (plain-json.1)`, () => {
    assert.throws(() => toPlainJson(value), says);
  });
}
