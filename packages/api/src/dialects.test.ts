// Tests of dialects: dialects.1 (any JSON is understood, missing members allow), dialects.2 (one decision an action, in
// the dialect's words), dialects.3 (types are kept), dialects.4 (a decision that is not allowed gives a reason).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { answerAll, buildAnswer, recognise, type Action, type Decision, type Question } from "./dialects.ts";

const ARGS = { to: "a@b.c", amount: 12.5, urgent: false, cc: null, tags: ["x", 1] };
const EDITED = { to: "c@d.e", amount: 7, urgent: true, cc: null, tags: [] };
const config = (accept: boolean, edit: boolean, respond: boolean, ignore: boolean) => ({
  allow_accept: accept,
  allow_edit: edit,
  allow_respond: respond,
  allow_ignore: ignore,
});
const human = (flags?: JsonObject): JsonObject => ({
  action_request: { action: "send", args: ARGS },
  ...(flags === undefined ? {} : { config: flags }),
  description: "Send **it**?",
});
const snake = (reviews: Json, ...names: string[]): JsonObject => ({
  action_requests: names.map((name) => ({ name, args: ARGS, description: `do ${name}` })),
  review_configs: reviews,
});
const camel = (reviews: Json, ...names: string[]): JsonObject => ({
  actionRequests: names.map((name) => ({ name, args: ARGS })),
  reviewConfigs: reviews,
});
const review = (name: string, ...decisions: string[]) => ({ action_name: name, allowed_decisions: decisions });
const reviewJs = (name: string, ...decisions: string[]) => ({ actionName: name, allowedDecisions: decisions });
const THREE = ["approve", "edit", "reject"] as const;
const SCHEMA = { type: "object", properties: { to: { type: "string" } } };

interface Seen {
  readonly name: string;
  readonly value: Json;
  readonly schema?: JsonObject;
  readonly is: Partial<Question>;
  readonly actions?: readonly Partial<Action>[];
}

