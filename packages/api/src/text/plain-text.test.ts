// Tests of plain text: plain-text.1, plain-text.2, plain-text.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatPlainText } from "./plain-text.ts";

const ROWS: readonly (readonly [markdown: string, words: string])[] = [
  ["# Refund **order 4711**?", "Refund order 4711?"],
  ["## Refund ##", "Refund"],
  ["---\n> *Careful*: __really__ ~~not~~", "Careful: really not"],
  ["- [x] call `ann()`\n* mail", "call ann() mail"],
  ['See [the order](https://shop.example/4711 "order") ![photo](data:image/png;base64,AAAA)', "See the order photo"],
  ["Is this data:image/png;base64,iVBORw0KGgo= yours?", "Is this [image] yours?"],
  ["Read data:application/pdf;base64,AAAA now", "Read [file] now"],
  ["| name | amount |\n|---|---:|\n| Ada | 5 |", "name · amount Ada · 5"],
  ["| a | b |\n| - | :-: |\n| 1 | 2 |", "a · b 1 · 2"],
  ['<b>Pay</b> <span class="x">5</span><br>now', "Pay 5 now"],
  ["```json\n{}\n```\nSend?", "{} Send?"],
  ["Title\n=====\nText", "Title Text"],
  ["\\*not a mark\\*", "*not a mark*"],
  ["***both*** and _one_", "both and one"],
];
for (const [markdown, words] of ROWS) {
  test(`${JSON.stringify(markdown)} reads ${JSON.stringify(words)} (plain-text.1, plain-text.2)`, () =>
    assert.equal(formatPlainText(markdown), words));
}

for (const text of [
  "2 * 3 * 4",
  "snake_case_name and other_name",
  "a < b > c",
  "Bob <bob@example.org>",
  "C# or F#",
  "x = 1",
  "list[0] = a",
  "-5 is less",
  "50 % ~ 60 %",
  "data: none",
]) {
  test(`${JSON.stringify(text)} stays as it is (plain-text.3)`, () => assert.equal(formatPlainText(text), text));
}
