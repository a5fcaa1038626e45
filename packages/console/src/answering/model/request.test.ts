// Tests of request: how each payload dialect is presented, what it allows, and the answer, to the letter.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../json/json.ts";
import {
  buildRequestAnswer,
  approvable,
  buildApproval,
  readDecisions,
  readRequest,
  type Decision,
  type Request,
} from "./request.ts";

const ARGS = { amount: 129.9, count: 3, express: false, note: null, to: "ada@example.com", items: [{ sku: 7 }] };
const ask = (value: Json, response_schema?: Json): Request =>
  readRequest({ kind: "question", value, ...(response_schema === undefined ? {} : { response_schema }) });

const human = (config: Json = { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true }) => ({
  action_request: { action: "refund", args: ARGS },
  config,
  description: "Pay it back?",
});
const snake = {
  action_requests: [
    { name: "refund", args: ARGS, description: "Pay it back?" },
    { name: "mail", args: { to: "bob" } },
  ],
  review_configs: [
    { action_name: "mail", allowed_decisions: ["approve", "reject"] },
    {
      action_name: "refund",
      allowed_decisions: ["approve", "edit", "reject", "respond"],
      args_schema: { type: "object" },
    },
  ],
};
const camel = {
  actionRequests: [{ name: "refund", args: ARGS }],
  reviewConfigs: [{ actionName: "refund", allowedDecisions: ["approve", "edit"], argsSchema: { type: "object" } }],
};

const edit: Decision = { type: "edit", args: { ...ARGS, amount: 0.5 } };
const EDITED = { ...ARGS, amount: 0.5 };

const ANSWERS: readonly {
  readonly name: string;
  readonly asks: Json;
  readonly decides: readonly Decision[];
  readonly answers: Json;
}[] = [
  {
    name: "a HumanInterrupt list, accepted: the action as it was, numbers as numbers",
    asks: [human()],
    decides: [{ type: "approve" }],
    answers: [{ type: "accept", args: { action: "refund", args: ARGS } }],
  },
  {
    name: "a HumanInterrupt list, edited",
    asks: [human()],
    decides: [edit],
    answers: [{ type: "edit", args: { action: "refund", args: EDITED } }],
  },
  {
    name: "a HumanInterrupt list, responded to",
    asks: [human()],
    decides: [{ type: "respond", value: "Ask again tomorrow" }],
    answers: [{ type: "response", args: "Ask again tomorrow" }],
  },
  {
    name: "a HumanInterrupt list, ignored",
    asks: [human()],
    decides: [{ type: "ignore" }],
    answers: [{ type: "ignore", args: null }],
  },
  {
    name: "a bare HumanInterrupt is answered with a list of one",
    asks: human(),
    decides: [{ type: "approve" }],
    answers: [{ type: "accept", args: { action: "refund", args: ARGS } }],
  },
  {
    name: "two HumanInterrupts get two answers, in their order",
    asks: [human(), { ...human(), action_request: { action: "mail", args: {} } }],
    decides: [{ type: "ignore" }, { type: "approve" }],
    answers: [
      { type: "ignore", args: null },
      { type: "accept", args: { action: "mail", args: {} } },
    ],
  },
  {
    name: "the middleware's snake_case, one decision an action",
    asks: snake,
    decides: [edit, { type: "reject", message: "No mails today" }],
    answers: {
      decisions: [
        { type: "edit", edited_action: { name: "refund", args: EDITED } },
        { type: "reject", message: "No mails today" },
      ],
    },
  },
  {
    name: "a rejection without words has no message, a response has its own",
    asks: snake,
    decides: [
      { type: "respond", value: "It was 120" },
      { type: "reject", message: "" },
    ],
    answers: { decisions: [{ type: "respond", message: "It was 120" }, { type: "reject" }] },
  },
  {
    name: "the middleware's camelCase is answered in camelCase",
    asks: camel,
    decides: [edit],
    answers: { decisions: [{ type: "edit", editedAction: { name: "refund", args: EDITED } }] },
  },
];

for (const { name, asks, decides, answers } of ANSWERS) {
  test(name, () => {
    const request = ask(asks);
    assert.equal(request.kind, "actions");
    if (request.kind === "actions") assert.deepEqual(buildRequestAnswer(request, decides), answers);
  });
}

