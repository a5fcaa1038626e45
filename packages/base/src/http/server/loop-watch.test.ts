// Tests of the loop watch: loop-watch.1 (what extends a limit), loop-watch.2 (timers).
import assert from "node:assert/strict";
import { test } from "node:test";
import { PATIENCE } from "../../../../../test/harness/patience.ts";
import { watchLoop, withoutBlocks } from "./loop-watch.ts";

/** Blocks the loop, and lets it turn. */
async function block(ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until;);
  await new Promise((resolve) => setTimeout(resolve));
}

test("a limit is longer by the blocks inside it, and not by earlier ones (loop-watch.1)", PATIENCE, async (t) => {
  let now = 0;
  t.mock.timers.enable({ apis: ["setInterval"] });
  const watch = watchLoop(1000, 10_000, () => now);
  t.after(() => watch.stop());
  const pass = (ms: number): void => {
    now += ms;
    t.mock.timers.tick(100);
  };
  assert.equal(watch.extend(1000), 1000);
  pass(100);
  assert.equal(watch.extend(1000), 1000);
  now += 5100;
  assert.equal(watch.extend(1000), 6000, "the block has not ended yet");
  t.mock.timers.tick(100);
  assert.equal(watch.extend(1000), 6000);
  pass(2100);
  assert.equal(watch.extend(1000), 8000, "two blocks");
  for (let at = 0; at < 11; at++) pass(100);
  assert.equal(watch.extend(1000), 1000);
  assert.equal(watch.extend(10_000), 17_000);
  for (let at = 0; at < 250; at++) pass(100);
  assert.equal(watch.extend(10_000), 10_000);
});

test("a timer does not fire after one block of several times its length (loop-watch.2)", PATIENCE, async () => {
  let fired = 0;
  const start = performance.now();
  const ended = new Promise<void>((resolve) => {
    withoutBlocks(100, () => {
      fired++;
      resolve();
    });
  });
  await block(500);
  assert.deepEqual([fired, performance.now() - start >= 500], [0, true]);
  await ended;
  assert.equal(fired, 1);
});
