// Tests of the size of JSON.
import assert from "node:assert/strict";
import { test } from "node:test";
import { exceedsBytes } from "./json-size.ts";

const VALUES = [
  null,
  true,
  -1.5e21,
  "",
  'a "quoted" \\ line\n\u0001',
  "жæ€\u{1f600}\ud800",
  [],
  [[]],
  [1, "two", [null, false]],
  {},
  { a: 1 },
  { "ключ \n": [{ b: {} }, { c: [] }], __proto: "x", d: 1e-7 },
];

test("a value exceeds exactly the limits below the bytes of its text (json-size.1)", () => {
  for (const value of VALUES) {
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text);
    assert.deepEqual([exceedsBytes(value, bytes - 1), exceedsBytes(value, bytes)], [true, false], text);
  }
});

test("a count ends at the limit (json-size.2)", () => {
  let read = 0;
  const item = {
    get a() {
      read++;
      return "some text";
    },
  };
  assert.ok(
    exceedsBytes(
      Array.from({ length: 100_000 }, () => item),
      150_000,
    ),
  );
  assert.ok(exceedsBytes(Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`key ${at}`, item])), 2000));
  assert.ok(read < 10_000, `${read}`);
});
