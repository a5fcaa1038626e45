// Tests of repeated waits, and of the streams that wait with them.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createFakeClock } from "../../../../../test/fakes/clock.ts";
import { replyWhenReady } from "./long-poll.ts";
import { repeatedWait } from "./repeated-wait.ts";
import type { HttpReply } from "./reply.ts";
import { withHeartbeats } from "./sse.ts";

/** A promise that counts the reactions it keeps until it settles. */
function counted<T>() {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const { mock: then } = mock.method(promise, "then");
  return { promise, resolve, reject, reactions: () => then.callCount() };
}

const WAITS = 100;

test("a promise keeps one reaction of any number of waits (repeated-wait.1)", async () => {
  const clock = createFakeClock();
  const { promise, resolve, reactions } = counted<string>();
  const wait = repeatedWait(promise, clock);
  for (let at = 0; at < WAITS; at++) {
    const outcome = wait.within(1000);
    await clock.advance(1000);
    assert.equal(await outcome, null);
  }
  assert.equal(reactions(), 1);
  const last = wait.within(1000);
  resolve("value");
  assert.equal(await last, "value");
  assert.equal(await wait.within(1000), "value", "also later");
});

test("a wait throws the error of its promise", async () => {
  const { promise, reject } = counted<string>();
  const wait = repeatedWait(promise, createFakeClock());
  const outcome = wait.within(1000);
  reject(new Error("failed"));
  await assert.rejects(outcome, /failed/);
  await assert.rejects(wait.within(1000), /failed/);
});

test("a waiting call costs the same after any number of keep-alives (repeated-wait.1)", async () => {
  const clock = createFakeClock();
  const { promise, resolve, reactions } = counted<HttpReply>();
  const replying = replyWhenReady(promise, {}, clock, 1000);
  await clock.advance(1000);
  const { body } = await replying;
  const lines = (body as AsyncGenerator<string>)[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, "\n");
  for (let at = 0; at < WAITS; at++) {
    const line = lines.next();
    await clock.advance(1000);
    assert.equal((await line).value, "\n");
  }
  assert.equal(reactions(), 1);
  const end = lines.next();
  resolve({ status: 200, body: "{}" });
  assert.equal((await end).value, "{}");
});

test("an idle stream costs the same after any number of heartbeats (repeated-wait.1)", async () => {
  const clock = createFakeClock();
  const { promise, resolve, reactions } = counted<IteratorResult<string>>();
  const source = { next: () => promise, [Symbol.asyncIterator]: () => source } as unknown as AsyncIterable<string>;
  const pieces = withHeartbeats(source, clock, { everyMs: 1000 });
  for (let at = 0; at < WAITS; at++) {
    const piece = pieces.next();
    await clock.advance(1000);
    assert.equal((await piece).value, ": hb\n");
  }
  assert.equal(reactions(), 1);
  const piece = pieces.next();
  resolve({ done: false, value: "event" });
  assert.equal((await piece).value, "event");
});
