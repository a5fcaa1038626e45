// Tests of backup.2: the copy is flushed while it is made.
import assert from "node:assert/strict";
import { test } from "node:test";
import { flushedWhile } from "./backup.ts";

/** A copy that ends when the file was flushed `times` times. */
function copyUntilFlushed(times: number, end: (copy: PromiseWithResolvers<void>) => void) {
  const copy = Promise.withResolvers<void>();
  const flushed: string[] = [];
  const flush = async (path: string) => {
    flushed.push(path);
    if (flushed.length === times) end(copy);
    throw new Error("not there yet");
  };
  return { copying: copy.promise, flush, flushed };
}

test("the copy is flushed again and again until it ends, although a flush fails", async () => {
  const { copying, flush, flushed } = copyUntilFlushed(3, (copy) => copy.resolve());
  await flushedWhile("copy.part", copying, flush);
  assert.deepEqual(flushed, ["copy.part", "copy.part", "copy.part"]);
});

test("a failed copy is an error, and its file is not flushed any more", async () => {
  const { copying, flush, flushed } = copyUntilFlushed(2, (copy) => copy.reject(new Error("disk full")));
  await assert.rejects(flushedWhile("copy.part", copying, flush), /disk full/);
  assert.equal(flushed.length, 2);
});

test("a short copy is not flushed at all", async () => {
  const { flush, flushed } = copyUntilFlushed(1, (copy) => copy.resolve());
  await flushedWhile("copy.part", Promise.resolve(), flush);
  assert.deepEqual(flushed, []);
});
