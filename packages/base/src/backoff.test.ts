import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs } from "./backoff.ts";

for (const [name, attempt, baseMs, requestedMs, least, most] of [
  ["the first wait is the base and up to half more", 1, 100, null, 100, 150],
  ["each next one doubles", 3, 100, null, 400, 600],
  ["the doubling ends at the limit", 20, 100, null, 30_000, 45_000],
  ["a base beyond the limit counts in full", 1, 60_000, null, 60_000, 90_000],
  ["a base of nothing waits for nothing", 5, 0, null, 0, 0],
  ["a longer request of the peer wins", 1, 100, 700, 700, 700],
  ["a shorter one does not", 1, 100, 7, 100, 150],
] as const)
  test(name, () => {
    const waits = [0, 1].map((random) =>
      backoffMs(attempt, { baseMs, maxMs: 30_000, random: () => random }, requestedMs),
    );
    assert.deepEqual(waits, [least, most]);
  });
