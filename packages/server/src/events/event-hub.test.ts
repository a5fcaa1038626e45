// Tests of the event hub: when it wakes readers, and its stop.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { createEventHub, tellAll } from "./event-hub.ts";
import { FIRST_EVENT } from "./event-log.ts";
import type { Run } from "../model/model.ts";

const RUN = { threadId: "thread", runId: "run", attempt: 1 } as Run;

function hub(listeners: Readonly<Record<string, number>>) {
  const clock = createFakeClock();
  const woken: string[] = [];
  const wakes = {
    wake: (key: string) => void woken.push(key),
    listen: () => () => undefined,
    listeners: (key: string) => listeners[key] ?? 0,
    hasRemoteListeners: () => false,
    onRemoteListener: () => undefined,
  };
  const limits = { eventsMax: 100, bytesMax: 1e6, keptMs: 0, resumableKeptMs: 0, protocolKeptMs: 0 };
  const log = createEventHub({ wakes, clock, limits }).open(RUN, FIRST_EVENT);
  return { clock, woken, append: () => log.append({ name: "values", data: "{}" }), log };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("the first event with readers wakes them in its turn, and the next ones of the turn share a wake-up (event-hub.1)", async () => {
  const { clock, woken, append, log } = hub({ run: 1 });
  append();
  await Promise.resolve();
  assert.deepEqual(woken, ["run"]);
  assert.equal(log.from(0) === null, false);
  append();
  append();
  await Promise.resolve();
  assert.deepEqual(woken, ["run"]);
  await turn();
  assert.deepEqual(woken, ["run", "run"]);
  append(); // a burst: after 10 ms
  await turn();
  assert.deepEqual(woken, ["run", "run"]);
  await clock.next();
  assert.deepEqual(woken, ["run", "run", "run"]);
});

test("readers of a thread wait for the end of the turn (event-hub.1)", async () => {
  const { woken, append } = hub({ thread: 1 });
  append();
  await Promise.resolve();
  assert.deepEqual(woken, []);
  await turn();
  assert.deepEqual(woken, ["run"]);
});

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
