// Tests of the keyring: keyring.1 to keyring.3, and the keys as operators write them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createKeyring, parseKeys, readKeyId, SealedValueError } from "./keyring.ts";

const [OLD, NEW] = parseKeys(["old", "new"].map((id) => `${id}:${randomBytes(32).toString("base64")}`).join(","));
if (OLD === undefined || NEW === undefined) throw new Error("two keys were expected");
const CONTENTS = ["", "{}", "ä €", '{"text":"\\u0000"}', "x".repeat(100_000)];

test("a value opens in its place with any key of the ring, and is sealed with the newest (keyring.3)", () => {
  const [before, after] = [createKeyring([OLD]), createKeyring([NEW, OLD])];
  for (const content of CONTENTS) {
    const sealed = before.seal(content, "place");
    assert.equal(after.open(sealed, "place"), content);
    assert.equal(readKeyId(sealed), "old");
    assert.equal(readKeyId(after.seal(content, "place")), "new");
    assert.notEqual(before.seal(content, "place"), sealed);
    assert.ok(content.length < 2 || !sealed.includes(content));
  }
});

test("a value that was moved, changed or sealed with a missing key does not open (keyring.2)", () => {
  const ring = createKeyring([NEW]);
  const sealed = ring.seal('"secret"', "threads.error a");
  assert.throws(() => ring.open(sealed, "threads.error b"), SealedValueError);
  assert.throws(() => ring.open(`${sealed.slice(0, -3)}AAA`, "threads.error a"), SealedValueError);
  assert.throws(() => ring.open("~1.new.", "threads.error a"), SealedValueError);
  assert.throws(() => createKeyring([OLD]).open(sealed, "threads.error a"), /key "new", which is not given/);
  assert.throws(() => createKeyring([{ ...OLD, id: "new" }]).open(sealed, "threads.error a"), SealedValueError);
});

test("sealed bytes are told from floats by their length (keyring.1)", () => {
  for (const id of ["a", "ab", "abc", "abcd", "abcde"]) {
    const ring = createKeyring([{ ...NEW, id }]);
    for (const content of [new Uint8Array(0), randomBytes(4), randomBytes(4096)]) {
      const sealed = ring.sealBytes(content, "place");
      assert.equal(sealed.length % 4, 1);
      assert.equal(readKeyId(sealed), id);
      assert.deepEqual(Buffer.from(ring.openBytes(sealed, "place")), Buffer.from(content));
      assert.throws(() => ring.openBytes(sealed, "other"), SealedValueError);
    }
  }
  assert.equal(readKeyId(Buffer.from("~1.a.===")), null);
  assert.equal(readKeyId('"~1.a."'), null);
});

test("keys that cannot be used are refused without a word of the key", () => {
  const good = randomBytes(32).toString("base64");
  const rows: readonly [string, RegExp][] = [
    ["", /has no key/],
    [good, /key 1 has no id/],
    [`a:${good.slice(0, 21)}`, /"a" is not 32 bytes/],
    [`a:${good.slice(0, 22)}`, /"a" is not 32 bytes/],
    [`a:${good.slice(0, 30)}`, /"a" is not 32 bytes/],
    [`a:${good},a:${good}`, /"a" stands for two keys/],
    [`a b:${good}`, /key 1 has no id/],
    ["0123456789abcdef0123456789abcde", /^key 1 has no id[^0]+$/],
    [`a.b:${good}`, /key 1 has no id/],
  ];
  for (const [text, reason] of rows) assert.throws(() => parseKeys(text), { message: reason });
  assert.deepEqual(
    parseKeys(`a:${good}\nb:${good} c:${good}`).map(({ id }) => id),
    ["a", "b", "c"],
  );
  const [first, second] = parseKeys(`k:${good},0123456789abcdef`);
  assert.deepEqual([first?.id, second?.id, second?.key.length], ["k", "langgraph", 32]);
  assert.equal(parseKeys("a key, with 24 bytes :::")[0]?.id, "langgraph");
});
