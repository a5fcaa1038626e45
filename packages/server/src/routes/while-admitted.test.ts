// Tests of streams that end with the access of their caller: while-admitted.1 and while-admitted.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createAccessChanges } from "../auth/access-changes.ts";
import { RECHECK_MS, whileAdmitted } from "./while-admitted.ts";

function opened(check: () => Promise<boolean>) {
  const timers = new Set<() => void>();
  const after = (ms: number, callback: () => void): (() => void) => {
    assert.equal(ms, RECHECK_MS);
    timers.add(callback);
    return () => void timers.delete(callback);
  };
  const changes = createAccessChanges();
  const source = { ended: false };
  async function* pieces(): AsyncGenerator<string> {
    try {
      yield "one";
      await new Promise((resolve) => setImmediate(resolve));
      yield "two";
      await new Promise(() => undefined); // silent from here on
    } finally {
      source.ended = true;
    }
  }
  const clock = { ...systemClock, after };
  const stream = whileAdmitted(pieces(), { clock, changes, name: "ann", check });
  const tick = async (): Promise<void> => {
    const due = [...timers];
    timers.clear();
    for (const callback of due) {
      callback();
    }
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, tick, timers, changes };
}

test("pieces pass, and checks repeat while the caller is admitted (while-admitted.1)", async () => {
  let checks = 0;
  const { stream, tick, timers } = opened(async () => ++checks > 0);
  assert.equal((await stream.next()).value, "one");
  assert.equal((await stream.next()).value, "two");
  await tick();
  await tick();
  assert.equal(checks, 2);
  assert.equal(timers.size, 1);
});

const LOSSES: readonly (readonly [name: string, check: () => Promise<boolean>, says: RegExp])[] = [
  [
    "whose credentials are not valid any more",
    () => Promise.reject(new Error("session has ended")),
    /session has ended/,
  ],
  ["who has another scope now", async () => false, /scope has changed/],
];
for (const [name, check, says] of LOSSES) {
  test(`a silent stream of a caller ${name} is cut by the next check (while-admitted.2)`, async () => {
    const { stream, tick, timers } = opened(check);
    await stream.next();
    await stream.next();
    const silent = assert.rejects(stream.next(), says);
    await tick();
    await silent;
    assert.equal(timers.size, 0, "no timer is left");
  });
}

test("the end of the caller's credentials in this process is checked at once, that of others is not (while-admitted.1)", async () => {
  let checks = 0;
  const { stream, changes } = opened(async () => {
    checks++;
    throw new Error("the key is gone");
  });
  await stream.next();
  changes.ended("bob");
  assert.equal(checks, 0);
  changes.ended("ann");
  await assert.rejects(async () => {
    for (;;) await stream.next();
  }, /the key is gone/);
  assert.equal(checks, 1);
});
