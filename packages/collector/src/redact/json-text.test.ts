import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as check, json, property, string } from "fast-check";
import { parseJson } from "./json-text.ts";

for (const text of [
  "4111111111111111111",
  "[9007199254740993]",
  '{"a":1.0,"b":1e400,"c":-0,"d":0.12345678901234567890}',
  "[1.50, 2E3]",
])
  test(`the digits of ${text} stay`, () => {
    assert.equal(JSON.stringify(parseJson(text)?.value), text.replaceAll(" ", ""));
  });

for (const [text, hasRepeats] of [
  ['{"a":1,"b":{"a":2}}', false],
  ['{"a":{"x":1},"a":2}', true],
  ['[{"b":":","c":"\\":"}]', false],
  [String.raw`{"a":1,"\u0061":2}`, true],
] as const)
  test(`${text} has ${hasRepeats ? "a name twice" : "no name twice"}`, () => {
    assert.equal(parseJson(text)?.hasRepeats, hasRepeats);
  });

test("any JSON has the same value, and its repeated names are seen", () => {
  check(
    property(json(), string(), (text, name) => {
      assert.deepEqual(JSON.parse(JSON.stringify(parseJson(text)?.value)), JSON.parse(text));
      assert.equal(parseJson(text)?.hasRepeats, false);
      const key = JSON.stringify(name);
      assert.equal(parseJson(`{${key}:${text},${key}:1}`)?.hasRepeats, true);
    }),
    { verbose: 1 }, // a failure prints its seed and path
  );
});

test("what is no JSON, or nests too deep, is none", () => {
  for (const text of ["", "{", "[1,]", "NaN", "'a'", `${"[".repeat(513)}${"]".repeat(513)}`])
    assert.equal(parseJson(text), null);
});
