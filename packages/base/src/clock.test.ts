// Tests of the clock: waits of any length, cancellation, the two kinds of time, the form of a time on the wire.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isoTime, systemClock } from "./clock.ts";

const DAY_MS = 86_400_000;
/** Calls `tick` in steps: a mocked timer set while time passes takes effect only in the next call. */
const STEP_MS = DAY_MS;

const WAITS: readonly { readonly name: string; readonly ms: number; readonly notBefore: number }[] = [
  { name: "no time", ms: 0, notBefore: 0 },
  { name: "less than no time", ms: -5, notBefore: 0 },
  { name: "two days", ms: 2 * DAY_MS, notBefore: 2 * DAY_MS },
  { name: "100 days, more than a timer can count", ms: 100 * DAY_MS, notBefore: 100 * DAY_MS },
];

for (const { name, ms, notBefore } of WAITS) {
  test(`a wait of ${name} calls back once, and not early`, (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const called: number[] = [];
    let passed = 0;
    systemClock.after(ms, () => called.push(passed));
    t.mock.timers.tick(1);
    while (passed <= notBefore + 2 * STEP_MS) {
      passed += STEP_MS;
      t.mock.timers.tick(STEP_MS);
    }
    assert.equal(called.length, 1);
    assert.ok((called[0] ?? -1) >= notBefore, `called after ${called[0]} ms`);
  });
}

for (const passedMs of [0, 60 * DAY_MS]) {
  test(`a wait of 100 days cancelled after ${passedMs / DAY_MS} days never calls back`, (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    let calls = 0;
    const cancel = systemClock.after(100 * DAY_MS, () => (calls += 1));
    for (let passed = 0; passed < passedMs; passed += STEP_MS) t.mock.timers.tick(STEP_MS);
    cancel();
    for (let passed = 0; passed < 200 * DAY_MS; passed += STEP_MS) t.mock.timers.tick(STEP_MS);
    assert.equal(calls, 0);
  });
}

test("the wall clock may jump, the monotonic one does not", (t) => {
  const before = systemClock.monotonic();
  t.mock.timers.enable({ apis: ["Date"], now: 5 });
  assert.equal(systemClock.now(), 5);
  const between = systemClock.monotonic();
  assert.ok(between >= before && between - before < DAY_MS);
});

test("a time on the wire is ISO 8601 in UTC with milliseconds", () => {
  assert.equal(isoTime(0), "1970-01-01T00:00:00.000Z");
  assert.equal(isoTime(Date.UTC(2026, 11, 31, 23, 59, 59, 999)), "2026-12-31T23:59:59.999Z");
});
