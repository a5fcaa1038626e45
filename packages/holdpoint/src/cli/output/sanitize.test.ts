// Tests of text: sanitize.1 (nothing from a server commands the terminal), sanitize.2 (widths are columns).
import assert from "node:assert/strict";
import { test } from "node:test";
import { clip, duration, jsonText, oneLine, printable, countWidth, wrap } from "./sanitize.ts";

const HARMFUL = [
  "\u200b",
  "\u2060",
  "\u{e0041}",
  "\u001b[2J",
  "\u009b31m",
  "\u0007",
  "\u202e",
  "\u2066",
  "\u007f",
  "\u001b]8;;http://x\u0007",
];

test("shows control sequences, bidirectional and invisible characters as escapes (sanitize.1)", () => {
  for (const harmful of HARMFUL) {
    const text = `a${harmful}b`;
    for (const shown of [printable(text), oneLine(text), jsonText(text), jsonText({ [text]: text }, 2)])
      assert.doesNotMatch(shown, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2060-\u2069\u200b\u{e0041}]/u);
    assert.deepEqual(JSON.parse(jsonText({ text })), { text }); // and says the same
  }
  assert.equal(oneLine("abc\u202egnp.exe"), "abc\\u202egnp.exe");
  assert.equal(oneLine(" a\r\n\tb  c "), "a b c");
  assert.equal(printable("a\r\nb\tc"), "a\nb\tc");
});

test("a width is the columns that a terminal shows (sanitize.2)", () => {
  for (const [text, width] of [
    ["", 0],
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["返金", 4],
    ["🙂", 2],
    ["👩‍👩‍👧", 2],
    ["한국", 4],
    ["…", 1],
  ] as const)
    assert.equal(countWidth(text), width, text);
});

test("a clipped text fits, and ends with a mark", () => {
  for (const text of ["refund: A customer", "返金：お客様が", "🙂🙂🙂🙂", "e\u0301e\u0301e\u0301"])
    for (let columns = 1; columns < 20; columns++) {
      const clipped = clip(text, columns);
      assert.ok(countWidth(clipped) <= columns);
      assert.equal(clipped === text, countWidth(text) <= columns);
      if (clipped !== text) assert.ok(clipped.endsWith("…"));
    }
});

test("wraps lines between words if possible, and loses no character", () => {
  assert.deepEqual(wrap("one two three\nfour", 8), ["one two", "three", "four"]);
  assert.deepEqual(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
  assert.deepEqual(wrap("返金返金", 5), ["返金", "返金"]);
  assert.deepEqual(wrap("", 5), [""]);
});

test("durations use their largest unit", () => {
  assert.deepEqual([-5, 999, 59_000, 90_000, 3_600_000, 200_000_000].map(duration), [
    "0s",
    "0s",
    "59s",
    "1m",
    "1h",
    "2d",
  ]);
});
