// Tests of answers in words: every dialect, and answers of none.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import { formatAnswer, nameDecision } from "./answer-words.ts";

const REFUND = { actions: [{ name: "refund", args: { amount: 129.9, to: "ann", note: "x" } }] };
const TWO = { actions: [...REFUND.actions, { name: "mail", args: {} }] };
const edited = { name: "refund", args: { amount: 64.95, to: "ann", cc: true } };

type Asked = Parameters<typeof formatAnswer>[1];

const ROWS: readonly (readonly [answer: Json, asked: Asked, words: string])[] = [
  [{ decisions: [{ type: "approve" }] }, REFUND, "approved"],
  [[{ type: "accept", args: null }], REFUND, "approved"],
  [
    { decisions: [{ type: "edit", edited_action: edited }] },
    REFUND,
    "edited: amount 129.9 → 64.95, note removed, cc yes",
  ],
  [
    { decisions: [{ type: "edit", editedAction: edited }] },
    REFUND,
    "edited: amount 129.9 → 64.95, note removed, cc yes",
  ],
  [
    [{ type: "edit", args: { action: "refund", args: { ...REFUND.actions[0]?.args, to: "bob" } } }],
    REFUND,
    "edited: to ann → bob",
  ],
  [{ decisions: [{ type: "edit", edited_action: edited }] }, null, "edited: amount: 64.95 · to: ann · cc: true"],
  [{ decisions: [{ type: "reject", message: "Too **much**" }] }, REFUND, "rejected: Too much"],
  [{ decisions: [{ type: "reject" }] }, null, "rejected"],
  [[{ type: "response", args: "Ask Bob" }], REFUND, "answered: Ask Bob"],
  [{ decisions: [{ type: "respond", message: "Ask Bob" }] }, REFUND, "answered: Ask Bob"],
  [[{ type: "ignore", args: null }], REFUND, "ignored"],
  [{ decisions: [{ type: "approve" }, { type: "approve" }] }, TWO, "approved 2"],
  [{ decisions: [{ type: "approve" }, { type: "reject" }] }, TWO, "refund approved; mail rejected"],
  [true, null, "yes"],
  [false, null, "no"],
  ["To\nRome", null, "To Rome"],
  [{ city: "Ulm", nights: 2 }, null, "city: Ulm · nights: 2"],
  [[1, 2], null, "1 · 2"],
  [{ decisions: [{ type: "later" }] }, REFUND, "type: later"],
  ["", null, "an empty answer"],
];
for (const [answer, asked, words] of ROWS) {
  test(`${JSON.stringify(answer)} is ${JSON.stringify(words)}`, () => assert.equal(formatAnswer(answer, asked), words));
}

test("an answer of any length is one short line", () => {
  assert.equal(formatAnswer("x".repeat(1_000_000), null).length, 300);
});

test("a decision is one word for counts, in every dialect", () => {
  const rows: readonly (readonly [Json, string])[] = [
    [{ decisions: [{ type: "approve" }, { type: "approve" }] }, "approve"],
    [[{ type: "accept" }], "approve"],
    [{ decisions: [{ type: "approve" }, { type: "reject" }] }, "mixed"],
    [[{ type: "response" }], "respond"],
    [true, "approve"],
    [false, "reject"],
    ["Rome", "answer"],
    [[1], "answer"],
  ];
  for (const [answer, name] of rows) assert.equal(nameDecision(answer), name, JSON.stringify(answer));
});
