// What a person approves in a message is what they read: a request that a channel cuts off is approved in the console.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import { questionPage } from "../links/link-page.ts";
import { emailMessage } from "../email/email-message.ts";
import { askMessage } from "../slack/messages.ts";
import { DANGER } from "./item-view.ts";

const ask = (units: number): Interrupt =>
  ({
    threadId: "t",
    interruptId: "i",
    graphId: "shop",
    node: "approval",
    kind: "tool_approval",
    state: "open",
    expiresAt: null,
    responseSchema: null,
    value: { action_requests: [{ name: "sign", args: { contract: "x".repeat(units) } }] },
  }) as unknown as Interrupt;

for (const [channel, units, listDecisions] of [
  [
    "Slack",
    3000,
    (item: Interrupt) => [
      ...JSON.stringify(askMessage(item, "https://console", true)).matchAll(/"action_id":"(\w+)"/g),
    ],
  ],
  [
    "a link",
    30_000,
    (item: Interrupt) => [
      ...JSON.stringify(questionPage(item, { person: "Ann", choice: null }, "https://console", null).body).matchAll(
        /name=\\"choice\\" value=\\"(\w+)\\"/g,
      ),
    ],
  ],
] as const) {
  test(`${channel} offers an approval only with the whole request`, () => {
    const decisions = (item: Interrupt): readonly string[] => [...listDecisions(item)].map(([, name = ""]) => name);
    assert.deepEqual(decisions(ask(10)), ["approve", "edit", "reject"]);
    assert.deepEqual(decisions(ask(units)), ["reject"]);
    const question = (text: string): Interrupt => ({ ...ask(0), kind: "question", value: { question: "Pay?", text } });
    assert.deepEqual(decisions(question("short")), ["respond"]);
    assert.deepEqual(decisions(question("x".repeat(units))), []);
  });
}

test("Slack, a link and an e-mail say that a request is dangerous, and Slack asks before it approves one", () => {
  const marked = { ...ask(10), value: { ...(ask(10).value as object), dangerous: true } };
  for (const [item, isMarked] of [
    [marked, true],
    [ask(10), false],
  ] as const) {
    const slack = JSON.stringify(askMessage(item, "https://console", true));
    assert.equal(/"action_id":"approve"[^}]*}[^}]*"confirm":/.test(slack), isMarked, slack);
    const link = questionPage(item, { person: "Ann", choice: null }, "https://console", null);
    const mail = emailMessage([item], () => ({ console: "https://console", answer: null }));
    for (const text of [slack, JSON.stringify(link.body), mail.text, mail.html])
      assert.equal(text.includes(DANGER), isMarked, text);
  }
});
