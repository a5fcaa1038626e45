// The watch over bodies: one that never ends, however steadily it comes, ends. test/faults/collector-hostile.test.ts has
// stalled and dripping ones.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { createProgressWatch, readBody } from "./read-body.ts";

test("read-body.2 a body that comes steadily for five minutes is too slow", async () => {
  const clock = createFakeClock();
  const body = new PassThrough();
  const limits = { bytesMax: 1e9, contentLength: null, grow: () => true };
  let kind = "reads";
  void readBody(body, limits, createProgressWatch(clock)).then((outcome) => (kind = outcome.kind));
  const kinds: string[] = [];
  for (let second = 0; second < 320; second += 10) {
    body.write(Buffer.alloc(2000));
    await clock.advance(10_000);
    if (kind !== kinds.at(-1)) kinds.push(kind);
    if (kind === "too_slow") assert.ok(second >= 290, `after ${second} s`);
  }
  assert.deepEqual(kinds, ["reads", "too_slow"]);
});
