// Tests of replies with long lists. Checked: list-reply.1 to list-reply.4.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { listReply } from "./list-reply.ts";

const LONG = JSON.stringify("x".repeat(300_000));

/** Rows that count how many were read, and of all lists how many are read at the same time. */
function createRows(count: number, text = LONG) {
  const seen = { read: 0, ended: false };
  async function* rows(): AsyncGenerator<string> {
    try {
      while (seen.read < count) {
        reading.now++;
        reading.most = Math.max(reading.most, reading.now);
        seen.read++;
        await turn();
        reading.now--;
        yield text;
      }
    } finally {
      seen.ended = true;
    }
  }
  return { seen, rows: rows() };
}
const reading = { now: 0, most: 0 };

const iteratePieces = (body: unknown): AsyncIterator<string> => (body as AsyncIterable<string>)[Symbol.asyncIterator]();

test("a short list is one text", async () => {
  const { body, stallMs } = await listReply(createRows(3, "1").rows, {}, ['{"items":', "}"]);
  assert.deepEqual([body, stallMs], ['{"items":[1,1,1]}', undefined]);
  assert.equal((await listReply(createRows(0).rows)).body, "[]");
  assert.equal((await listReply(createRows(1).rows)).body, `[${LONG}]`);
});

test("a long list has every row, and reads rows as the client consumes them (list-reply.1, list-reply.2)", async () => {
  const { rows, seen } = createRows(10);
  const { body } = await listReply(rows);
  assert.equal(seen.read, 2);
  let text = "";
  for await (const piece of body as AsyncIterable<string>) {
    text += piece;
    await turn();
    assert.ok(text.length > (seen.read - 1) * LONG.length, "no row was read ahead");
  }
  assert.equal((JSON.parse(text) as unknown[]).length, 10);
});

test("of many long lists one row is read at a time (list-reply.3), and a list that breaks off is cut (list-reply.1)", async () => {
  const replies = await Promise.all(Array.from({ length: 8 }, () => listReply(createRows(5).rows)));
  reading.most = 0;
  await Promise.all(
    replies.map(async ({ body }) => {
      for await (const piece of body as AsyncIterable<string>) assert.notEqual(piece, "");
    }),
  );
  assert.equal(reading.most, 1);

  async function* broken(): AsyncGenerator<string> {
    yield LONG;
    yield LONG;
    throw new Error("the storage is gone");
  }
  const pieces = iteratePieces((await listReply(broken())).body);
  await pieces.next();
  await assert.rejects(async () => pieces.next(), /the storage is gone/);
});

test("rows that are ready at once leave a turn of the event loop to other calls in between (list-reply.3)", async () => {
  let turns = 0;
  const ending = { isOver: false };
  const beat = (): void => {
    turns++;
    if (!ending.isOver) setImmediate(beat);
  };
  setImmediate(beat);
  const readIn: number[] = [];
  async function* ready(): AsyncGenerator<string> {
    for (let at = 0; at < 6; at++) {
      if (at >= 2) readIn.push(turns); // the first two decide that the list is long
      yield LONG;
    }
  }
  const replies = await Promise.all(Array.from({ length: 4 }, () => listReply(ready())));
  await Promise.all(replies.map(({ body }) => Array.fromAsync(body as AsyncIterable<string>)));
  ending.isOver = true;
  assert.equal(readIn.length, 16);
  assert.deepEqual(readIn, [...new Set(readIn)], "no two rows in one turn");
});

test("sends 32 long lists at once; an abandoned one frees its slot (list-reply.4)", async () => {
  const readers = [];
  for (let at = 0; at < 33; at++) readers.push({ ...createRows(3), pieces: null as AsyncIterator<string> | null });
  for (const reader of readers) reader.pieces = iteratePieces((await listReply(reader.rows)).body);
  for (const { pieces } of readers.slice(0, 32)) assert.equal((await pieces?.next())?.done, false);
  let begun = false;
  const last = readers[32]?.pieces?.next().then(() => (begun = true));
  await turn();
  assert.equal(begun, false);
  await readers[0]?.pieces?.return?.();
  await last;
  assert.equal(readers[0]?.seen.ended, true);
  for (const { pieces } of readers.slice(1)) await pieces?.return?.();
});
