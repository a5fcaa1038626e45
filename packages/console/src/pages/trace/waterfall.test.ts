// Test of the waterfall's geometry.
import assert from "node:assert/strict";
import { test } from "node:test";
import { measureBar, microTime, listTicks, type Bar } from "./waterfall.ts";

const TRACE = { startUs: 1000, endUs: 2000 };

const BARS: readonly (readonly [name: string, span: readonly [from: number, to: number, token?: number], bar: Bar])[] =
  [
    ["the whole trace", [1000, 2000], { left: 0, width: 100, tick: null }],
    ["the second half", [1500, 2000], { left: 50, width: 50, tick: null }],
    ["a first token halfway", [1000, 1200, 1100], { left: 0, width: 20, tick: 50 }],
    ["a first token that came outside", [1000, 1200, 1900], { left: 0, width: 20, tick: null }],
    ["no time at all", [1500, 1500, 1500], { left: 50, width: 0, tick: null }],
    ["a clock that went back", [1500, 1400], { left: 50, width: 0, tick: null }],
    ["a child before its root", [0, 1100], { left: 0, width: 10, tick: null }],
    ["a child after its root", [1900, 9000], { left: 90, width: 10, tick: null }],
  ];

for (const [name, [from, to, token], bar] of BARS) {
  test(`the bar of ${name}`, () => assert.deepEqual(measureBar(TRACE, from, to, token), bar));
}

test("a trace without length divides by nothing", () => {
  assert.deepEqual(measureBar({ startUs: 5, endUs: 5 }, 5, 5, undefined), { left: 0, width: 0, tick: null });
});

const TICKS: readonly (readonly [length: number, ticks: readonly number[]])[] = [
  [0, [0]],
  [1000, [0, 200, 400, 600, 800, 1000]],
  [87_000, [0, 20_000, 40_000, 60_000, 80_000]],
  [9_300_000, [0, 2_000_000, 4_000_000, 6_000_000, 8_000_000]],
  [2_640_000_000, [0, 600_000_000, 1_200_000_000, 1_800_000_000, 2_400_000_000]],
];

for (const [length, ticks] of TICKS) {
  test(`lines of ${length} µs are at round times`, () => assert.deepEqual(listTicks(length, 5), ticks));
}

const TIMES: readonly (readonly [us: number, text: string])[] = [
  [0, "0 µs"],
  [850, "850 µs"],
  [1234, "1.23 ms"],
  [87_000, "87 ms"],
  [1_234_567, "1.23 s"],
  [90_000_000, "1.5 m"],
  [7_200_000_000, "2 h"],
];

for (const [us, text] of TIMES) test(`${us} µs is ${text}`, () => assert.equal(microTime(us), text));
