// Test of the notifier. Checked: interrupt-notifier.2 and interrupt-notifier.3 of notify.ts. interrupt-notifier.1 is
// that of webhooks, over sockets in test/agent/webhooks.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Interrupt, Run, Webhook } from "../model/model.ts";
import { createNotifier } from "./interrupt-notifier.ts";
import type { Tx } from "../ports/ports.ts";

const at = (path: string) => ({ url: `https://hooks.example.com/${path}`, format: "event" as const });
const ASKED_AT = 1_700_000_000_000;

/** A question as far as it is looked at here. */
const QUESTION = {
  threadId: "thread",
  interruptId: "0".repeat(32),
  runId: "run",
  value: "May I?",
  responseSchema: null,
  createdAt: ASKED_AT,
  kind: "question",
  claim: null,
  review: null,
  snoozedUntil: null,
  priority: 2,
  expiresAt: null,
} as Interrupt;

async function notified(given: {
  readonly server?: ReturnType<typeof at> | null;
  readonly assistant?: Json;
  readonly run?: ReturnType<typeof at> | false;
  readonly waiting?: readonly Interrupt[];
}): Promise<readonly Webhook[]> {
  const rows: Webhook[] = [];
  const assistantMetadata = given.assistant === undefined ? {} : { interrupt_notify: given.assistant };
  const tx = { putWebhook: (row: Webhook) => void rows.push(row) } as unknown as Tx;
  const request = given.run === undefined ? {} : { notify: given.run };
  const run = { assistantId: "a", updatedAt: ASKED_AT, request } as unknown as Run;
  const notifier = createNotifier(given.server ?? null, () => "https://agents.example.com", false);
  await notifier.notify(tx, { run, pending: given.waiting ?? [QUESTION], assistantMetadata });
  return rows;
}

const WORDS: readonly (readonly [name: string, given: Parameters<typeof notified>[0], where: string | null])[] = [
  ["nobody has said anything", {}, null],
  ["the server says where", { server: at("server") }, "server"],
  ["the assistant says where", { server: at("server"), assistant: at("assistant") }, "assistant"],
  ["the assistant says nowhere", { server: at("server"), assistant: false }, null],
  ["the assistant says nothing that makes sense", { server: at("server"), assistant: { url: 7 } }, "server"],
  ["the run says where", { server: at("server"), assistant: at("assistant"), run: at("run") }, "run"],
  ["the run says nowhere", { server: at("server"), run: false }, null],
];

for (const [name, given, where] of WORDS) {
  test(`${name}: ${where === null ? "nobody is notified" : `${where} is notified`} (interrupt-notifier.3)`, async () => {
    const urls = (await notified(given)).map(({ url }) => url);
    assert.deepEqual(urls, where === null ? [] : [at(where).url]);
  });
}

test("sends the new ones of several open interrupts, each under a separate id (interrupt-notifier.2)", async () => {
  const old = { ...QUESTION, interruptId: "1".repeat(32), createdAt: ASKED_AT - 1 };
  const other = { ...QUESTION, interruptId: "2".repeat(32) };
  const rows = await notified({ server: at("server"), waiting: [old, QUESTION, other] });
  assert.equal(new Set(rows.map(({ runId }) => runId)).size, 2);
  const [first] = await notified({ server: at("server") });
  assert.equal(first?.runId, rows[0]?.runId, "the same question has the same id");
  assert.match(rows[1]?.body ?? "", new RegExp(`https://agents.example.com/console/inbox/thread/${"2".repeat(32)}`));
});
