// Tests of policies against questions (fits-policy.1 to fits-policy.4, policy-rule.1, policy-rule.2).
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt, Policy, Review } from "../model.ts";
import { buildPolicyAnswer, fitsQuestion, needsAdministrator } from "./fits-policy.ts";
import { type GivenPolicy, PolicyFault, readPolicyRule } from "./policy-rule.ts";

const METADATA: JsonObject = { service: "shop", level: 3, "a.b": 1 };

function item(value: Json, more: Partial<Interrupt> = {}): Interrupt {
  const ids = { threadId: "t1", interruptId: "i", assistantId: "a1", graphId: "agent" };
  return { ...ids, value, responseSchema: null, review: null, ...more } as Interrupt;
}

const call = (name: string, args: Json) => ({ name, args });
const calls = (...actions: readonly Json[]): Json => ({ action_requests: actions });
const refund = (amount: Json, more: JsonObject = {}): Json => calls(call("refund", { amount, ...more }));
const ONE: Json = [{ action_request: { action: "refund", args: { amount: 5 } }, config: { allow_accept: true } }];

/** As a body has it: with an own member `__proto__`. */
const parse = (text: string): JsonObject => JSON.parse(text) as JsonObject;

const SMALL: GivenPolicy = { action: "refund", when: { "args.amount": { lte: 50 } }, answer: "approve" };
const when = (conditions: JsonObject): GivenPolicy => ({ when: conditions, answer: "approve" });

const fitting: readonly (readonly [string, GivenPolicy, Json, boolean])[] = [
  ["an amount below the limit", SMALL, refund(49.99), true],
  ["an amount at the limit", SMALL, refund(50), true],
  ["an amount above the limit", SMALL, refund(50.01), false],
  ["a negative amount", SMALL, refund(-1), true],
  ["an amount between two limits", when({ "args.amount": { gt: 10, lt: 50 } }), refund(10), false],
  ["another tool", SMALL, calls(call("pay", { amount: 5 })), false],
  ["no amount", SMALL, calls(call("refund", {})), false],
  ["arguments that are no object", SMALL, calls(call("refund", [50])), false],
  ["an amount as a text", SMALL, refund("49"), false],
  ["an amount as a list", SMALL, refund([49]), false],
  ["an amount in an object", SMALL, refund({ amount: 49 }), false],
  ["null", SMALL, refund(null), false],
  ["true", SMALL, refund(true), false],
  ["a big integer", SMALL, refund(Number("9007199254740993")), false],
  ["two actions that both fit", SMALL, calls(call("refund", { amount: 1 }), call("refund", { amount: 2 })), true],
  ["two actions of which one fits", SMALL, calls(call("refund", { amount: 1 }), call("refund", { amount: 99 })), false],
  ["two actions, another tool second", SMALL, calls(call("refund", { amount: 1 }), call("wipe", {})), false],
  ["the older format", SMALL, ONE, true],
  ["a question without actions", SMALL, "Refund 5?", false],
  ["a question whose own members look like arguments", SMALL, { action: "refund", args: { amount: 5 } }, false],
  ["a member with a dot in its name", SMALL, calls(call("refund", { "args.amount": 1, amount: 99 })), false],
  [
    "a dotted name beside the member",
    when({ "args.refund.amount": { lte: 50 } }),
    calls(call("x", { "refund.amount": 1, refund: { amount: 99 } })),
    false,
  ],
  [
    "a member of an object",
    when({ "args.refund.amount": { lte: 50 } }),
    calls(call("x", { refund: { amount: 9 } })),
    true,
  ],
  ["a name of the prototype", when({ "args.constructor": { exists: true } }), refund(1), false],
  ["a name of the prototype, deeper", when({ "args.constructor.name": "Object" }), refund(1), false],
  ["toString", when({ "args.toString": { exists: true } }), refund(1), false],
  [
    "an own __proto__ that carries the amount",
    SMALL,
    calls(call("refund", parse('{"__proto__": {"amount": 1}}'))),
    false,
  ],
  [
    "an own __proto__ that is asked for",
    when({ "args.__proto__.x": 1 }),
    calls(call("y", parse('{"__proto__": {"x": 1}}'))),
    true,
  ],
  ["the length of a list", when({ "args.items.length": { lte: 5 } }), calls(call("x", { items: [1] })), false],
  ["an item of a list", when({ "args.items.0": 1 }), calls(call("x", { items: [1] })), false],
  ["equal texts", when({ "args.to": "ann" }), calls(call("x", { to: "ann" })), true],
  ["texts in another case", when({ "args.to": "ann" }), calls(call("x", { to: "Ann" })), false],
  ["1 and true", when({ "args.to": 1 }), calls(call("x", { to: true })), false],
  ["null and a missing member", when({ "args.to": null }), calls(call("x", {})), false],
  ["one of a list", when({ "args.to": { in: ["ann", 5] } }), calls(call("x", { to: 5 })), true],
  ["none of a list", when({ "args.to": { in: ["ann", 5] } }), calls(call("x", { to: "5" })), false],
  ["a missing member that must be missing", when({ "args.to": { exists: false } }), refund(1), true],
  ["a member that must be missing", when({ "args.amount": { exists: false } }), refund(1), false],
  ["the metadata of the thread", when({ "metadata.service": "shop", "metadata.level": { gte: 3 } }), refund(1), true],
  ["other metadata", when({ "metadata.service": "bank" }), refund(1), false],
  ["metadata with a dot in the name", when({ "metadata.a.b": 1 }), refund(1), false],
  ["the thread", when({ thread: "t1" }), refund(1), true],
  ["another thread", when({ thread: "t2" }), refund(1), false],
  ["the assistant and the graph", when({ assistant: "a1", graph: "agent" }), refund(1), true],
  ["another assistant", when({ assistant: { in: ["a2"] } }), refund(1), false],
  ["a text as payload", when({ payload: "Deploy?" }), "Deploy?", true],
  ["a member of the payload", when({ "payload.kind": "deploy" }), { kind: "deploy" }, true],
];

