// Tests of visible text: visible-text.1 (nothing is hidden), visible-text.2 (scripts and emoji stay), visible-text.3
// (names that can be taken for others).
import assert from "node:assert/strict";
import { test } from "node:test";
import { confusable, visible, visibleParts } from "./visible-text.ts";

const SHOWN: readonly (readonly [text: string, shown: string])[] = [
  ["abc\u202egnp.exe", "abc\\u202egnp.exe"],
  ["a\u2066b\u2069c\u200ed\u061ce", "a\\u2066b\\u2069c\\u200ed\\u061ce"],
  ["pay\u200bpal, in\u00advoice, x\ufeffy, \u2060", "pay\\u200bpal, in\\u00advoice, x\\ufeffy, \\u2060"],
  ["\u0007bell \u001b[2J \u007f \u0085 a\rb\u0000", "\\u0007bell \\u001b[2J \\u007f \\u0085 a\\u000db\\u0000"],
  ["a\u2028b\u2029c", "a\\u2028b\\u2029c"],
  ["hidden\u{e0041} prompt", "hidden\\udb40\\udc41 prompt"],
  ["\ud800 alone, \u3164 filler", "\\ud800 alone, \\u3164 filler"],
  ["a\ufe0fb \u200d", "a\\ufe0fb \\u200d"],
];
for (const [text, shown] of SHOWN) {
  test(`${shown} shows what is hidden (visible-text.1)`, () => {
    assert.equal(visible(text), shown);
    const parts = visibleParts(text);
    assert.equal(parts.map((part) => part.text).join(""), shown);
    assert.ok(parts.some(({ hidden }) => hidden));
    assert.deepEqual(JSON.parse(visible(JSON.stringify({ [text]: text }))), { [text]: text }, "JSON stays equivalent");
  });
}

const KEPT = [
  "plain text, línea ¿sí?\n\ttab",
  "返金 한국 עברית العربية",
  "می‌خواهم", // Persian needs the non-joiner
  "क्‍ष", // Devanagari with a joiner
  "👩‍👩‍👧 ❤️ 1️⃣ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🙂 🇩🇪",
  "e\u0301",
];
for (const text of KEPT) {
  test(`${JSON.stringify(text)} stays as it is (visible-text.2)`, () => {
    assert.equal(visible(text), text);
    assert.deepEqual(
      visibleParts(text)
        .map((part) => part.text)
        .join(""),
      text,
    );
  });
}

const CONFUSABLE: readonly (readonly [names: readonly string[], reasons: Readonly<Record<string, string>>])[] = [
  [["amount", "to", "Ärger", "сумма", "ποσό", "name2"], {}],
  [["аmount"], { аmount: "mixes Latin and Cyrillic letters" }],
  [
    ["copy", "сору"], // the second is all Cyrillic
    { copy: "looks like сору", сору: "looks like copy" },
  ],
  [["total", "tota1"], { total: "looks like tota1", tota1: "looks like total" }],
  [["a\u200bb", "ab"], { "a\u200bb": "has invisible characters", ab: "looks like a\\u200bb" }],
];
for (const [names, reasons] of CONFUSABLE) {
  test(`${JSON.stringify(names)} ${Object.keys(reasons).length} can be taken for others (visible-text.3)`, () => {
    assert.deepEqual(Object.fromEntries(confusable(names)), reasons);
  });
}

test("a text of 5 MB takes a moment, hidden or not", () => {
  const text = "word ".repeat(1_000_000);
  assert.equal(visible(text), text);
  assert.equal(visible(`${text}\u202e`).length, text.length + 6);
});
