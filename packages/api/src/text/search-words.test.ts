// Tests of search words: search-words.1 to search-words.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWordBag, queryWords, splitWords } from "./search-words.ts";

test("words are letters and digits, without case and accents (search-words.1, search-words.2)", () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["Refund order #4711, PLEASE!", ["refund", "order", "4711", "please"]],
    ["Café naïve Ångström ﬁn", ["cafe", "naive", "angstrom", "fin"]],
    ["ann@example.com refund_order", ["ann", "example", "com", "refund", "order"]],
    ["退款 order五", ["退", "款", "order", "五"]],
    ["\u0645\u0631\u062d\u0628\u0627 заказ", ["\u0645\u0631\u062d\u0628\u0627", "заказ"]],
    ['" OR * NEAR( -x ^ {a} : & | ! <-> \u0000 \ud800', ["or", "near", "x", "a"]],
    ["", []],
  ];
  for (const [text, words] of rows) assert.deepEqual(splitWords(text), words, text);
});

test("a query has few short words (search-words.3)", () => {
  assert.deepEqual(queryWords("b a b"), ["b", "a"]);
  assert.equal(queryWords(Array.from({ length: 99 }, (_, at) => `w${at}`).join(" ")).length, 10);
  assert.deepEqual(queryWords("x".repeat(5000)), ["x".repeat(64)]);
  assert.deepEqual(queryWords(undefined), []);
});

test("a document has names, texts and numbers, the newest of long lists, and a bounded number of words", () => {
  const bag = createWordBag();
  bag.add({ order_id: 4711, ok: true, lines: ["One line", { deep: "two" }], none: null });
  assert.deepEqual(
    new Set(bag.words()),
    new Set(["order", "id", "4711", "ok", "lines", "one", "line", "deep", "two", "none"]),
  );
  const newest = createWordBag();
  newest.add(
    Array.from({ length: 100 }, (_, at) => `message${at} ${"filler ".repeat(20)}`),
    1000,
  );
  assert.ok(newest.words().includes("message99") && !newest.words().includes("message0"));
  const big = createWordBag();
  for (let at = 0; at < 100; at++) big.add(Array.from({ length: 1000 }, (_, n) => `w${at}x${n}`));
  assert.ok(big.words().length < 4000);
});
