// Steady clock: the wall clock at process start, advanced by the monotonic clock. Ages use it, so a change of the
// machine's clock makes no span older or younger.
import type { Clock } from "./clock.ts";

export function steady(clock: Clock): Clock {
  const startedAt = clock.now() - clock.monotonic();
  return { ...clock, now: () => startedAt + clock.monotonic() };
}
