// Tests of deadlines: deadline-scheduler.2 (one timer, never before its time, whatever the wall clock does),
// deadline-scheduler.4 (failures are retried, later each time). The storage is a stand-in that notes
// when it was asked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import type { AgentContext } from "../context/context.ts";
import { createDeadlines } from "./deadline-scheduler.ts";
import type { Interrupt } from "../model/model.ts";

const MINUTE = 60_000;

function setUp(next: () => number | null) {
  const clock = createFakeClock();
  const asked: number[] = [];
  let shift = 0;
  let added: (items: readonly Interrupt[]) => void = () => undefined;
  const failing = { now: false };
  const tx = {
    nextDeadline: next,
    nextEscalation: () => null,
    dueEscalations: () => [],
    dueInterrupts(at: number): readonly Interrupt[] {
      asked.push(clock.monotonic());
      assert.equal(at, clock.now() + shift);
      if (failing.now) throw new ApiError("storage_unavailable", "no");
      return [];
    },
  };
  const deadlines = createDeadlines({
    clock: { ...clock, now: () => clock.now() + shift },
    storage: { transaction: async (work: (given: typeof tx) => unknown) => work(tx) },
    inbox: { onAdded: (callback: typeof added) => void (added = callback) },
    log: { warning: () => undefined },
  } as unknown as AgentContext);
  return {
    clock,
    deadlines,
    asked,
    failing,
    add: (expiresAt: number | null, onExpiry: Interrupt["onExpiry"] = "fail") =>
      added([{ expiresAt, onExpiry, escalatesAt: null } as Interrupt]),
    setWallClock: (ms: number) => (shift += ms),
  };
}

test("queries once at the start, and sets no timer without deadlines (deadline-scheduler.2)", async () => {
  const { clock, deadlines, asked } = setUp(() => null);
  await deadlines.start();
  await clock.advance(10 * MINUTE);
  assert.deepEqual([asked, clock.timers()], [[0], 0]);
});

test("queries after the next deadline, not before, with one timer (deadline-scheduler.2)", async () => {
  let next: number | null = null;
  const { clock, deadlines, asked, add } = setUp(() => next);
  await deadlines.start();
  await clock.advance(0);
  next = clock.now() + 5 * MINUTE;
  add(clock.now() + 9 * MINUTE);
  add(next);
  add(clock.now() + 7 * MINUTE);
  add(clock.now() + MINUTE, null);
  add(null);
  assert.equal(clock.timers(), 1);
  await clock.advance(5 * MINUTE - 1);
  assert.deepEqual(asked, [0]);
  next = null;
  await clock.advance(1);
  assert.deepEqual(asked, [0, 5 * MINUTE]);
  await deadlines.stop();
  assert.equal(clock.timers(), 0);
});

test("a wall clock that is set is noticed (deadline-scheduler.2)", async () => {
  const setting = setUp(() => null);
  const { clock, deadlines, asked, add, setWallClock } = setting;
  await deadlines.start();
  await clock.advance(0);
  add(clock.now() + 24 * 60 * MINUTE);
  setWallClock(24 * 60 * MINUTE);
  await clock.advance(15 * MINUTE);
  assert.deepEqual(asked, [0, 15 * MINUTE]);
  await deadlines.stop();
});

test("retries transient failures with growing delays (deadline-scheduler.4)", async () => {
  const { clock, deadlines, asked, failing } = setUp(() => null);
  failing.now = true;
  await deadlines.start();
  await clock.advance(3 * MINUTE);
  assert.deepEqual(asked, [0, 1000, 6000, 36_000, 96_000, 156_000]);
  failing.now = false;
  await clock.advance(MINUTE);
  assert.equal(clock.timers(), 0);
  await deadlines.stop();
});
