// Tests of the event hub's stop.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../test/fakes/clock.ts";
import { tellAll } from "./event-hub.ts";

for (const [count, leastMs, mostMs] of [
  [1, 0, 0],
  [64, 0, 0],
  [1000, 300, 300],
  [20_000, 1900, 2000],
] as const) {
  test(`${count} readers are told to leave within ${mostMs} ms (event-hub.4)`, async () => {
    const clock = createFakeClock();
    const told = new Map<number, number>();
    const tell = (): void => void told.set(clock.monotonic(), (told.get(clock.monotonic()) ?? 0) + 1);
    const done = tellAll(
      clock,
      Array.from({ length: count }, () => tell),
    );
    while ((await clock.next()) !== null);
    await done;
    assert.equal(
      [...told.values()].reduce((sum, one) => sum + one, 0),
      count,
    );
    assert.ok([...told.values()].every((one) => one <= 64));
    const lastMs = Math.max(...told.keys());
    assert.ok(lastMs >= leastMs && lastMs <= mostMs + 1, `${lastMs} ms`);
  });
}
