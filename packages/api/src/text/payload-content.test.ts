// Tests of payload content: payload-content.1, payload-content.2.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import { recognise } from "../dialects.ts";
import { formatRequest } from "./payload-content.ts";

const GENERATED = 'Tool execution requires approval\n\nTool: refund\nArgs: {\n  "amount": 5\n}';

const ROWS: readonly (readonly [name: string, value: Json, text: string])[] = [
  [
    "the arguments of one action",
    { action_requests: [{ name: "refund", args: { amount: 5, lines: [{ sku: "a" }] }, description: GENERATED }] },
    'refund\namount: 5\nlines:\n[\n  {\n    "sku": "a"\n  }\n]',
  ],
  [
    "an Agent Inbox request without its flags",
    [
      {
        action_request: { action: "mail", args: { to: "ann" } },
        config: { allow_accept: true },
        description: "Send **it**?",
      },
    ],
    "mail\nSend **it**?\n\nto: ann",
  ],
  [
    "several actions by number",
    {
      action_requests: [
        { name: "refund", args: { amount: 5 } },
        { name: "mail", args: {} },
      ],
    },
    "1. refund\namount: 5\n\n2. mail",
  ],
  ["a text with its lines", "Really?\n\nThink.", "Really?\n\nThink."],
  [
    "a question without schema, rules and deadline",
    {
      question: "Which?",
      schema: "public",
      response_schema: {},
      review_rules: {},
      expires_in_seconds: 5,
      dangerous: true,
    },
    "question: Which?\nschema: public",
  ],
  ["an image by name", { photo: "data:image/png;base64,AAAA" }, "photo: [image]"],
];
for (const [name, value, text] of ROWS) {
  test(`a message has ${name} (payload-content.1, payload-content.2)`, () =>
    assert.equal(formatRequest(value, recognise(value, null)), text));
}
