// What a person approves in a message is what they read: a request that a channel cuts off is approved in the console.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import { questionPage } from "../links/link-page.ts";
import { askMessage } from "../slack/messages.ts";

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
  });
}
