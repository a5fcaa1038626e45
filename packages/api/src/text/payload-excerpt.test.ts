// Tests of excerpts of payloads: payload-excerpt.1, payload-excerpt.2, payload-excerpt.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import { recognise } from "../dialects.ts";
import { formatExcerpt, formatHint, isDangerous } from "./payload-excerpt.ts";

const readExcerpt = (value: Json): string => formatExcerpt(value, recognise(value, null));

test("an excerpt has what a person decides on, by name, in one line (payload-excerpt.3)", () => {
  const rows: readonly (readonly [Json, string])[] = [
    ["Refund\n order 4711?", "Refund order 4711?"],
    [
      { question: "Refund?", amount: 30, deep: { ok: true }, none: null },
      "question: Refund? · amount: 30 · ok: true · none: null",
    ],
    [[{ name: "mail", args: { to: ["ann", "bob"] } }], "name: mail · to: ann · to: bob"],
    [
      [
        {
          action_request: { action: "mail", args: { to: "ann" } },
          config: { allow_accept: true },
          description: "Send?",
        },
      ],
      "to: ann",
    ],
    [
      {
        action_requests: [
          { name: "pay", args: { eur: 5 } },
          { name: "mail", args: { to: "bob" } },
        ],
        review_configs: [],
      },
      "pay · eur: 5 · mail · to: bob",
    ],
    [
      {
        question: "**Which**?",
        photo: "data:image/png;base64,AAAA",
        response_schema: { type: "string" },
        dangerous: true,
      },
      "question: Which? · photo: [image]",
    ],
    [{}, ""],
    [null, "null"],
  ];
  for (const [value, expected] of rows) assert.equal(readExcerpt(value), expected);
});

test("an excerpt is short and shows hidden characters (payload-excerpt.1, payload-excerpt.2)", () => {
  assert.equal(readExcerpt({ file: "abc\u202egnp.exe" }), "file: abc\\u202egnp.exe");
  let deep: Json = "end";
  for (let depth = 0; depth < 5000; depth++) deep = [deep, {}];
  for (const value of [
    "x".repeat(1_000_000),
    Array.from({ length: 100_000 }, () => []),
    deep,
    { a: "\u202e".repeat(999) },
  ]) {
    assert.ok(readExcerpt(value).length <= 300);
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

test("beside a title stand the arguments of an approval, unless the title has them", () => {
  const item = { kind: "tool_approval", title: "refund: Money back?", action: "refund", excerpt: "eur: 5" };
  assert.equal(formatHint(item), "eur: 5");
  assert.equal(formatHint({ ...item, title: "refund(eur: 5)" }), "");
  const list = { ...item, title: "refund(orders: …)", excerpt: "no: 1 · no: 2" };
  assert.equal(formatHint(list), "no: 1 · no: 2", "a title that leaves a list out");
  const question = { title: "Delete it?", action: null };
  assert.equal(formatHint({ ...question, excerpt: "question: Delete it? · id: 7" }), "id: 7");
  assert.equal(formatHint({ ...question, excerpt: "Delete it?" }), "");
  assert.equal(formatHint({ ...question, excerpt: "Delete it? It is old." }), "It is old.");
  const members = { title: 'round: 1, draft: "Draft 1"', action: null };
  assert.equal(formatHint({ ...members, excerpt: "round: 1 · draft: Draft 1 · more: yes" }), "more: yes");
});
