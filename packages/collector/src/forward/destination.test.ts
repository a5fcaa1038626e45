import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { startDestination } from "./destination.ts";
import { createForwardQueue } from "./forward-queue.ts";
import { createMemoryStore } from "./forward-store.ts";
import type { ForwardOutcome } from "./send-request.ts";

const SENT: ForwardOutcome = { kind: "sent", requests: 1, partial: null };
const retry = (afterMs: number | null): ForwardOutcome => ({ kind: "retry", reason: "503", afterMs });

/** One request to a destination that replies `outcomes`, then `SENT`. Returns the ms from the start at each attempt. */
async function attemptsAt(outcomes: readonly ForwardOutcome[], retriesMax: number): Promise<readonly number[]> {
  const clock = createFakeClock();
  const at: number[] = [];
  const queue = createForwardQueue(
    { destinations: ["a"], bytesMax: 1000, onChange: () => undefined },
    createMemoryStore(),
  );
  await queue.add({
    signal: "traces",
    format: "protobuf",
    encoding: "identity",
    project: "",
    tenantId: "",
    wire: Buffer.from("x"),
  });
  const log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
  const loop = startDestination(
    { name: "a", signals: ["traces"], retriesMax, retryBackoffMs: 100, retryCooldownMs: 1000 },
    {
      queue,
      clock,
      log,
      random: () => 0,
      send: () => Promise.resolve(outcomes[at.push(clock.monotonic()) - 1] ?? SENT),
    },
  );
  while ((await clock.next()) !== null) continue;
  await loop.idle();
  assert.equal(loop.counts.sent, 1);
  await loop.stop(new AbortController().signal);
  return at;
}

describe("a destination", () => {
  test("waits as long as it asks for, between retries and with an open circuit", async () => {
    assert.deepEqual(await attemptsAt([retry(7000), retry(9000)], 1), [0, 7000, 16_000]);
  });

  test("destination.2 after its retries, pauses double up to 5 minutes", async () => {
    const at = await attemptsAt(
      Array.from({ length: 12 }, () => retry(null)),
      0,
    );
    assert.deepEqual(
      at.slice(1).map((ms, index) => (ms - (at[index] ?? 0)) / 1000),
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300],
    );
  });

  test("what is wrong with a secret or an address pauses it at once, and loses nothing", async () => {
    assert.deepEqual(await attemptsAt([{ kind: "parked", reason: "401" }], 5), [0, 1000]);
  });
});
