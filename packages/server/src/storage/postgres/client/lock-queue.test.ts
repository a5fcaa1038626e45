// Tests of the lock queue: order per key and limited waits (lock-queue.1, lock-queue.2, lock-queue.3).
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { createLockQueue } from "./lock-queue.ts";

const LONG_MS = 300_000;
const refused = (error: unknown): boolean => error instanceof ApiError && error.code === "storage_unavailable";

test("tasks on one key run one after the other, in call order; other keys are free (lock-queue.1)", async () => {
  const lockQueue = createLockQueue(LONG_MS);
  const log: string[] = [];
  const works = ["a", "b", "c"].map(async (name) => {
    const release = await lockQueue.enter("key");
    log.push(`${name} in`);
    (await lockQueue.enter(`of ${name}`))();
    log.push(`${name} out`);
    release();
  });
  const all = lockQueue.passed("key")?.then(() => log.push("all passed"));
  await Promise.all([...works, all]);
  assert.deepEqual(log, ["a in", "a out", "b in", "b out", "c in", "c out", "all passed"]);
  assert.equal(lockQueue.passed("key"), null, "nothing is kept of it (lock-queue.2)");
});

test("a wait ends after the limit, and a task that times out does not block those behind it (lock-queue.3)", async () => {
  const lockQueue = createLockQueue(20);
  const release = await lockQueue.enter("key");
  const waiting = [lockQueue.enter("key"), lockQueue.passed("key") ?? Promise.resolve()];
  await Promise.all(waiting.map((one) => assert.rejects(one, refused)));
  const next = lockQueue.enter("key");
  release();
  (await next)();
  assert.equal(lockQueue.passed("key"), null);
});
