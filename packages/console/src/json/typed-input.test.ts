// Tests of typed input: numbers with either decimal separator (typed-input.1), times with their zone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDate, isZonedTime, localTime, parseNumber, zonedTime } from "./typed-input.ts";

for (const [text, value] of [
  ["99.5", 99.5],
  ["99,5", 99.5],
  [" -0,25 ", -0.25],
  ["1e3", 1000],
  ["1,2345", 1.2345],
  ["1,000", Number.NaN],
  ["1.000,5", Number.NaN],
  ["", Number.NaN],
  ["a", Number.NaN],
] as const) {
  test(`${JSON.stringify(text)} is ${value} (typed-input.1)`, () => assert.equal(parseNumber(text), value));
}

test("a local time and its zoned time are the same moment", () => {
  for (const text of ["2026-12-01T11:30:00Z", "2026-07-01T23:59:07Z", "2026-02-28T00:00:00+02:00"]) {
    assert.equal(Date.parse(zonedTime(localTime(text))), Date.parse(text));
    assert.ok(isZonedTime(zonedTime(localTime(text))));
  }
  assert.equal(localTime("tomorrow"), "");
});

test("dates and times are those of RFC 3339", () => {
  assert.deepEqual(["2026-02-28", "2026-02-30", "2026-2-8", "28.02.2026"].map(isDate), [true, false, false, false]);
  const times = ["2026-12-01T12:00:00Z", "2026-12-01T12:00:00.5+01:00", "2026-12-01T12:00", "2026-12-01"];
  assert.deepEqual(times.map(isZonedTime), [true, true, false, false]);
});