suite("a policy and a question", () => {
  for (const [name, given, value, fits] of fitting)
    test(`${name}: ${fits ? "fits" : "stays open"}`, () => {
      const asked = { interrupt: item(value), metadata: METADATA, config: {} };
      assert.equal(fitsQuestion(readPolicyRule(given), asked), fits);
    });
});

const refused: readonly (readonly [string, GivenPolicy])[] = [
  ["no condition", { answer: "approve" }],
  ["an empty when", when({})],
  ["an unknown path", when({ amount: 1 })],
  ["a root without a member", when({ args: 1 })],
  ["a member of a root that has none", when({ "action.name": "x" })],
  ["an empty step", when({ "args..x": 1 })],
  ["__proto__ as a path", when(parse('{"__proto__": {"lte": 1}}'))],
  ["__proto__ beside a path", when(parse('{"args.x": 1, "__proto__": {"args.y": 1}}'))],
  ["an unknown operator", when({ "args.x": { ne: 1 } })],
  ["an unknown operator beside a known one", when({ "args.x": { lte: 1, regex: "." } })],
  ["__proto__ as an operator", when({ "args.x": parse('{"__proto__": 1}') })],
  ["no operator", when({ "args.x": {} })],
  ["an order of texts", when({ "args.x": { lte: "50" } })],
  ["a big integer", when({ "args.x": { lte: Number("9007199254740993") } })],
  ["a number that JSON cannot hold", when({ "args.x": { lte: Number("1e400") } })],
  ["a list as a value", when({ "args.x": [1] })],
  ["an empty list", when({ "args.x": { in: [] } })],
  ["exists with a text", when({ "args.x": { exists: "true" } })],
  ["the action twice", { action: "refund", when: { action: "pay" }, answer: "approve" }],
  ["an unknown answer", { action: "refund", answer: "maybe" }],
  ["an answer with more members", { action: "refund", answer: { value: 1, also: 2 } }],
  ["a long answer", { action: "refund", answer: { value: "x".repeat(20_000) } }],
  ["a long text", when({ "args.x": "x".repeat(1001) })],
  ["many conditions", when(Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`args.x${at}`, 1])))],
];

suite("a policy that cannot be written", () => {
  for (const [name, given] of refused)
    test(`${name} is refused`, () => assert.throws(() => readPolicyRule(given), PolicyFault));
});

suite("questions for policies of administrators (fits-policy.4)", () => {
  const review: Review = {
    assignees: [],
    approvals: 1,
    rejections: 1,
    fourEyes: false,
    excluded: [],
    escalations: [],
    votes: [],
    fault: null,
  };
  const cases: readonly (readonly [string, Interrupt, JsonObject, boolean])[] = [
    ["a plain approval", item(refund(1)), {}, false],
    ["a dangerous one", item({ ...(refund(1) as JsonObject), dangerous: true }), {}, true],
    ["a dangerous action", item(calls({ ...call("wipe", {}), dangerous: true })), {}, true],
    ["assignees", item("?", { review: { ...review, assignees: [["ann"]] } }), {}, false],
    ["four eyes", item("?", { review: { ...review, fourEyes: true } }), {}, true],
    ["two approvals", item("?", { review: { ...review, approvals: 2 } }), {}, true],
    ["two rejections", item("?", { review: { ...review, rejections: 2 } }), {}, true],
    ["a question for people only", item({ audience: "human" }), {}, true],
    ["an assistant for people only", item("?"), { configurable: { audience: "human" } }, true],
  ];
  for (const [name, interrupt, config, expected] of cases)
    test(`${name}: ${expected ? "needs one" : "any"}`, () =>
      assert.equal(needsAdministrator({ interrupt, metadata: {}, config }), expected));
});

test("a decision becomes an answer in the dialect of the question, or none", () => {
  const answer = (given: Policy["answer"], value: Json) => buildPolicyAnswer({ answer: given }, item(value))?.value;
  assert.deepEqual(answer("approve", calls(call("a", {}), call("b", {}))), {
    decisions: [{ type: "approve" }, { type: "approve" }],
  });
  assert.deepEqual(answer("approve", ONE), [{ type: "accept", args: null }]);
  assert.equal(answer("reject", ONE), undefined, "the question does not allow it");
  assert.equal(answer({ value: 5 }, ONE), 5);
});
