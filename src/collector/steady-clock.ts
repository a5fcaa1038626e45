// Steady clock: the wall clock as it was at the start, moved on by the monotonic one. Ages are told from it: when somebody
// sets the machine's clock a day forward or back, nothing becomes older or younger.
import type { Clock } from "../base/clock.ts";

export function steady(clock: Clock): Clock {
  const startedAt = clock.now() - clock.monotonic();
  return { ...clock, now: () => startedAt + clock.monotonic() };
}