const SEEN: readonly Seen[] = [
  {
    name: "a HumanInterrupt with its flags",
    value: [human(config(true, false, true, false))],
    is: { kind: "tool_approval", dialect: "human_interrupt", title: "send: Send it?", description: "Send **it**?" },
    actions: [{ name: "send", args: ARGS, allowed: ["approve", "respond", "reject"] }],
  },
  ...(
    [
      ["repeats the call", `Tool execution requires approval\n\nTool: send\nArgs: {"to": "}"}`, null],
      ["has a prefix of its own", "Money leaves\n\nTool: send\nArgs: {'to': 'a'}", "Money leaves"],
      [
        "says more behind the call",
        "Tool execution requires approval\n\nTool: send\nArgs: {}\nNever approve {}",
        undefined,
      ],
      ["names another tool", "Tool execution requires approval\n\nTool: wipe\nArgs: {}", undefined],
    ] as const
  ).map(([what, description, shown]) => ({
    name: `middleware whose description ${what}`,
    value: { action_requests: [{ name: "send", args: {}, description }] },
    is: { description: shown === undefined ? description : shown },
  })),
  {
    name: "a HumanInterrupt outside of a list, without flags",
    value: human(),
    is: { dialect: "human_interrupt" },
    actions: [{ allowed: ["approve", "edit", "respond", "ignore", "reject"] }],
  },
  {
    name: "a HumanInterrupt with some of its flags",
    value: [human({ allow_accept: true, allow_edit: true })],
    is: { allowed: ["approve", "edit"] },
  },
  {
    name: "a HumanInterrupt without arguments",
    value: [{ action_request: { action: "send" } }],
    is: { title: "send" },
    actions: [{ args: {} }],
  },
  {
    name: "middleware of Python, each action with its own review",
    value: snake([review("mail", "approve", "respond"), review("pay", "approve", "reject")], "pay", "mail"),
    is: { kind: "tool_approval", dialect: "hitl", title: "pay, mail", allowed: ["approve"] },
    actions: [
      { name: "pay", args: ARGS, allowed: ["approve", "reject"] },
      { name: "mail", args: ARGS, allowed: ["approve", "respond"] },
    ],
  },
  {
    name: "middleware of Python, with a schema of the arguments",
    value: snake([{ action_name: "pay", allowed_decisions: ["edit"], args_schema: SCHEMA }], "pay"),
    is: {},
    actions: [{ allowed: ["edit"], argsSchema: SCHEMA }],
  },
  {
    name: "middleware of JavaScript, with a schema of the arguments",
    value: camel([{ ...reviewJs("pay", "approve", "edit"), argsSchema: SCHEMA }], "pay"),
    is: { dialect: "hitl_camel", title: 'pay(to: "a@b.c", amount: 12.5, urgent: false, cc: null, tags: …)' },
    actions: [{ allowed: ["approve", "edit"], argsSchema: SCHEMA }],
  },
  {
    name: "middleware without reviews",
    value: { action_requests: [{ name: "pay", args: ARGS }] },
    is: { dialect: "hitl", allowed: THREE },
  },
  {
    name: "middleware with a review that names nothing",
    value: snake([{ allowed_decisions: ["reject"] }], "pay"),
    is: { allowed: ["reject"] },
  },
  {
    name: "middleware with a review of something else",
    value: snake([review("mail", "reject")], "pay"),
    is: { allowed: THREE },
  },
  ...(
    [
      ["the second", [review("pay", "approve", "edit"), review("pay", "approve", "reject")], ["approve"]],
      ["the first", [review("pay", "approve"), review("pay", ...THREE)], ["approve"]],
      ["a nameless one", [{ allowed_decisions: ["reject"] }, review("pay", ...THREE)], ["reject"]],
      ["one without decisions", [review("pay", "approve", "respond"), { action_name: "pay" }], ["approve"]],
      ["none in common", [review("pay", "approve"), review("pay", "edit")], ["reject"]],
      ["no decision at all", [review("pay", "approve"), { action_name: "pay", allowed_decisions: [] }], ["reject"]],
      ["the other spelling", [{ ...review("pay", ...THREE), allowedDecisions: ["reject"] }], ["reject"]],
    ] as const
  ).map(([what, reviews, allowed]) => ({
    name: `middleware with reviews that restrict each other: ${what} (dialects.5)`,
    value: snake(reviews, "pay"),
    is: { allowed },
  })),
  {
    name: "middleware with two schemas of the arguments (dialects.5)",
    value: snake(
      [SCHEMA, SCHEMA, { type: "object" }].map((args_schema) => ({ ...review("pay", "edit"), args_schema })),
      "pay",
    ),
    is: {},
    actions: [{ argsSchema: { allOf: [SCHEMA, { type: "object" }] } }],
  },
  {
    name: "middleware with the arguments under the name of model APIs",
    value: { action_requests: [{ name: "pay", arguments: ARGS }] },
    is: {},
    actions: [{ args: ARGS }],
  },
  {
    name: "middleware with a decision that nobody knows",
    value: snake([review("pay", "approve", "postpone")], "pay"),
    is: { allowed: ["approve"] },
  },
  {
    name: "a payload with a JSON Schema",
    value: { question: "Where to?", response_schema: SCHEMA },
    is: { kind: "form", dialect: "json_schema", title: "Where to?", schema: SCHEMA, allowed: ["respond"], actions: [] },
  },
  {
    name: "a JSON Schema beside the payload, which wants a yes or a no",
    value: "Sure?",
    schema: { type: "boolean" },
    is: { kind: "form", dialect: "json_schema", title: "Sure?", allowed: ["respond", "approve", "reject"] },
  },
  {
    name: "an approval with a schema of its answer",
    value: snake([], "pay"),
    schema: SCHEMA,
    is: { dialect: "hitl", schema: SCHEMA },
  },
  ...[null, false, 0, "", "Well?", [], {}, [1], { action_requests: [] }, { action_request: 1 }].map((value): Seen => ({
    name: `plain ${JSON.stringify(value)}`,
    value,
    is: { kind: "question", dialect: "plain", actions: [], schema: null, allowed: ["respond"] },
  })),
];

