// Heap sizes: room for garbage in the heap of a collector, against the CPU time that collecting it takes, at full load.
import type { HeapSizes } from "../base/v8/v8-heap.ts";

const MEBIBYTE = 1024 * 1024;
const SMALL_YOUNG_BYTES = 16 * MEBIBYTE;
/**
 * Spans that wait for the spool outlive a young generation of 16 or 32 MB, and are promoted. Measured with 64 MB:
 * durable 0.83 to 0.90 of memory mode instead of 0.63.
 */
const LARGE_YOUNG_BYTES = 64 * MEBIBYTE;
/** A minute of full load with log records reaches 342 MB with 45 and 360 MB with 60. */
const OLD_GROWTH_PERCENT = 50;

export function heapSizesOf(isDurable: boolean): HeapSizes {
  return {
    youngBytesMax: isDurable ? LARGE_YOUNG_BYTES : SMALL_YOUNG_BYTES,
    threadYoungBytes: SMALL_YOUNG_BYTES,
    oldGrowthPercent: OLD_GROWTH_PERCENT,
  };
}
