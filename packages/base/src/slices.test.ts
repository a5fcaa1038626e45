// Tests of sliced work. Checked: slices.1 to slices.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inSlice } from "./slices.ts";

test("work runs in order, one slice a turn, with other work of the loop between (slices.1, slices.2)", async () => {
  const done: number[] = [];
  let turns = 0;
  const count = (): void => {
    turns++;
    if (done.length < 20) setImmediate(count);
  };
  setImmediate(count);
  const busy = (at: number) => (): void => {
    for (const until = performance.now() + 11; performance.now() < until;);
    done.push(at);
  };
  await Promise.all(Array.from({ length: 20 }, (_, at) => inSlice(busy(at))));
  assert.deepEqual(
    done,
    Array.from({ length: 20 }, (_, at) => at),
  );
  assert.ok(turns >= 19, `${turns} turns`);
  await assert.rejects(
    inSlice(() => assert.fail("mine")),
    /mine/,
  );
});

test("a short piece runs at once, unless another one waits or the time of the turn is used (slices.3)", async () => {
  await new Promise(setImmediate); // a new turn
  await new Promise(setImmediate);
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  const first = inSlice(note("first"));
  assert.deepEqual(done, ["first"]);
  const busy = inSlice(() => {
    for (const until = performance.now() + 11; performance.now() < until;);
  });
  const late = inSlice(note("late"));
  assert.deepEqual(done, ["first"]);
  const later = inSlice(note("later"));
  await Promise.all([first, busy, late, later]);
  assert.deepEqual(done, ["first", "late", "later"]);
});
