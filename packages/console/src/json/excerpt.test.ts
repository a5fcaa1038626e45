// Tests of excerpts: the beginning of a value, without its end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatExcerpt, isLarge, LARGE_UNITS } from "./excerpt.ts";

const VALUE = { a: [1, "two", null, { b: true }], c: "x".repeat(50), d: {} };

test("a short value is its JSON, a long one the beginning of it", () => {
  const text = JSON.stringify(VALUE);
  assert.equal(formatExcerpt(VALUE, 1000), text);
  for (let units = 0; units < 40; units++) assert.equal(formatExcerpt(VALUE, units), text.slice(0, units));
});

test("of a large value only the beginning is read", () => {
  let read = 0;
  const list = Array.from({ length: 100_000 }, () => ({
    get text() {
      read++;
      return "word";
    },
  }));
  assert.equal(formatExcerpt(list, 30).length, 30);
  assert.ok(read < 10, `${read} read`);
});

test("large is a text, a list or names beyond the limit", () => {
  const long = "x".repeat(LARGE_UNITS + 1);
  assert.deepEqual([VALUE, "short", null].map(isLarge), [false, false, false]);
  for (const value of [long, [long], { [long]: 1 }, Array.from({ length: LARGE_UNITS }, () => 1)])
    assert.ok(isLarge(value));
});