for (const { name, value, schema, is, actions } of SEEN) {
  test(`recognises ${name} (dialects.1)`, () => {
    const asked = recognise(value, schema ?? null);
    assert.partialDeepStrictEqual(asked, is);
    if (is.allowed !== undefined) assert.deepEqual(asked.allowed, is.allowed); // exactly these
    if (actions === undefined) return;
    assert.equal(asked.actions.length, actions.length);
    for (const [index, action] of actions.entries()) {
      const seen = asked.actions[index];
      assert.partialDeepStrictEqual(seen, action);
      if (action.allowed !== undefined) assert.deepEqual(seen?.allowed, action.allowed);
    }
  });
}

interface Said {
  readonly to: string;
  readonly value: Json;
  readonly schema?: JsonObject;
  readonly decision: Decision;
  /** The answer, or the reason why it is none. */
  readonly is: Json | RegExp;
}

const APPROVE: Decision = { type: "approve" };
const EDIT: Decision = { type: "edit", args: EDITED };
const IGNORE: Decision = { type: "ignore" };
const REJECT: Decision = { type: "reject" };
const WHY: Decision = { type: "reject", message: "too much" };
const respond = (value: Json): Decision => ({ type: "respond", value });
const free = [human()];
const request = (args: Json) => ({ action: "send", args });

const SAID: readonly Said[] = [
  { to: "a HumanInterrupt", value: free, decision: APPROVE, is: [{ type: "accept", args: request(ARGS) }] },
  {
    to: "a HumanInterrupt that cannot be edited",
    value: [human(config(true, false, false, false))],
    decision: APPROVE,
    is: [{ type: "accept", args: null }],
  },
  { to: "a HumanInterrupt outside of a list", value: human(), decision: IGNORE, is: [{ type: "ignore", args: null }] },
  { to: "a HumanInterrupt", value: free, decision: EDIT, is: [{ type: "edit", args: request(EDITED) }] },
  { to: "a HumanInterrupt", value: free, decision: respond("hm"), is: [{ type: "response", args: "hm" }] },
  { to: "a HumanInterrupt", value: free, decision: REJECT, is: [{ type: "ignore", args: null }] },
  { to: "a HumanInterrupt", value: free, decision: WHY, is: [{ type: "response", args: "too much" }] },
  {
    to: "a HumanInterrupt that takes words only",
    value: [human(config(true, true, true, false))],
    decision: REJECT,
    is: /a message is required/,
  },
  {
    to: "a HumanInterrupt that takes no words",
    value: [human(config(true, true, false, true))],
    decision: WHY,
    is: /accepts no message/,
  },
  {
    to: "a HumanInterrupt that allows an acceptance only",
    value: [human(config(true, false, false, false))],
    decision: EDIT,
    is: /"send" does not allow "edit", only approve/,
  },
  {
    to: "a HumanInterrupt that allows nothing",
    value: [human(config(false, false, false, false))],
    decision: APPROVE,
    is: /allows no decision/,
  },
  { to: "Python", value: snake([], "pay"), decision: APPROVE, is: { decisions: [{ type: "approve" }] } },
  {
    to: "Python",
    value: snake([], "pay"),
    decision: EDIT,
    is: { decisions: [{ type: "edit", edited_action: { name: "pay", args: EDITED } }] },
  },
  { to: "Python", value: snake([], "pay"), decision: REJECT, is: { decisions: [{ type: "reject" }] } },
  {
    to: "Python, twice,",
    value: snake([], "pay", "mail"),
    decision: WHY,
    is: { decisions: [WHY, WHY] as unknown as Json },
  },
  {
    to: "Python that takes words",
    value: snake([review("pay", "respond")], "pay"),
    decision: respond("done already"),
    is: { decisions: [{ type: "respond", message: "done already" }] },
  },
  { to: "Python", value: snake([], "pay"), decision: IGNORE, is: /does not allow "ignore"/ },
  {
    to: "Python, where the second forbids it,",
    value: snake([review("mail", "approve")], "pay", "mail"),
    decision: REJECT,
    is: /"mail" does not allow "reject", only approve/,
  },
  { to: "JavaScript", value: camel([], "pay"), decision: APPROVE, is: { decisions: [{ type: "approve" }] } },
  {
    to: "JavaScript",
    value: camel([], "pay"),
    decision: EDIT,
    is: { decisions: [{ type: "edit", editedAction: { name: "pay", args: EDITED } }] },
  },
  {
    to: "JavaScript",
    value: camel([], "pay"),
    decision: WHY,
    is: { decisions: [{ type: "reject", message: "too much" }] },
  },
  { to: "a form", value: { schema: SCHEMA }, decision: respond({ to: "x" }), is: { to: "x" } },
  { to: "a form", value: { schema: SCHEMA }, decision: APPROVE, is: /does not allow "approve", only respond/ },
  { to: "a yes or no", value: "?", schema: { type: "boolean" }, decision: APPROVE, is: true },
  { to: "a yes or no", value: "?", schema: { type: "boolean" }, decision: REJECT, is: false },
  { to: "a yes or no", value: "?", schema: { type: "boolean" }, decision: WHY, is: /accepts no message/ },
  ...[null, false, 0, "", "0", "true", [], {}, { a: [1.5, null] }].map((value): Said => ({
    to: `a plain question with ${JSON.stringify(value)}`,
    value: "?",
    decision: respond(value),
    is: value,
  })),
  { to: "a plain question", value: "?", decision: APPROVE, is: /does not allow "approve"/ },
];

