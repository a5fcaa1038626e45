// Tests of the queue: when it claims, for a line of a test and slots of a test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createFakeClock } from "../../../../../../test/fakes/clock.ts";
import type { ClaimedRow, RunClaim, Slot, Tx } from "../../../ports/ports.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createRowQueue } from "./queue.ts";

const note = (): void => undefined;
const silent: Log = { debug: note, info: note, warning: note, error: note };
const CLAIM: RunClaim = { status: "running", workerId: "w", updatedAt: 0 };
const ROW: Partial<ClaimedRow> = {};

/** A queue over a line of `waiting` runs, and slots that keep the runs they start. */
function openQueue(slots: number, waiting: number) {
  const clock = createFakeClock();
  const opened = {
    slots,
    waiting,
    claims: 0,
    begun: 0,
    dueBy: [] as (number | null)[],
    nextDueAt: null as number | null,
    notices: 0,
    holds: true,
    hear: note,
    /** Claims end when this does. */
    held: Promise.resolve(),
    fails: false,
  };
  const tx: Partial<Tx> = {
    claimPendingRun(_claim, dueBy) {
      opened.dueBy.push(dueBy);
      if (opened.waiting === 0) return null;
      opened.waiting--;
      opened.begun++;
      return ROW as ClaimedRow;
    },
    nextDueAt: () => opened.nextDueAt,
  };
  const queue = createRowQueue({
    clock,
    log: silent,
    holds: () => opened.holds,
    notify: () => void opened.notices++,
    onQueued: (callback) => void (opened.hear = callback),
  });
  const newSlot = (): Slot => ({
    start: note,
    release: note,
    async claim(choose) {
      opened.claims++;
      await opened.held;
      const claimed = opened.fails ? null : await choose(tx as Tx, CLAIM);
      if (claimed === null) {
        opened.slots++;
        queue.slotFree();
      }
      if (opened.fails) throw new Error("the database is gone");
      return claimed !== null;
    },
  });
  const consumer = { reserve: () => (opened.slots === 0 ? null : (opened.slots--, newSlot())) };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  };
  return { opened, queue, clock, consumer, settle, tx: tx as Tx };
}

test("free slots take all that waits, then new runs may start directly (engine/queue.1, engine/queue.2)", async () => {
  const { opened, queue, consumer, settle } = openQueue(10, 6);
  assert.equal(queue.mayStartDirectly(), false, "not before the start");
  await queue.start(consumer);
  assert.equal(queue.mayStartDirectly(), false, "some may wait");
  await settle();
  assert.deepEqual([opened.begun, opened.slots, queue.mayStartDirectly()], [6, 4, true]);
});

test("what waits beyond the slots is claimed at the end of runs (engine/queue.1)", async () => {
  const { opened, queue, consumer, settle, tx } = openQueue(2, 3);
  await queue.start(consumer);
  await settle();
  assert.deepEqual([opened.begun, queue.mayStartDirectly()], [2, false]);
  assert.equal(await queue.next(tx, CLAIM), ROW);
  assert.equal(await queue.next(tx, CLAIM), null);
  assert.equal(queue.mayStartDirectly(), true);
  opened.waiting = 1;
  opened.holds = false;
  assert.equal(await queue.next(tx, CLAIM), null, "a process without its lease claims nothing");
});

test("the end of a run does not look into an empty line before a sign of a run in it (engine/queue.7)", async () => {
  const { opened, queue, clock, consumer, settle, tx } = openQueue(2, 0);
  await queue.start(consumer);
  await settle();
  const looks = opened.dueBy.length;
  assert.equal(await queue.next(tx, CLAIM), null);
  assert.equal(opened.dueBy.length, looks);
  opened.slots = 0;
  opened.waiting = 2;
  queue.wake();
  assert.equal(await queue.next(tx, CLAIM), ROW, "after a wake");
  opened.waiting = 0;
  assert.equal(await queue.next(tx, CLAIM), null);
  opened.waiting = 1;
  await clock.advance(1000);
  assert.equal(await queue.next(tx, CLAIM), ROW, "after the time of a poll, of which all slots are busy");
});

test("a notice, a poll or a wake starts a claim; a wake without a free slot tells the other workers (engine/queue.3)", async () => {
  const { opened, queue, clock, consumer, settle } = openQueue(3, 0);
  await queue.start(consumer);
  await settle();
  opened.waiting = 1;
  opened.hear();
  await settle();
  assert.equal(opened.begun, 1, "after the notice");
  opened.waiting = 1;
  await clock.advance(1000);
  await settle();
  assert.equal(opened.begun, 2, "after the poll");
  opened.waiting = 2;
  queue.wake();
  await settle();
  assert.deepEqual([opened.begun, opened.notices], [3, 0], "after the wake");
  queue.wake();
  assert.deepEqual([opened.notices, queue.mayStartDirectly()], [1, false]);
});

test("a run whose thread was held at the notice is claimed a moment later (engine/queue.3)", async () => {
  const { opened, queue, clock, consumer, settle } = openQueue(1, 0);
  await queue.start(consumer);
  await settle();
  await clock.advance(60);
  opened.hear();
  await settle();
  opened.waiting = 1;
  await clock.advance(60);
  await settle();
  assert.equal(opened.begun, 1);
});

test("due runs join the line about once a second, and at their time (engine/queue.4)", async () => {
  const { opened, queue, clock, consumer, settle, tx } = openQueue(1, 0);
  opened.nextDueAt = clock.now() + 300;
  await queue.start(consumer);
  await settle();
  await clock.advance(200);
  await queue.next(tx, CLAIM);
  assert.deepEqual([opened.dueBy[0], opened.dueBy.at(-1)], [clock.now() - 200, null]);
  opened.nextDueAt = null;
  await clock.advance(100);
  await settle();
  assert.equal(opened.dueBy.at(-1), clock.now(), "at its time");
  opened.slots = 0;
  await clock.advance(1000);
  await queue.next(tx, CLAIM);
  assert.equal(opened.dueBy.at(-1), clock.now(), "with the end of a run, while no slot is free");
});

test("claims without an answer block no others, and a failed one is repeated by the poll (engine/queue.5)", async () => {
  const { opened, queue, clock, consumer, settle } = openQueue(10, 3);
  const answer = Promise.withResolvers<void>();
  opened.held = answer.promise;
  await queue.start(consumer);
  opened.held = Promise.resolve();
  opened.hear();
  await settle();
  assert.equal(opened.begun, 3, "by the claim after the one that hangs");
  opened.fails = true;
  answer.resolve();
  await settle();
  opened.waiting = 1;
  opened.fails = false;
  await clock.advance(1000);
  await settle();
  assert.equal(opened.begun, 4);
});

test("a stop waits for the claims in progress; then free slots leave the rest to others (engine/queue.6)", async () => {
  const { opened, queue, consumer, settle } = openQueue(2, 5);
  const answer = Promise.withResolvers<void>();
  opened.held = answer.promise;
  await queue.start(consumer);
  let stopped = false;
  const stop = queue.stop().then(() => (stopped = true));
  await settle();
  assert.equal(stopped, false);
  answer.resolve();
  await stop;
  assert.deepEqual([opened.begun, opened.claims], [1, 1]);
  queue.slotFree();
  assert.equal(opened.notices, 1);
});
