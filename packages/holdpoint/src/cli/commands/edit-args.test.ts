// Tests of edit: edit-args.1 (a value keeps its type), edit-args.2 (other arguments stay).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import { listChanges, editArgs } from "./edit-args.ts";

const ARGS = { id: "007", amount: 12.5, urgent: false, cc: null, tags: ["x"], to: { city: "Ulm", zip: 1 }, "a.b": 1 };

for (const [changes, is] of [
  [["id=8"], { id: "8" }],
  [["id="], { id: "" }],
  [["id=a=b"], { id: "a=b" }],
  [["amount=7", "urgent=true"], { amount: 7, urgent: true }],
  [["cc=5"], { cc: 5 }],
  [["cc=me"], { cc: "me" }],
  [['tags=["y",1]'], { tags: ["y", 1] }],
  [["to.city=5"], { to: { city: "5", zip: 1 } }],
  [["to.zip=5"], { to: { city: "Ulm", zip: 5 } }],
  [["to.street=Long"], { to: { city: "Ulm", zip: 1, street: "Long" } }],
  [["a.b=2"], { "a.b": 2 }],
  [["new=1", "word=w"], { new: 1, word: "w" }],
] satisfies readonly (readonly [readonly string[], Json])[])
  test(`--set ${changes.join(" --set ")} (edit-args.1, edit-args.2)`, () =>
    assert.deepEqual(editArgs(ARGS, changes), { ...ARGS, ...is }));

for (const [change, reason] of [
  ["amount=much", /of type number: write 5/],
  ["amount=", /of type number/],
  ['amount="5"', /of type number/],
  ["urgent=1", /of type boolean: write true or false/],
  ["tags=y", /of type list: write JSON/],
  ["to=Ulm", /of type object/],
  ["id.x=1", /id has no members/],
  ["amount", /write name=value/],
  ["=5", /write name=value/],
] as const)
  test(`--set ${change} is refused (edit-args.1)`, () => assert.throws(() => editArgs(ARGS, [change]), reason));

test("arguments that are no object are one value", () => assert.throws(() => editArgs("x", ["a=1"]), /--args/));

test("lists changes member by member, and nothing else", () => {
  assert.deepEqual(listChanges(ARGS, { ...ARGS, amount: 7, to: { city: "Bonn", zip: 1 } }), [
    "amount: 12.5 → 7",
    'to.city: "Ulm" → "Bonn"',
  ]);
  assert.deepEqual(listChanges({ a: 1 }, { b: 2 }), ["a: 1 → null", "b: null → 2"]);
  assert.deepEqual(listChanges([1], [1]), []);
});
