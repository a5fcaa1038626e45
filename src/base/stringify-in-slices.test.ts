// Tests of JSON that is written in slices. Checked: stringify-in-slices.1, stringify-in-slices.2,
// stringify-in-slices.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { LONG_UNITS, PIECE_UNITS, isLong, estimatedUnits, stringifyInSlices } from "./stringify-in-slices.ts";

const PAD = "x".repeat(PIECE_UNITS);

/** Long enough to be written in slices, with the value in every place where it is cut. */
const around = (value: unknown): unknown => ({
  first: value,
  pads: Array.from({ length: 10 }, () => PAD),
  list: [
    value,
    PAD,
    value,
    [PAD, value, PAD],
    { pad: PAD, value, more: PAD },
    ...Array.from({ length: 50 }, () => value),
  ],
  last: value,
});

test("a long value has the same text as JSON.stringify (stringify-in-slices.1)", async () => {
  const odd = [
    undefined,
    () => 1,
    Symbol("x"),
    new Date(0),
    [undefined],
    { a: undefined },
    NaN,
    -0,
    "\ud800",
    { toJSON: () => 7 },
  ];
  for (const value of odd) assert.equal(await stringifyInSlices(around(value)), JSON.stringify(around(value)));
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
      assert.equal(await stringifyInSlices(around(value)), JSON.stringify(around(value)));
    }),
    { numRuns: 50 },
  );
});

test("a cycle is refused as JSON.stringify does (stringify-in-slices.1)", async () => {
  const list: unknown[] = Array.from({ length: 20 }, () => PAD);
  list.push(list);
  await assert.rejects(stringifyInSlices(list), TypeError);
});

test("while a long value is written, the loop turns (stringify-in-slices.2)", async () => {
  const value = { rows: Array.from({ length: 60_000 }, (_, at) => ({ at, name: `row ${at}`, inner: [at, null] })) };
  let turns = 0;
  let writing = true;
  const count = (): void => {
    turns++;
    if (writing) setImmediate(count);
  };
  setImmediate(count);
  const text = await stringifyInSlices(value);
  writing = false;
  assert.equal(text, JSON.stringify(value));
  assert.ok(turns >= 2, `${turns} turns`);
});

test("the estimate stops at its limit (stringify-in-slices.3)", () => {
  let reads = 0;
  const list = new Proxy(
    Array.from({ length: 1e6 }, () => 1),
    {
      get(target, key) {
        if (typeof key === "string" && key !== "length") reads++;
        return Reflect.get(target, key) as unknown;
      },
    },
  );
  assert.ok(estimatedUnits(list, 1000) > 1000);
  assert.ok(reads < 1000, `${reads} reads`);
  assert.ok(isLong("x".repeat(LONG_UNITS)) && !isLong({ a: [1, "x", null] }));
});
