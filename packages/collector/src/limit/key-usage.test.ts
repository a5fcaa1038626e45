import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Amount,
  charged,
  type KeyLimit,
  overLimit,
  type OverLimit,
  beginUsage,
  refillUsage,
} from "./key-usage.ts";

const NONE: KeyLimit = { itemsPerSecond: null, burst: 1, itemsPerDay: null, bytesPerDay: null, usdPerDay: null };
const RATE: KeyLimit = { ...NONE, itemsPerSecond: 2, burst: 10 };
const NOON = Date.UTC(2026, 0, 1, 12);
const HALF_DAY_S = 43_200;

/** Requests `[seconds after noon, items, bytes]`, and the decision about one more at `atSeconds`. */
const CASES: readonly (readonly [
  name: string,
  limit: KeyLimit,
  requests: readonly (readonly [number, number, number])[],
  atSeconds: number,
  expected: OverLimit | null,
])[] = [
  ["no limit refuses nothing", NONE, [[0, 1e9, 1e12]], 0, null],
  ["a full bucket passes", RATE, [], 0, null],
  ["a request within the burst leaves tokens", RATE, [[0, 9, 0]], 0, null],
  ["an empty bucket refuses until the first token", RATE, [[0, 10, 0]], 0, wait("items_per_second", 1)],
  ["a token comes with time", RATE, [[0, 10, 0]], 0.5, null],
  ["a request larger than the burst passes", RATE, [[0, 100, 0]], 0, wait("items_per_second", 46)],
  ["its debt counts until it is paid", RATE, [[0, 100, 0]], 45, wait("items_per_second", 1)],
  ["and no longer", RATE, [[0, 100, 0]], 45.5, null],
  [
    "the bucket never holds more than the burst",
    RATE,
    [
      [0, 10, 0],
      [3600, 10, 0],
    ],
    3600,
    wait("items_per_second", 1),
  ],
  ["below the quota passes", { ...NONE, itemsPerDay: 5 }, [[0, 4, 0]], 0, null],
  [
    "at the quota of items waits for midnight",
    { ...NONE, itemsPerDay: 5 },
    [[0, 5, 0]],
    0,
    wait("items_per_day", HALF_DAY_S),
  ],
  ["at the quota of bytes too", { ...NONE, bytesPerDay: 5 }, [[0, 1, 7]], 1, wait("bytes_per_day", HALF_DAY_S - 1)],
  [
    "the last moment of a day still counts",
    { ...NONE, itemsPerDay: 5 },
    [[0, 5, 0]],
    HALF_DAY_S - 0.001,
    wait("items_per_day", 1),
  ],
  ["a new day has a new quota", { ...NONE, itemsPerDay: 5 }, [[0, 5, 0]], HALF_DAY_S, null],
  ["the quota outlasts the bucket", { ...RATE, itemsPerDay: 10 }, [[0, 10, 0]], 0, wait("items_per_day", HALF_DAY_S)],
];

function wait(reason: OverLimit["reason"], retryAfterSeconds: number): OverLimit {
  return { reason, retryAfterSeconds };
}

const at = (seconds: number): { readonly steadyMs: number; readonly wallMs: number } => ({
  steadyMs: 1000 + seconds * 1000,
  wallMs: NOON + seconds * 1000,
});

describe("key-usage.1 key-usage.2 key-usage.3 a key within its limits passes", () => {
  for (const [name, limit, requests, seconds, expected] of CASES)
    test(name, () => {
      let usage = beginUsage(limit, at(0));
      for (const [when, items, bytes] of requests)
        usage = charged(refillUsage(usage, limit, at(when)), { items, bytes });
      assert.deepEqual(overLimit(refillUsage(usage, limit, at(seconds)), limit, at(seconds)), expected);
    });

  test("a wall clock that goes back over midnight begins no new day", () => {
    const limit = { ...NONE, itemsPerDay: 5 };
    const used = charged(beginUsage(limit, at(HALF_DAY_S)), { items: 5, bytes: 0 });
    const back = refillUsage(used, limit, at(HALF_DAY_S - 60));
    assert.deepEqual(overLimit(back, limit, at(HALF_DAY_S - 60)), wait("items_per_day", 86_460));
  });

  test("an amount that is given back is free again", () => {
    const amount: Amount = { items: 10, bytes: 3 };
    const usage = beginUsage(RATE, at(0));
    assert.deepEqual(charged(charged(usage, amount), { items: -10, bytes: -3 }), usage);
  });
});
