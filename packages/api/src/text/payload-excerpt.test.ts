// Tests of excerpts of payloads: payload-excerpt.1, payload-excerpt.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import { formatExcerpt, isDangerous } from "./payload-excerpt.ts";

test("an excerpt has names and values in one line", () => {
  const rows: readonly (readonly [Json, string])[] = [
    ["Refund\n order 4711?", "Refund order 4711?"],
    [
      { question: "Refund?", amount: 30, deep: { ok: true }, none: null },
      "question: Refund? · amount: 30 · ok: true · none: null",
    ],
    [[{ name: "mail", args: { to: ["ann", "bob"] } }], "name: mail · to: ann · to: bob"],
    [{}, ""],
    [null, "null"],
  ];
  for (const [value, expected] of rows) assert.equal(formatExcerpt(value), expected);
});

test("an excerpt is short and shows hidden characters (payload-excerpt.1, payload-excerpt.2)", () => {
  assert.equal(formatExcerpt({ file: "abc\u202egnp.exe" }), "file: abc\\u202egnp.exe");
  let deep: Json = "end";
  for (let depth = 0; depth < 5000; depth++) deep = [deep, {}];
  for (const value of [
    "x".repeat(1_000_000),
    Array.from({ length: 100_000 }, () => []),
    deep,
    { a: "\u202e".repeat(999) },
  ]) {
    assert.ok(formatExcerpt(value).length <= 300);
  }
});

test("a mark on the payload, an action or its review asks for a confirmation", () => {
  const marked: readonly Json[] = [
    { dangerous: true },
    [{ action_request: { action: "drop", args: {} }, config: { dangerous: true } }],
    {
      action_requests: [
        { name: "read", args: {} },
        { name: "drop", args: {}, dangerous: true },
      ],
    },
    { actionRequests: [{ name: "drop", args: {} }], reviewConfigs: [{ actionName: "drop", dangerous: true }] },
  ];
  for (const value of marked) assert.equal(isDangerous(value), true, JSON.stringify(value));
  const unmarked: readonly Json[] = [
    null,
    "dangerous",
    { dangerous: "yes" },
    { args: { dangerous: true } },
    { action_requests: [{ name: "drop", args: { dangerous: true } }] },
  ];
  for (const value of unmarked) assert.equal(isDangerous(value), false, JSON.stringify(value));
});
