import assert from "node:assert/strict";
import { test } from "node:test";
import { createUploadSlots } from "./upload-slots.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("failing tenants share a quarter of the slots; healthy tenants get the rest", async () => {
  const slots = createUploadSlots(8);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const use = (name: string, failing: boolean): void => {
    void slots.use(failing, () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  };
  for (let index = 0; index < 4; index++) use(`failing ${index}`, true);
  for (let index = 0; index < 7; index++) use(`healthy ${index}`, false);
  await turn();
  assert.deepEqual(started.slice(0, 2), ["failing 0", "failing 1"]);
  assert.equal(started.length, 8);
  assert.equal(slots.inUse(), 8);
  ends[0]?.();
  await turn();
  assert.equal(started[8], "failing 2", "a free slot of the quarter goes to the oldest waiter that may use it");
  slots.releaseAll();
  await turn();
  assert.equal(started.length, 11);
});
