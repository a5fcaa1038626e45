// A process with a memory limit refuses values that its memory cannot take; docs/reference/sizing.md has the figures.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadLibrary } from "../langgraph/library.ts";
import { createCodec } from "./codec/value-codec.ts";
import { readStateBudget, readUnitsMax } from "../../model/state-memory.ts";
import { encodeValues } from "./encode-values.ts";

const MIB = 1024 * 1024;

test("a value that the memory of the process cannot take is refused by name, and a smaller one is not", async () => {
  const codec = createCodec(await loadLibrary(import.meta.dirname));
  const values = [{ channel: "texts", value: ["x".repeat(97)], text: null }]; // 101 characters of JSON
  assert.throws(() => encodeValues(codec, values, 100), { name: "state_too_large", message: /"texts"/ });
  assert.equal(encodeValues(codec, values, 101)[0]?.encoded.length, 101);
});

test("a larger memory takes larger values, and none is refused without a limit", () => {
  const rows: readonly (readonly [mebibytes: number, fits: number, refused: number])[] = [
    [64, 100_000, 100_001],
    [256, 4.3e6, 4.4e6],
    [512, 21e6, 22e6],
    [1024, 54e6, 55e6],
  ];
  for (const [mebibytes, fits, refused] of rows) {
    const max = readUnitsMax(readStateBudget(mebibytes * MIB));
    assert.ok(fits <= max && refused > max, `${mebibytes} MiB`);
  }
  assert.equal(readUnitsMax(readStateBudget(0)), Infinity);
});
