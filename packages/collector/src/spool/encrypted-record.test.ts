// Tests of encrypted records: a record opens at its place alone, whoever makes its frame.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeyring, type Keyring } from "@holdpoint/base/keyring.ts";
import { createSeal, encryptRecord } from "./encrypted-record.ts";
import { bytesOfRecord, encodeFileHead, encodeRecord, RECORD, sealRecord, type Seal } from "./record.ts";
import { scanFile, type Scan } from "./scan.ts";

const makeRing = (byte: number, id = "k1"): Keyring => createKeyring([{ id, key: Buffer.alloc(32, byte) }]);
const ring = makeRing(1);

/** A file with these records, each sealed for the place where it stands. */
function buildFile(
  seal: Seal,
  build: (at: number, offset: number) => readonly [Buffer, Buffer],
  count: number,
): Buffer {
  const parts = [...encodeFileHead(seal)];
  let offset = parts.reduce((sum, { length }) => sum + length, 0);
  for (let at = 0; at < count; at++) {
    const record = build(at, offset);
    sealRecord(record, seal, offset);
    offset += bytesOfRecord(record);
    parts.push(...record);
  }
  return Buffer.concat(parts);
}

const encode = (at: number) => encodeRecord(RECORD.request, { at }, Buffer.from(`content ${at}`));
const scan = (file: Buffer, by: Keyring | null): Scan => scanFile(file, { path: "x", segment: 7 }, by);
const read = (file: Buffer, by: Keyring | null): readonly string[] =>
  scan(file, by).records.map(({ body }) => body.toString());

test("records read back, and their file has none of their bytes", () => {
  const seal = createSeal(7, ring);
  const file = buildFile(seal, (at, offset) => encryptRecord(encode(at), seal, offset, ring), 3);
  assert.deepEqual(read(file, ring), ["content 0", "content 1", "content 2"]);
  assert.ok(!file.includes("content"));
  for (const other of [null, makeRing(2), makeRing(1, "k2")]) assert.deepEqual(read(file, other), []);
});

test("a record that somebody moves does not open, and counts as damaged, even with a frame for its new place", () => {
  const seal = createSeal(7, ring);
  const others = createSeal(7, ring);
  const rows: readonly (readonly [string, Seal, (offset: number) => number])[] = [
    ["another offset", seal, (offset) => offset + 1],
    ["another file", others, (offset) => offset],
    ["another segment", { ...seal, segment: 8 }, (offset) => offset],
  ];
  for (const [what, of, place] of rows) {
    const file = buildFile(
      seal,
      (at, offset) => encryptRecord(encode(at), at === 1 ? of : seal, at === 1 ? place(offset) : offset, ring),
      3,
    );
    const { badStretches } = scan(file, ring);
    assert.deepEqual([read(file, ring), badStretches], [["content 0", "content 2"], 1], what);
  }
});

test("a plain record in an encrypted file is none", () => {
  const seal = createSeal(7, ring);
  assert.deepEqual(read(buildFile(seal, encode, 2), ring), []);
});
