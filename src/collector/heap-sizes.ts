// Heap sizes: room for garbage in the heaps of a collector, against the CPU time that collecting it takes. All figures
// are of full load with the bench; "spans" means spans for each CPU-second.
import type { HeapSizes } from "../base/v8/v8-heap.ts";

const MEBIBYTE = 1024 * 1024;
const SMALL_YOUNG_BYTES = 16 * MEBIBYTE;
/**
 * Spans that wait for the spool or for the receiving thread outlive a young generation of 16 or 32 MB, and are
 * promoted. Measured with 64 MB: durable 0.83 to 0.90 of memory mode instead of 0.63.
 */
const LARGE_YOUNG_BYTES = 64 * MEBIBYTE;
/** With one worker, a minute of full load with log records reaches 342 MB with 45 and 360 MB with 60. */
const OLD_GROWTH_PERCENT = 50;
/**
 * Every thread marks the code and the trees of traces in a heap of its own. Measured with 4 threads and a large young
 * generation: 16,800 spans with 200, 14,200 with 40.
 */
const OLD_GROWTH_PERCENT_OF_THREADS = 200;
/** With large sizes, a process at full load reaches 220 to 310 MB for each thread. */
const ROOMY_BYTES_PER_THREAD = 512 * MEBIBYTE;

/** `memoryBytes`: of the machine, or of the container if that is less. */
export function heapSizesOf(of: {
  readonly isDurable: boolean;
  readonly workers: number;
  readonly memoryBytes: number;
}): HeapSizes {
  const youngBytesMax = of.isDurable ? LARGE_YOUNG_BYTES : SMALL_YOUNG_BYTES;
  const isRoomy = of.workers > 1 && of.memoryBytes >= of.workers * ROOMY_BYTES_PER_THREAD;
  return {
    youngBytesMax,
    threadYoungBytes: isRoomy ? LARGE_YOUNG_BYTES : SMALL_YOUNG_BYTES,
    oldGrowthPercent: isRoomy ? OLD_GROWTH_PERCENT_OF_THREADS : OLD_GROWTH_PERCENT,
  };
}
