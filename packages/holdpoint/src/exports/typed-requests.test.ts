// Tests of the requests to people. Checked:
//   typed-requests.1. Clients recognise each payload in its dialect, and the answers that they build are the ones that
//        parse.
//   typed-requests.2. The JSON Schema of a request takes the same answers as its parser, but for what JSON Schema
//        cannot say. LangGraph's own check refuses those, too.
//   typed-requests.3. The type of an answer follows from the request (checked by the compiler).
import assert from "node:assert/strict";
import { test } from "node:test";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { interopParse, isInteropZodSchema } from "@langchain/core/utils/types";
import * as z from "zod";
import { checkAnswer } from "@holdpoint/server/interrupts/answer-schema.ts";
import { buildAnswer, type Decision, recognise } from "@holdpoint/api/dialects.ts";
import { isDangerous } from "@holdpoint/api/text/payload-excerpt.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { approval, type Ask, choice, form, InvalidAnswerError } from "./interrupts.ts";

const Args = z.object({ to: z.string(), copies: z.number().int().default(1) });
const email = approval({
  action: "send_email",
  args: { to: "ada", copies: 1 },
  description: "Check the *address*.",
  allow: ["approve", "edit", "reject", "respond"],
  schema: Args,
});

test("an approval that is marked as dangerous says so, and others say nothing", () => {
  const asked = (dangerous: boolean): Json => approval({ action: "wipe", args: {}, dangerous }).payload as Json;
  assert.equal(isDangerous(asked(true)), true);
  assert.doesNotMatch(JSON.stringify(asked(false)), /dangerous/);
});

function answered<Answer>(ask: Ask<Answer>, decision: Decision): Answer {
  const asked = recognise(ask.payload as Json, ask.responseSchema as JsonObject);
  const built = buildAnswer(asked, [decision]);
  if (!built.ok) return assert.fail(built.reason);
  assert.deepEqual(checkAnswer(ask.responseSchema as JsonObject, built.value), []);
  return ask.parse(built.value);
}

test("an approval is recognised, and each of its decisions parses (typed-requests.1)", () => {
  const asked = recognise(email.payload as Json, email.responseSchema as JsonObject);
  assert.equal(asked.dialect, "hitl_camel");
  assert.equal(asked.title, "send_email: Check the address.");
  assert.deepEqual(asked.actions[0]?.allowed, ["approve", "edit", "reject", "respond"]);
  assert.ok(asked.actions[0]?.argsSchema);
  const args = { to: "ada", copies: 1 };
  assert.deepEqual(answered(email, { type: "approve" }), { type: "approve", args });
  assert.deepEqual(answered(email, { type: "edit", args: { to: "bob" } }), {
    type: "edit",
    args: { to: "bob", copies: 1 },
  });
  assert.deepEqual(answered(email, { type: "reject" }), { type: "reject", message: null });
  assert.deepEqual(answered(email, { type: "reject", message: "no" }), { type: "reject", message: "no" });
  assert.deepEqual(answered(email, { type: "respond", value: "later" }), { type: "respond", message: "later" });
});

test("forms and choices are recognised as forms (typed-requests.1)", () => {
  const asked = form({
    question: "Which invoice?\nOf two.",
    details: { file: "a.png" },
    schema: z.object({ id: z.string() }),
  });
  const shown = recognise(asked.payload as Json, asked.responseSchema as JsonObject);
  assert.deepEqual([shown.kind, shown.dialect, shown.title], ["form", "json_schema", "Which invoice?"]);
  assert.deepEqual(asked.payload, { question: "Which invoice?\nOf two.", file: "a.png" });
  assert.deepEqual(answered(asked, { type: "respond", value: { id: "7" } }), { id: "7" });
  assert.equal(answered(choice({ question: "?", options: ["a", "b"] }), { type: "respond", value: "b" }), "b");
  const several = choice({ question: "?", options: ["a", "b"], several: true });
  assert.deepEqual(answered(several, { type: "respond", value: ["b"] }), ["b"]);
});

