// Two browsers of one person: neither loses what the other one has changed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeKept, SEEN_MAX, type Kept } from "./kept.ts";

const kept = (views: string, seen: string, tab = ""): Kept => ({
  views: Array.from(views).map((name) => ({ name: name.toLowerCase(), path: "/inbox", search: { text: name } })),
  seen: Array.from(seen),
  tab,
});

for (const [what, base, ours, theirs, merged] of [
  ["no change", kept("ab", "xy"), kept("ab", "xy"), kept("ab", "xy"), kept("ab", "xy")],
  ["a view from each", kept("a", ""), kept("ab", ""), kept("ac", ""), kept("acb", "")],
  ["a view removed here", kept("ab", ""), kept("b", ""), kept("abc", ""), kept("bc", "")],
  ["a view removed there", kept("ab", ""), kept("ab", ""), kept("b", ""), kept("b", "")],
  ["a view changed here", kept("ab", ""), kept("Ab", ""), kept("abc", ""), kept("Abc", "")],
  ["a view changed here and removed there", kept("ab", ""), kept("Ab", ""), kept("b", ""), kept("bA", "")],
  ["a mark from each", kept("", "x"), kept("", "xy"), kept("", "xz"), kept("", "xzy")],
  ["a mark removed here", kept("", "xy"), kept("", "y"), kept("", "xyz"), kept("", "yz")],
  ["a tab chosen there", kept("", "", ""), kept("", "", ""), kept("", "", "mine"), kept("", "", "mine")],
  ["a tab chosen here", kept("", "", ""), kept("", "", "groups"), kept("", "", "mine"), kept("", "", "groups")],
] as const) {
  test(`${what}: the changes of both browsers stay`, () => {
    assert.deepEqual(mergeKept(base, ours, theirs), merged);
  });
}

test("the latest read marks stay", () => {
  const many = Array.from({ length: SEEN_MAX }, (_, at) => `i${at}`);
  const { seen } = mergeKept(kept("", ""), { ...kept("", ""), seen: ["last"] }, { ...kept("", ""), seen: many });
  assert.deepEqual([seen.length, seen[0], seen.at(-1)], [SEEN_MAX, "i1", "last"]);
});