for (const { to, value, schema, decision, is } of SAID) {
  test(`answers ${decision.type} to ${to} ${is instanceof RegExp ? "with a reason (dialects.4)" : "in its shape (dialects.2, dialects.3)"}`, () => {
    const built = answerAll(recognise(value, schema ?? null), decision);
    if (is instanceof RegExp) assert.match(built.ok ? `answered ${JSON.stringify(built.value)}` : built.reason, is);
    else assert.deepEqual(built, { ok: true, value: is });
  });
}

test("several actions get a decision each, in their order, or none of them gets any (dialects.2)", () => {
  const asked = recognise(camel([], "pay", "mail", "log"), null);
  assert.deepEqual(buildAnswer(asked, [APPROVE, EDIT, WHY]), {
    ok: true,
    value: {
      decisions: [
        { type: "approve" },
        { type: "edit", editedAction: { name: "mail", args: EDITED } },
        { type: "reject", message: "too much" },
      ],
    },
  });
  for (const few of [[], [APPROVE], [APPROVE, APPROVE, APPROVE, APPROVE]])
    assert.match(String((buildAnswer(asked, few) as { reason?: string }).reason), /the question expects 3/);
});

test("names that every object has are names like others (dialects.1)", () => {
  for (const value of ["__proto__", "constructor", "toString"])
    assert.equal(recognise({ [value]: { type: "boolean" } }, null).dialect, "plain");
  assert.deepEqual(recognise(snake([review("toString", "approve")], "constructor"), null).allowed, THREE);
});

test("finds reviews by name, at any position (dialects.1)", () => {
  const names = Array.from({ length: 5000 }, (_, index) => `tool_${index}`);
  const asked = recognise(snake(names.map((name) => review(name, "approve")).toReversed(), ...names), null);
  assert.ok(asked.actions.every(({ allowed }) => allowed.length === 1));
});
