// Tests of run waiters: a process that stops answers the calls that wait in it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRunWaiters } from "./run-waiters.ts";

const newEnds = () => createRunWaiters({ notify: () => undefined });

/** Whether it has resolved once everything that is due has happened. */
async function hasResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => (resolved = true));
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return resolved;
}

test("a process is idle when the last waiter has its reply or has disconnected", async () => {
  const ends = newEnds();
  assert.ok(await hasResolved(ends.idle()));
  const [told, left] = [ends.wait("a"), ends.wait("b")];
  const idle = ends.idle();
  ends.goneElsewhere("a");
  assert.deepEqual(await told.result, { kind: "gone", why: "deleted" });
  assert.equal(await hasResolved(idle), false);
  left.leave();
  assert.ok(await hasResolved(idle));
});

test("a call that is being accepted has its turn to wait before the process is idle", async () => {
  const ends = newEnds();
  const isDecided = ends.expect();
  const idle = ends.idle();
  assert.equal(await hasResolved(idle), false);
  isDecided();
  await Promise.resolve(); // the call goes on from its transaction
  const { leave } = ends.wait("a");
  assert.equal(await hasResolved(idle), false);
  leave();
  assert.ok(await hasResolved(idle));
});

test("on close, redirects current and later waiters to another process", async () => {
  const ends = newEnds();
  const before = ends.wait("a");
  ends.close();
  const handedBack = { kind: "gone", why: "requeued" };
  assert.deepEqual([await before.result, await ends.wait("b").result], [handedBack, handedBack]);
  assert.deepEqual(ends.waited(), []);
});
