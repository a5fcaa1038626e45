import assert from "node:assert/strict";
import { test } from "node:test";
import { heapSizesOf } from "./heap-sizes.ts";

const MEBIBYTE = 1024 * 1024;
const CASES = [
  { of: { isDurable: false, workers: 1, memoryMB: 8192 }, young: 16, thread: 16, growth: 50 },
  { of: { isDurable: true, workers: 1, memoryMB: 256 }, young: 64, thread: 16, growth: 50 },
  { of: { isDurable: false, workers: 4, memoryMB: 2048 }, young: 16, thread: 64, growth: 200 },
  { of: { isDurable: true, workers: 2, memoryMB: 8192 }, young: 64, thread: 64, growth: 200 },
  { of: { isDurable: false, workers: 8, memoryMB: 2048 }, young: 16, thread: 16, growth: 50 },
] as const;

for (const { of, young, thread, growth } of CASES)
  test(`${of.isDurable ? "durable" : "memory"} mode, ${of.workers} workers, ${of.memoryMB} MB: threads of ${thread} MB`, () => {
    const { isDurable, workers, memoryMB } = of;
    assert.deepEqual(heapSizesOf({ isDurable, workers, memoryBytes: memoryMB * MEBIBYTE }), {
      youngBytesMax: young * MEBIBYTE,
      threadYoungBytes: thread * MEBIBYTE,
      oldGrowthPercent: growth,
    });
  });
