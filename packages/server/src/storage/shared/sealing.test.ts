// Tests of sealing: the forms of a sealed cell (sealing.3).
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createSealing, readCellKey } from "./sealing.ts";

const keys = [{ id: "k1", key: randomBytes(32) }];
const [text, bytes] = [createSealing(keys), createSealing(keys, "bytes")];
const ROW = { thread_id: "t", ns: "", checkpoint_id: "c", run_id: "r", interrupt_id: "i", item_id: 1, field: "f" };

for (const [table, column, value] of [
  ["checkpoints", "small", '{"a":"ä\u{1f600}"}'],
  ["checkpoints", "small", '{"abc":12}'],
  ["interrupts", "review", '{"assignees":[["ann"]],"votes":[]}'],
  ["store_vectors", "vector", new Uint8Array(8).fill(7)],
] as const)
  test(`${table}.${column} of ${value.length} units is read from both forms, as it was (sealing.3)`, () => {
    for (const [writer, reader] of [
      [text, bytes],
      [bytes, text],
    ] as const) {
      const cell: unknown = writer.seal(table, column, ROW, value);
      assert.equal(readCellKey(table, column, cell), "k1");
      const opened: unknown = reader.open(table, column, ROW, cell);
      assert.deepEqual(opened instanceof Uint8Array ? new Uint8Array(opened) : opened, value);
    }
  });

test("bytes take a quarter less than text (sealing.3)", () => {
  const value = "x".repeat(3000);
  const [long, short] = [text, bytes].map((one) => one.seal("checkpoints", "small", ROW, value).length);
  assert.ok(Number(short) < Number(long) * 0.77, `${short} of ${long}`);
});
