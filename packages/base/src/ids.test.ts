// Tests of the ids: the layout and order of version 7, the RFC 9562 vector of version 5, the content hash.
import assert from "node:assert/strict";
import { test } from "node:test";
import { contentHash, createIdSource, isUuid, uuidV5 } from "./ids.ts";

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const AT_MS = 0x0123_4567_89ab;

function parseTime(id: string): number {
  return Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
}

test("ids after a restart follow those before it, even if the clock went back", () => {
  const before = createIdSource(() => 1_700_000_000_000)();
  const after = createIdSource(() => 1_600_000_000_000, before);
  const ids = [before, after(), after(), after()];
  assert.deepEqual(ids.toSorted(), ids);
});

test("an id carries the millisecond, version 7 and the RFC variant", () => {
  const newId = createIdSource(() => AT_MS);
  for (let count = 0; count < 1000; count++) assert.match(newId(), V7);
  assert.equal(parseTime(createIdSource(() => AT_MS)()), AT_MS);
});

const CLOCKS: readonly { readonly name: string; readonly at: (call: number) => number }[] = [
  { name: "stands still, far beyond what one millisecond's counter holds", at: () => AT_MS },
  { name: "goes forward", at: (call) => AT_MS + call },
  { name: "goes back", at: (call) => AT_MS - call },
  { name: "jumps back a day once and goes on from there", at: (call) => AT_MS + call - (call > 500 ? 86_400_000 : 0) },
  { name: "jumps to and fro", at: (call) => AT_MS + (call % 2 === 0 ? 5000 : -5000) },
  { name: "has fractions of a millisecond", at: (call) => AT_MS + call / 7 },
];

for (const { name, at } of CLOCKS) {
  test(`ids strictly ascend when the clock ${name}`, () => {
    let call = 0;
    const newId = createIdSource(() => at(call++));
    let last = newId();
    for (let count = 0; count < 20_000; count++) {
      const id = newId();
      assert.match(id, V7);
      assert.ok(id > last, `${id} after ${last}`);
      last = id;
    }
  });
}

test("ids go on in the new time once the clock has moved past the last id", () => {
  const times = [AT_MS, AT_MS - 1000, AT_MS + 1];
  const newId = createIdSource(() => times.shift() ?? 0);
  assert.deepEqual([newId(), newId(), newId()].map(parseTime), [AT_MS, AT_MS, AT_MS + 1]);
});

test("ids of one moment do not share their random part", () => {
  const tails = Array.from(
    { length: 1000 },
    createIdSource(() => AT_MS),
  ).map((id) => id.slice(19));
  assert.equal(new Set(tails).size, tails.length);
});

test("two sources at the same moment share no id", () => {
  const sources = [createIdSource(() => AT_MS), createIdSource(() => AT_MS)];
  const ids = sources.flatMap((newId) => Array.from({ length: 5000 }, newId));
  assert.equal(new Set(ids).size, ids.length);
});

const DNS = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
const ASSISTANTS = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";
const NAMED = [
  { source: "RFC 9562, A.4", name: "www.example.com", namespace: DNS, id: "2ed6657d-e927-568b-95e1-2665a8aea6a2" },
  {
    source: "namespace in capitals",
    name: "www.example.com",
    namespace: DNS.toUpperCase(),
    id: "2ed6657d-e927-568b-95e1-2665a8aea6a2",
  },
  {
    source: "assistant of graph agent",
    name: "agent",
    namespace: ASSISTANTS,
    id: "fe096781-5601-53d2-b2f6-0d3403f7e9ca",
  },
  { source: "empty name", name: "", namespace: ASSISTANTS, id: "e0e91d1a-dcd6-5d9c-bf2e-f544030263cf" },
  {
    source: "name beyond ASCII",
    name: "überprüfung ✓",
    namespace: ASSISTANTS,
    id: "44eb5145-7624-5f24-b86e-3cb4da80b226",
  },
];

for (const { source, name, namespace, id } of NAMED) {
  test(`version 5: ${source}`, () => assert.equal(uuidV5(name, namespace), id));
}

const UUIDS: readonly (readonly [text: string, valid: boolean])[] = [
  [DNS, true],
  [DNS.toUpperCase(), true],
  ["00000000-0000-0000-0000-000000000000", true],
  ["", false],
  [DNS.slice(1), false],
  [`${DNS}0`, false],
  [`0${DNS}`, false],
  [`${DNS}\n`, false],
  [`{${DNS}}`, false],
  [DNS.replaceAll("-", ""), false],
  [DNS.replace("6", "g"), false],
  ["6ba7b8109-dad-11d1-80b4-00c04fd430c8", false],
];

for (const [text, valid] of UUIDS) {
  test(`${JSON.stringify(text)} is ${valid ? "a" : "not a"} UUID`, () => assert.equal(isUuid(text), valid));
}

test("the content hash is SHA-256 in 43 characters that need no escaping", () => {
  assert.equal(contentHash("abc"), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"); // FIPS 180-2, B.1
  assert.notEqual(contentHash("é"), contentHash("e\u0301"));
});
