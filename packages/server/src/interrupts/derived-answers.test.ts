// Tests of the rules that a recognised payload gives its answers: answer-rules.1 to answer-rules.3, answer-schema.3,
// answer-schema.4.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { answerAll, buildAnswer, type Decision, recognise } from "@holdpoint/api/dialects.ts";
import { deriveAnswerSchema } from "@holdpoint/api/answer-rules.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt } from "../model/model.ts";
import { answerSchema, schemaRefusal } from "./answer-schema.ts";

const PAY = { name: "pay", args: { to: "ann", eur: 5 } };
const ARGS_SCHEMA = {
  type: "object",
  properties: { to: { type: "string" }, eur: { type: "number" } },
  required: ["eur"],
};
const snake = (allowed: readonly string[], more: JsonObject = {}): JsonObject => ({
  action_requests: [PAY],
  review_configs: [{ action_name: "pay", allowed_decisions: allowed, ...more }],
});
const ALL = ["approve", "edit", "reject", "respond"];
const CAMEL = { actionRequests: [PAY], reviewConfigs: [{ actionName: "pay", allowedDecisions: ALL }] };
const TWO = { action_requests: [PAY, { name: "mail", args: {} }], review_configs: [] };
const flags = (accept: boolean, edit: boolean, respond: boolean, ignore: boolean): JsonObject => ({
  allow_accept: accept,
  allow_edit: edit,
  allow_respond: respond,
  allow_ignore: ignore,
});
const human = (config: JsonObject, more: JsonObject = {}): Json => [
  { action_request: { action: "pay", args: PAY.args }, config, ...more },
];
const ANY = flags(true, true, true, true);
const SAME = { action: "pay", args: PAY.args };
const TEXTS = { action: "pay", args: { to: "ann", eur: "5" } };
const decisions = (...list: readonly Json[]): Json => ({ decisions: [...list] });
const edit = (name: string, args: Json): JsonObject => ({ type: "edit", edited_action: { name, args } });
const FORM = { question: "Sure?", response_schema: { type: "boolean" } };

const refusal = (value: Json, answer: Json, review: object | null = null) =>
  schemaRefusal({ interruptId: "i", value, review, responseSchema: deriveAnswerSchema(value) } as Interrupt, answer);

const REFUSED: readonly (readonly [name: string, asked: Json, answer: Json, message: RegExp])[] = [
  ["no decision", snake(ALL), decisions(), /decisions does not fit.*too few/],
  ["more decisions than actions", snake(ALL), decisions({ type: "approve" }, { type: "approve" }), /too many/],
  ["fewer decisions than actions", TWO, decisions({ type: "approve" }), /too few/],
  ["a word", snake(ALL), "yes", /the answer should be an object, and is the text "yes"/],
  ["a bare list", snake(ALL), [{ type: "approve" }], /should be an object, and is a list/],
  ["nothing", snake(ALL), null, /should be an object/],
  [
    "a kind that is not allowed",
    snake(["approve"]),
    decisions({ type: "reject" }),
    /decisions\.0\.type should be "approve"/,
  ],
  ["a kind that nobody knows", snake(ALL), decisions({ type: "sure" }), /type should be one of "approve", "edit"/],
  [
    "the other kind of the second action",
    TWO,
    decisions({ type: "approve" }, { type: "respond", message: "x" }),
    /decisions\.1/,
  ],
  ["an edit that renames", snake(ALL), decisions(edit("wipe", {})), /edited_action\.name should be "pay"/],
  [
    "an edit without arguments",
    snake(ALL),
    decisions({ type: "edit", edited_action: { name: "pay" } }),
    /args is missing/,
  ],
  ["an edit without its action", snake(ALL), decisions({ type: "edit" }), /edited_action is missing/],
  ["an edit in the case of the other dialect", CAMEL, decisions(edit("pay", {})), /editedAction is missing/],
  [
    "an edit outside of the schema of its arguments",
    snake(ALL, { args_schema: ARGS_SCHEMA }),
    decisions(edit("pay", { eur: "all" })),
    /args\.eur should be a number, and is the text "all"/,
  ],
  ["a response without words", snake(ALL), decisions({ type: "respond", message: "" }), /message does not fit/],
  ["a response without a message", snake(ALL), decisions({ type: "respond" }), /message is missing/],
  ["a reason that is no text", snake(ALL), decisions({ type: "reject", message: {} }), /message should be a string/],
  ["a decision of the middleware", human(ANY), decisions({ type: "approve" }), /should be an array/],
  ["an answer without a list", human(ANY), { type: "accept", args: null }, /should be an array/],
  [
    "acceptance that is not allowed",
    human(flags(false, true, true, true)),
    [{ type: "accept", args: null }],
    /0\.type/,
  ],
  [
    "acceptance of other arguments",
    human(flags(true, false, true, true)),
    [{ type: "accept", args: TEXTS }],
    /0\.args/,
  ],
  ["acceptance of another action", human(ANY), [{ type: "accept", args: { ...SAME, action: "wipe" } }], /0\.args/],
  [
    "an edit that renames the action",
    human(ANY),
    [{ type: "edit", args: { ...SAME, action: "wipe" } }],
    /0\.args\.action/,
  ],
  ["a response that is no text", human(ANY), [{ type: "response", args: { a: 1 } }], /0\.args should be a string/],
  ["ignore with arguments", human(ANY), [{ type: "ignore", args: SAME }], /0\.args should be a null/],
  ["two answers to one request", human(ANY), [{ type: "ignore" }, { type: "ignore" }], /too many/],
  ["a word for a yes or no", FORM, "yes", /should be a boolean/],
  ["a member missing, schema without a type", { question: "?", schema: { required: ["a"] } }, {}, /a is missing/],
];

