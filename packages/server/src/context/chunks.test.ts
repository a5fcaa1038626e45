import assert from "node:assert/strict";
import { test } from "node:test";
import { CHUNK_BYTES, splitChunks } from "./chunks.ts";

const CASES: readonly (readonly [name: string, sizes: readonly number[], chunks: readonly number[]])[] = [
  ["nothing", [], []],
  ["small rows together", [1, 1, 1], [3]],
  ["a full chunk", [CHUNK_BYTES - 1, 1, 1], [2, 1]],
  ["large rows alone", [CHUNK_BYTES * 9, CHUNK_BYTES + 1, 1], [1, 1, 1]],
  ["a large row after small ones", [1, 1, CHUNK_BYTES, 1], [2, 1, 1]],
  ["many rows without a size", Array.from({ length: 2001 }, () => 0), [1000, 1000, 1]],
];

for (const [name, sizes, expected] of CASES) {
  test(`${name}: no chunk is larger than its limit, and none is missing (chunks.1, chunks.2)`, () => {
    const rows = sizes.map((bytes, at) => ({ at, bytes }));
    const chunks = [...splitChunks(rows)];
    assert.deepEqual(
      chunks.map(({ length }) => length),
      expected,
    );
    assert.deepEqual(chunks.flat(), rows);
  });
}
