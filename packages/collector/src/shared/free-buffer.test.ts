import assert from "node:assert/strict";
import { test } from "node:test";
import { freeBuffer } from "./free-buffer.ts";

test("free-buffer.1 memory that a buffer has to itself is free at once", () => {
  const whole = Buffer.allocUnsafeSlow(65_536);
  freeBuffer(whole);
  assert.equal(whole.length, 0);
});

test("free-buffer.1 a slice leaves the rest of its memory alone", () => {
  const larger = Buffer.allocUnsafeSlow(64).fill(7);
  freeBuffer(larger.subarray(0, 32));
  freeBuffer(larger.subarray(32));
  assert.deepEqual(larger, Buffer.alloc(64, 7));
});

test("giving nothing back, or the same twice, does nothing", () => {
  const whole = Buffer.allocUnsafeSlow(16);
  freeBuffer(whole);
  freeBuffer(whole);
  freeBuffer(Buffer.alloc(0));
  assert.equal(whole.length, 0);
});