suite("an answer that breaks the rules of its payload (answer-rules.1, answer-rules.2)", () => {
  for (const [name, asked, answer, message] of REFUSED)
    test(`${name} is refused`, () => {
      const error = refusal(asked, answer);
      assert.equal(error?.code, "answer_invalid");
      assert.match(error.message, message);
    });
});

const TAKEN: readonly (readonly [name: string, asked: Json, answer: Json])[] = [
  ["LangChain's middleware: an approval", CAMEL, decisions({ type: "approve" })],
  ["LangChain's middleware: an edit", CAMEL, decisions({ type: "edit", editedAction: { name: "pay", args: {} } })],
  ["LangChain's middleware: a rejection", CAMEL, decisions({ type: "reject" })],
  ["agent-chat-ui: a rejection with a reason", snake(ALL), decisions({ type: "reject", message: "no" })],
  ["agent-chat-ui: more members in a decision", snake(ALL), decisions({ type: "approve", note: "x" })],
  ["a kind of the graph itself", snake(["approve", "postpone"]), decisions({ type: "postpone", days: 3 })],
  ["Agent Inbox: accept", human(ANY), [{ type: "accept", args: null }]],
  ["Agent Inbox: accept without edits", human(flags(true, false, true, true)), [{ type: "accept", args: null }]],
  ["Agent Inbox: accept with the request", human(flags(true, false, true, true)), [{ type: "accept", args: SAME }]],
  ["Agent Inbox: accept with every value as a text", human(ANY), [{ type: "accept", args: TEXTS }]],
  ["Agent Inbox: the same, with a schema", human(ANY, { args_schema: ARGS_SCHEMA }), [{ type: "accept", args: TEXTS }]],
  ["Agent Inbox: edit", human(ANY), [{ type: "edit", args: TEXTS }]],
  ["Agent Inbox: response", human(ANY), [{ type: "response", args: "later" }]],
  ["Agent Inbox: ignore", human(ANY), [{ type: "ignore", args: null }]],
  ["a bare request: a list of one", { action_request: SAME }, [{ type: "accept", args: null }]],
  ["a bare request: its response alone", { action_request: SAME }, { type: "response", args: "later" }],
  ["a plain question takes anything", "Why?", { any: ["thing"] }],
  ["actions that allow no decision take a value", snake([]), "as you like"],
];

suite("an answer of a client of the dialect is taken (answer-rules.3)", () => {
  for (const [name, asked, answer] of TAKEN) test(name, () => assert.equal(refusal(asked, answer), null));

  const asked: readonly Json[] = [snake(ALL), CAMEL, TWO, human(ANY), human(flags(true, false, false, true))];
  const given: readonly Decision[] = [
    { type: "approve" },
    { type: "edit", args: { eur: 1 } },
    { type: "reject" },
    { type: "reject", message: "no" },
    { type: "respond", value: "later" },
    { type: "ignore" },
  ];
  for (const [index, payload] of asked.entries())
    test(`whatever our own clients build from payload ${index} fits`, () => {
      const built = given.map((decision) => answerAll(recognise(payload, null), decision)).filter(({ ok }) => ok);
      assert.ok(built.length > 0);
      for (const answer of built) assert.equal(refusal(payload, answer.ok ? answer.value : null), null);
    });

  test("so do different decisions on several actions", () => {
    const built = buildAnswer(recognise(TWO, null), [
      { type: "edit", args: {} },
      { type: "reject", message: "no" },
    ]);
    assert.ok(built.ok);
    assert.equal(refusal(TWO, built.value), null);
  });
});

