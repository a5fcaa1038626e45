// Tests of interrupt-summary: interrupt-summary.1 (every dialect, and anything else), interrupt-summary.2 (short, however
// long the payload).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { summarise, type PayloadSummary } from "./interrupt-summary.ts";

interface Case {
  readonly name: string;
  readonly value: Json;
  readonly schema?: JsonObject;
  readonly is: Pick<PayloadSummary, "kind" | "dialect" | "title" | "action" | "actions">;
}

/** payload-excerpt.1, with the mark of what is left out. */
const EXCERPT_MAX = 301;
const request = { action: "send_email", args: { to: "a@b.c" } };
const config = { allow_accept: true, allow_edit: true, allow_respond: false, allow_ignore: false };
const approval = (dialect: PayloadSummary["dialect"], title: string, action: string | null, actions = 1) =>
  ({ kind: "tool_approval", dialect, title, action, actions }) as const;
const plain = (title: string) => ({ kind: "question", dialect: "plain", title, action: null, actions: 0 }) as const;
const form = (title: string) => ({ kind: "form", dialect: "json_schema", title, action: null, actions: 0 }) as const;

const CASES: readonly Case[] = [
  {
    name: "a HumanInterrupt in its list",
    value: [{ action_request: request, config, description: "Send it?\nReally." }],
    is: approval("human_interrupt", "send_email: Send it?", "send_email"),
  },
  {
    name: "a HumanInterrupt outside of a list, without flags and description",
    value: { action_request: request },
    is: approval("human_interrupt", 'send_email(to: "a@b.c")', "send_email"),
  },
  {
    name: "several HumanInterrupts",
    value: [{ action_request: request }, { action_request: request }],
    is: approval("human_interrupt", "send_email ×2", "send_email", 2),
  },
  {
    name: "a HumanInterrupt whose action has no name",
    value: [{ action_request: {} }],
    is: approval("human_interrupt", "an action", null),
  },
  {
    name: "human in the loop, snake case, two actions",
    value: {
      action_requests: [
        { name: "refund", args: {}, description: "Refund 10" },
        { name: "mail", args: {} },
      ],
      review_configs: [{ action_name: "refund", allowed_decisions: ["approve"] }],
    },
    is: approval("hitl", "refund, mail", "refund", 2),
  },
  {
    name: "human in the loop, with the description that LangChain generates",
    value: {
      action_requests: [
        {
          name: "refund",
          args: { order: 4711, note: "abc\u202egnp.exe", lines: [{}] },
          description: 'Tool execution requires approval\n\nTool: refund\nArgs: {"order": 4711}',
        },
      ],
    },
    is: approval("hitl", 'refund(order: 4711, note: "abc\\u202egnp.exe", lines: …)', "refund"),
  },
  {
    name: "human in the loop, camel case",
    value: { actionRequests: [{ name: "refund", args: {} }], reviewConfigs: [] },
    is: approval("hitl_camel", "refund", "refund"),
  },
  { name: "a list of requests that is empty", value: { action_requests: [] }, is: plain("action_requests: …") },
  { name: "a schema from the library", value: "Approve?", schema: { type: "boolean" }, is: form("Approve?") },
  { name: "a schema in the payload", value: { title: "T", response_schema: { type: "object" } }, is: form("T") },
  { name: "an args schema in the payload", value: { question: "Q?", argsSchema: {} }, is: form("Q?") },
  { name: "a schema that is none", value: { question: "Q?", schema: "public" }, is: plain("Q?") },
  { name: "text", value: "  Really?\nThink.", is: plain("Really?") },
  { name: "an object with a question", value: { id: 1, question: "Which?" }, is: plain("Which?") },
  { name: "an object with an empty question", value: { question: "", message: "M" }, is: plain("M") },
  { name: "an object without words", value: { a: 1, b: "x", c: { d: 1 } }, is: plain('a: 1, b: "x", c: …') },
  { name: "a list of both kinds", value: [{ action_request: request }, 1], is: plain("[action_request: …, 1]") },
  { name: "null", value: null, is: plain("null") },
  { name: "false", value: false, is: plain("false") },
  { name: "an empty list", value: [], is: plain("empty list") },
  { name: "an empty object", value: {}, is: plain("empty object") },
  { name: "an empty text", value: "", is: plain("empty text") },
  { name: "blanks", value: " \n ", is: plain("empty text") },
  { name: "a text with hidden characters", value: "pay\u200bpal", is: plain("pay\\u200bpal") },
];

for (const { name, value, schema, is } of CASES) {
  test(`${name} (interrupt-summary.1)`, () => {
    const { excerpt, decisions, dangerous, ...rest } = summarise(value, schema ?? null);
    assert.deepEqual(rest, is);
    assert.ok(excerpt.length <= EXCERPT_MAX && !excerpt.includes("\u202e") && !excerpt.includes("\u200b"), excerpt);
    assert.equal(dangerous, false);
    if (is.kind === "question") assert.deepEqual(decisions, ["respond"]);
  });
}

const DECISIONS: readonly (readonly [name: string, value: Json, decisions: readonly string[], schema?: JsonObject])[] =
  [
    ["a yes/no schema", "Approve?", ["respond", "approve", "reject"], { type: "boolean" }],
    ["flags of a HumanInterrupt", [{ action_request: request, config }], ["approve", "edit"]],
    ["no flags", [{ action_request: request }], ["approve", "edit", "respond", "ignore", "reject"]],
    [
      "two actions: those that both allow",
      {
        action_requests: [
          { name: "a", args: {} },
          { name: "b", args: {} },
        ],
        review_configs: [
          { action_name: "a", allowed_decisions: ["approve", "reject"] },
          { action_name: "b", allowed_decisions: ["reject"] },
        ],
      },
      ["reject"],
    ],
  ];
for (const [name, value, decisions, schema] of DECISIONS) {
  test(`decisions of a list row: ${name} (interrupt-summary.1)`, () =>
    assert.deepEqual(summarise(value, schema ?? null).decisions, decisions));
}

test("a payload can mark itself as dangerous (interrupt-summary.1)", () => {
  const value = { action_requests: [{ name: "wipe", args: {} }], dangerous: true };
  assert.equal(summarise(value, null).dangerous, true);
  assert.equal(summarise({ ...value, dangerous: "no" }, null).dangerous, false);
});

test("the summary of a payload is short (interrupt-summary.2)", () => {
  const long = "🙂".repeat(100_000);
  const values: readonly Json[] = [
    long,
    { question: long },
    { [long]: long },
    [long, long],
    Array.from({ length: 10_000 }, () => [long]),
    [{ action_request: { action: long }, description: long }],
    { action_requests: [{ name: long }] },
  ];
  for (const value of values) {
    const { title, action } = summarise(value, null);
    assert.ok(title.length <= 200 && (action?.length ?? 0) <= 200);
    assert.ok(title.isWellFormed());
  }
});
