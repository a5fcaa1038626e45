// What a person approves in a message is what they read: a request that a channel cuts off is approved in the console.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DANGER } from "@holdpoint/api/text/payload-excerpt.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import { questionPage } from "../links/link-page.ts";
import { emailMessage } from "../email/email-message.ts";
import { askMessage, listMessage } from "../slack/messages.ts";

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
    const told = JSON.stringify(askMessage(item, "https://console", false)); // where nobody answers in Slack
    for (const text of [slack, told, JSON.stringify(link.body), mail.text, mail.html])
      assert.equal(text.includes(DANGER), isMarked, text);
  }
});

test("lists in Slack and in an e-mail show beside each title what the console's list shows", () => {
  const args = { invoices: [{ to: "Ann" }, { to: "Bob" }] };
  const item = { ...ask(0), value: { action_requests: [{ name: "pay_all", args, dangerous: true }] } };
  const slack = JSON.stringify(listMessage([item], () => "https://console"));
  const mail = emailMessage([item, item], () => ({ console: "https://console", answer: null }));
  for (const text of [slack, mail.text, mail.html]) {
    assert.match(text, /pay_all\(invoices: …\)[^]*to: Ann · to: Bob[^]*shop · approval/);
    assert.ok(text.includes(DANGER), text);
  }
});
