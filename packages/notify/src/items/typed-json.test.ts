// Tests of JSON as people type it: typed-json.1, typed-json.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTypedJson } from "./typed-json.ts";

for (const [typed, value] of [
  ["\u201capproved\u201d", "approved"],
  ["{\u201ca\u201d: \u201cb\u201d}", { a: "b" }],
  ["{\u201ea\u201c: \u00ab\u202fb\u202f\u00bb}", { a: "\u202fb\u202f" }],
  ["{\u2018a\u2019:\u00a01}", { a: 1 }],
  ['\u00a0{\u00a0"a"\u202f:\ufeff[1,\u00a02]\u00a0}', { a: [1, 2] }],
  ['{\u201ca\u201d: \u201che said "hi" twice\u201d, \u201cb\u201d: 2}', { a: 'he said "hi" twice', b: 2 }],
  ['{"a": "he said \u201chi\u201d"}', { a: "he said \u201chi\u201d" }],
  ['{"a": "x\u00a0y",\u00a0\u201cb\u201d: "it\u2019s"}', { a: "x\u00a0y", b: "it\u2019s" }],
  ["{\u201ca\u201d: \u201cC:\\\\x\u201d}", { a: "C:\\x" }],
  ['{\u201ca": true}', { a: true }],
] as const)
  test(`${typed} is ${JSON.stringify(value)} (typed-json.1, typed-json.2)`, () =>
    assert.deepEqual(parseTypedJson(typed), value));

for (const typed of ["", "\u201ca", "{a: 1}", "\u201ca\u201d x"])
  test(`${typed === "" ? "no text" : typed} is refused with the reason of the text as typed`, () => {
    let reason = "";
    try {
      JSON.parse(typed);
    } catch (error) {
      reason = String(error);
    }
    assert.throws(
      () => parseTypedJson(typed),
      (error) => String(error) === reason,
    );
  });