const even = form({
  question: "An even number?",
  schema: z.object({ n: z.number().refine((n) => n % 2 === 0, "is odd") }),
});
const REFUSED: readonly (readonly [name: string, ask: Ask<unknown>, answer: Json, inSchema: boolean])[] = [
  ["no decisions", email, {}, true],
  ["two decisions", email, { decisions: [{ type: "approve" }, { type: "approve" }] }, true],
  [
    "a decision that is not allowed",
    approval({ action: "a", args: {}, allow: ["approve"] }),
    { decisions: [{ type: "reject" }] },
    true,
  ],
  [
    "edited arguments of another type",
    email,
    { decisions: [{ type: "edit", editedAction: { args: { to: 1 } } }] },
    true,
  ],
  ["an edit without arguments", email, { decisions: [{ type: "edit" }] }, true],
  ["a response without its text", email, { decisions: [{ type: "respond" }] }, true],
  ["no option", choice({ question: "?", options: ["a"] }), "b", true],
  ["no list of options", choice({ question: "?", options: ["a"], several: true }), "a", true],
  ["a value beside a JSON Schema", form({ question: "?", schema: { type: "integer", minimum: 3 } }), 2, true],
  ["a value that only the schema's own code refuses", even, { n: 3 }, false],
];
for (const [name, ask, answer, inSchema] of REFUSED) {
  test(`refused: ${name} (typed-requests.2)`, () => {
    assert.equal(checkAnswer(ask.responseSchema as JsonObject, answer)?.length === 0, !inSchema);
    assert.throws(() => ask.parse(answer), InvalidAnswerError);
  });
}

test("ask() passes payload and schema to interrupt(), and parses its result (typed-requests.2)", () => {
  const given: { payload: unknown; schema: z.ZodType }[] = [];
  const value = form({
    question: "How many?",
    schema: z
      .string()
      .transform(Number)
      .refine((n) => n > 1, "is too small"),
  }).ask((payload, options) => {
    given.push({ payload, schema: options?.responseSchema as z.ZodType });
    return "3";
  });
  assert.equal(value, 3);
  const [{ payload, schema }] = given as [(typeof given)[0]];
  assert.deepEqual(payload, { question: "How many?" });
  assert.equal(isInteropZodSchema(schema), true);
  const { $schema: _dialect, ...json } = toJsonSchema(schema) as JsonObject;
  assert.deepEqual(json, { type: "string" });
  assert.equal(interopParse(schema, "3"), "3"); // unchanged: the node's value is parsed from the answer itself
  assert.throws(() => interopParse(schema, "1"), /is too small/);
});

test("a deadline is a member of the schema that only code writes", () => {
  const fails = approval({ action: "a", args: {}, deadline: { seconds: 60, onExpiry: "fail" } });
  assert.deepEqual(fails.responseSchema["x-holdpoint-deadline"], { expires_in_seconds: 60, on_expiry: "fail" });
  const rejects = approval({ action: "a", args: {}, deadline: { seconds: 60, onExpiry: "reject" } });
  const onExpiry = { answer: { decisions: [{ type: "reject" }] } };
  assert.deepEqual(rejects.responseSchema["x-holdpoint-deadline"], { expires_in_seconds: 60, on_expiry: onExpiry });
  const chosen = choice({ question: "?", options: ["a"], deadline: { seconds: 1.5, onExpiry: { answer: "a" } } });
  assert.deepEqual(chosen.responseSchema["x-holdpoint-deadline"], {
    expires_in_seconds: 1.5,
    on_expiry: { answer: "a" },
  });
});

test("requests that no client could show are refused at once", () => {
  const foreign = { "~standard": { version: 1, vendor: "other", validate: (value: unknown) => ({ value }) } } as const;
  assert.throws(() => form({ question: "?", schema: foreign }), /this other schema has no JSON Schema/);
  assert.throws(
    () => form({ question: "?", details: { action_request: 1 }, schema: {} }),
    /must not have a member action_request/,
  );
  assert.throws(() => choice({ question: "?", options: [] }), /at least one/);
  assert.throws(() => choice({ question: "?", options: ["a", "a"] }), /all different/);
  assert.throws(() => approval({ action: "a", args: {}, allow: [] }), /at least one/);
});

test("the types of answers follow from the requests (typed-requests.3)", () => {
  const typed = (): void => {
    choice({ question: "?", options: ["a", "b"] }).parse(0) satisfies "a" | "b";
    choice({ question: "?", options: ["a", "b"], several: true }).parse(0) satisfies ("a" | "b")[];
    form({ question: "?", schema: z.object({ n: z.number().default(1) }) }).parse(0) satisfies { n: number };
    form<{ n: number }>({ question: "?", schema: {} }).parse(0) satisfies { n: number };
    const some = approval({ action: "a", args: { n: 1 }, allow: ["approve", "reject"] }).parse(0);
    if (some.type === "approve") some.args.n satisfies number;
    else some.message satisfies string | null;
    // @ts-expect-error a response is not allowed
    some.type satisfies "respond";
    // @ts-expect-error no such option
    choice({ question: "?", options: ["a"], deadline: { seconds: 1, onExpiry: { answer: "b" } } });
  };
  assert.equal(typeof typed, "function");
});