suite("an edit has one rule in both spellings, and no other decision has one (answer-rules.4)", () => {
  const wipe = { name: "wipe", args: {} };
  const pay = { name: "pay", args: {} };
  const rows: readonly (readonly [name: string, decision: JsonObject, isTraversed: boolean])[] = [
    ["the same in both", { type: "edit", edited_action: pay, editedAction: pay }, true],
    ["another action in the other spelling", { type: "edit", edited_action: pay, editedAction: wipe }, false],
    ["an edit in an approval", { type: "approve", edited_action: wipe }, false],
    ["an edit in an approval, in the other spelling", { type: "approve", editedAction: pay }, false],
    ["an edit in a rejection", { type: "reject", edited_action: wipe }, false],
    ["an edit in a response", { type: "respond", message: "x", edited_action: wipe }, false],
    ["none, as null", { type: "approve", edited_action: null }, true],
  ];
  for (const [name, decision, isTraversed] of rows)
    test(name, () => assert.equal(refusal(snake(ALL), decisions(decision)) === null, isTraversed));
});

suite("under review rules an answer has no further members (answer-schema.3)", () => {
  const REVIEW = { votes: [] };
  const NESTED = {
    question: "?",
    response_schema: {
      properties: { a: { $ref: "#/$defs/a" } },
      allOf: [{ properties: { b: { properties: { c: {} } } } }],
      $defs: { a: { properties: { x: {} } } },
    },
  };
  const rows: readonly (readonly [name: string, asked: Json, answer: Json])[] = [
    ["beside the decisions", snake(ALL), { ...(decisions({ type: "reject" }) as JsonObject), 0: { type: "accept" } }],
    ["in a decision", snake(ALL), decisions({ type: "approve", note: "x" })],
    ["in an edit", snake(ALL), decisions({ type: "edit", edited_action: { name: "pay", args: {}, to: "x" } })],
    [
      "in the arguments of an edit that have a schema",
      snake(ALL, { args_schema: ARGS_SCHEMA }),
      decisions(edit("pay", { eur: 1, all: true })),
    ],
    ["in a response", human(ANY), [{ type: "accept", args: null, edited_action: { name: "wipe" } }]],
    ["beside the members of a form", NESTED, { a: {}, d: 1 }],
    ["inside of a referenced schema", NESTED, { a: { y: 1 } }],
    ["inside of a part of the schema", NESTED, { b: { d: 1 } }],
    ["with the name of a built-in", NESTED, JSON.parse('{"__proto__":{"a":1}}') as Json],
  ];
  for (const [name, asked, answer] of rows)
    test(name, () => {
      assert.equal(refusal(asked, answer, REVIEW)?.code, "answer_invalid");
      assert.equal(refusal(asked, answer), null);
    });

  test("described members, and those of an object that describes none, are taken", () => {
    for (const [asked, answer] of [
      [NESTED, { a: { x: 1 }, b: { c: 2 } }],
      [snake(ALL), decisions(edit("pay", { any: 1 }))],
      [{ question: "?", response_schema: { type: "object" } }, { any: 1 }],
      [{ question: "?", response_schema: { properties: { a: {} }, additionalProperties: true } }, { any: 1 }],
    ] as const)
      assert.equal(refusal(asked, answer, REVIEW), null, JSON.stringify(answer));
  });
});

suite("the schema with which a question is stored (answer-schema.4)", () => {
  const value = snake(ALL);
  const derived = deriveAnswerSchema(value);
  const review = { "x-holdpoint-review": { approvals: 2 } };
  const rows: readonly (readonly [
    name: string,
    question: Parameters<typeof answerSchema>[0],
    schema: JsonObject | null,
  ])[] = [
    ["is derived from the payload", { value, responseSchema: null }, derived],
    ["is the declared one", { value, responseSchema: { type: "string" } }, { type: "string" }],
    ["is derived beside rules that are no schema", { value, responseSchema: review }, { ...derived, ...review }],
    ["takes any answer if it says so", { value, responseSchema: {} }, {}],
    [
      "takes answers as they are given, by the option of interrupt()",
      { value, responseSchema: { interrupt_answers: "as_given", ...review } },
      { interrupt_answers: "as_given", ...review },
    ],
    ["takes answers as they are given, by langgraph.json", { value, responseSchema: null, answers: "as_given" }, null],
    ["is none for a plain question", { value: "Why?", responseSchema: null }, null],
  ];
  for (const [name, question, schema] of rows) test(name, () => assert.deepEqual(answerSchema(question), schema));
});
