// Test of the Slack message. Checked: slack-message.1 and slack-message.2, against Slack's own rules for blocks;
// slack-message.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenSlackRules } from "../../../../test/fakes/slack/slack-rules.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Interrupt } from "../model/model.ts";
import { interruptRecord } from "../model/testkit.ts";
import { slackMessage } from "./slack-message.ts";

const LINK = "https://agents.example.com/console/inbox/01a1feba-4d29-7329-8a2c-b163ace36121/0123456789abcdef";
const APPROVAL = {
  action_requests: [{ name: "refund", args: { amount_eur: 129.9 }, description: "A customer asks for money back." }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve"] }],
};

function asked(value: Json, more: Partial<Interrupt> = {}): Interrupt {
  return interruptRecord({
    threadId: "01a1feba-4d29-7329-8a2c-b163ace36121",
    interruptId: "0".repeat(32),
    value,
    createdAt: 1_700_000_000_000,
    graphId: "refunds",
    node: "approval",
    ...more,
  });
}

const LONG = "<&>".repeat(20_000);
const CASES: readonly (readonly [name: string, Interrupt])[] = [
  ["an approval", asked(APPROVAL, { kind: "tool_approval" })],
  ["a plain question", asked("May I?")],
  ["nothing at all", asked(null)],
  ["an empty text", asked("")],
  ["a long text that has to be escaped", asked(LONG)],
  ["a long approval", asked({ action_requests: [{ name: LONG, args: { a: LONG }, description: LONG }] })],
  ["long names", asked("?", { graphId: LONG, node: LONG })],
  ["a breakpoint before many nodes", asked(null, { kind: "breakpoint", node: "n, ".repeat(200) })],
  ["a deadline", asked("Soon?", { expiresAt: 1_700_000_900_000 })],
];

for (const [name, item] of CASES) {
  test(`${name} makes a message that keeps Slack's rules and leads to the item (slack-message.1)`, () => {
    const message = slackMessage(item, LINK);
    assert.deepEqual(brokenSlackRules(message), []);
    assert.ok(JSON.stringify(message).includes(LINK));
  });
}

test("a question cannot mention a channel, make a link or end its block (slack-message.2)", () => {
  const { blocks } = slackMessage(asked({ text: "```<!channel> <https://evil.example|safe>" }), LINK) as unknown as {
    readonly blocks: readonly {
      readonly type: string;
      readonly text?: { readonly type: string; readonly text: string };
    }[];
  };
  const said = blocks.flatMap(({ text }) => (text?.type === "mrkdwn" ? [text.text] : []));
  assert.equal(said.length, 1);
  assert.doesNotMatch(said[0] ?? "", /<|>/);
  assert.equal(said[0]?.split("```").length, 3);
});

test("a breakpoint asks nothing: its message shows no request", () => {
  assert.doesNotMatch(JSON.stringify(slackMessage(asked(null, { kind: "breakpoint" }), LINK)), /```/);
});

test("the rules detect messages that Slack refuses", () => {
  const message = slackMessage(asked("?"), LINK) as { readonly text: string; readonly blocks: readonly object[] };
  const wrong = {
    text: "",
    blocks: [{ type: "header", text: { type: "mrkdwn", text: "x".repeat(151) } }, { type: "poll" }],
  };
  assert.equal(brokenSlackRules(wrong).length, 4);
  assert.deepEqual(brokenSlackRules({ ...message, extra: 1 }), ["message: no field extra"]);
});

test("a message hides no character and is in reading order (slack-message.3)", () => {
  const value = { action_requests: [{ name: "open\u200b", args: { file: "abc\u202egnp.exe" } }] };
  const said = JSON.stringify(slackMessage(asked(value, { kind: "tool_approval" }), LINK));
  assert.doesNotMatch(said, /[\u200b\u202e]/);
  assert.match(said, /abc\\\\u202egnp\.exe/);
});
