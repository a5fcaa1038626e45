// Start flags: what a process that lives long tells V8, once, before it loads anything large.
import { setFlagsFromString } from "node:v8";

/** V8 prints an error and goes on if it does not know a flag. The test of this file looks for it. */
export const START_FLAGS: readonly string[] = [
  // Functions are optimized after 1,000 calls instead of 3,000, because each request calls thousands of them a few times.
  "--invocation-count-for-turbofan=1000",
  // The old generation grows by half between two collections; V8 would let it double, and a server is idle most of the time.
  "--heap-growing-percent=50",
];

export function setStartFlags(): void {
  for (const flag of START_FLAGS) setFlagsFromString(flag);
}