const ALLOWED: readonly (readonly [name: string, asks: Json, allowed: readonly (readonly string[])[]])[] = [
  ["all four flags", [human()], [["approve", "edit", "respond", "ignore"]]],
  ["some flags: the others are off", [human({ allow_accept: true, allow_edit: false })], [["approve"]]],
  ["no config: everything", [human(null)], [["approve", "edit", "respond", "ignore"]]],
  ["an empty config: everything", [human({})], [["approve", "edit", "respond", "ignore"]]],
  [
    "review configs by name, not by place",
    snake,
    [
      ["approve", "edit", "reject", "respond"],
      ["approve", "reject"],
    ],
  ],
  ["camelCase configs", camel, [["approve", "edit"]]],
  [
    "no review configs: what the middleware allows",
    { action_requests: [{ name: "a" }] },
    [["approve", "edit", "reject"]],
  ],
  [
    "kinds that nobody knows are left out",
    {
      action_requests: [{ name: "a" }],
      review_configs: [{ action_name: "a", allowed_decisions: ["approve", "dance"] }],
    },
    [["approve"]],
  ],
];

for (const [name, asks, allowed] of ALLOWED) {
  test(`allowed decisions: ${name}`, () => {
    const request = ask(asks);
    assert.deepEqual(request.kind === "actions" && request.actions.map((action) => action.allowed), allowed);
  });
}

test("args are found under either name, and a schema of theirs in config or request", () => {
  const request = ask({ action_requests: [{ name: "a", arguments: { x: 1 }, args_schema: { type: "object" } }] });
  assert.ok(request.kind === "actions");
  assert.deepEqual(request.actions[0]?.args, { x: 1 });
  assert.deepEqual(request.actions[0]?.argsSchema, { type: "object" });
  const other = ask(camel);
  assert.deepEqual(other.kind === "actions" && other.actions[0]?.argsSchema, { type: "object" });
});

const SCHEMA = { type: "object", properties: { days: { type: "integer" } } };

for (const name of ["response_schema", "responseSchema", "args_schema", "argsSchema", "json_schema", "schema"]) {
  test(`a JSON Schema in the payload's ${name} makes a form`, () => {
    const payload = { question: "How long?", [name]: SCHEMA };
    assert.deepEqual(ask(payload), { kind: "form", schema: SCHEMA, payload });
  });
}

test("the interrupt's own schema comes before one in the payload, and makes a form of any payload", () => {
  assert.deepEqual(ask({ schema: {} }, SCHEMA), { kind: "form", schema: SCHEMA, payload: { schema: {} } });
  assert.deepEqual(ask("How long?", SCHEMA), { kind: "form", schema: SCHEMA, payload: "How long?" });
});

test("actions with a schema for the whole answer are actions", () => {
  assert.equal(ask(snake, SCHEMA).kind, "actions");
});

for (const payload of [
  "Why?",
  7,
  null,
  true,
  [],
  {},
  { action_requests: [] },
  [human(), "x"],
  { action_request: 1 },
  { schema: 1 },
]) {
  test(`${JSON.stringify(payload).slice(0, 40)} is a plain question`, () => {
    assert.deepEqual(ask(payload), { kind: "plain", payload });
  });
}

test("a breakpoint has no question, with any value", () => {
  assert.deepEqual(readRequest({ kind: "breakpoint", value: snake }), { kind: "breakpoint" });
});

test("allows one approval for all actions if each of them allows it", () => {
  assert.deepEqual(buildApproval(ask(snake)), { decisions: [{ type: "approve" }, { type: "approve" }] });
  assert.equal(buildApproval(ask([human({ allow_accept: false, allow_edit: true })])), null);
  assert.equal(buildApproval(ask("Why?")), null);
});

test("too few decisions are no answer", () => {
  const request = ask(snake);
  assert.throws(
    () => request.kind === "actions" && buildRequestAnswer(request, [{ type: "approve" }]),
    /the question expects 2/,
  );
});

for (const { name, asks, decides, answers } of ANSWERS) {
  test(`${name}: the answer reads as its decisions`, () => {
    const request = ask(asks);
    const read = readDecisions(request, answers);
    assert.deepEqual(
      read?.map(({ type }) => type),
      decides.map(({ type }) => type),
    );
    assert.ok(request.kind === "actions");
    assert.deepEqual(buildRequestAnswer(request, read), answers);
  });
}

test("an answer outside the dialect has no decisions", () => {
  for (const answer of ["yes", { decisions: [{ type: "approve" }] }, { decisions: [{ type: "dance" }, {}] }, null])
    assert.equal(readDecisions(ask(snake), answer), null);
  assert.equal(readDecisions(ask("Why?"), "Because"), null);
});

test("only undecided actions that allow it are approved together", () => {
  const request = ask({
    action_requests: [{ name: "a" }, { name: "b" }, { name: "c" }],
    review_configs: [{ action_name: "b", allowed_decisions: ["reject"] }],
  });
  assert.ok(request.kind === "actions");
  assert.deepEqual(approvable(request.actions, [null, null, null]), [0, 2]);
  assert.deepEqual(approvable(request.actions, [{ type: "reject" }, null, null]), [2]);
});
