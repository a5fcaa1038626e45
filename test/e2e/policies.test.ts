// Requests and policies in a real browser: a program's question is answered, an answer is remembered, the page Policies.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  ask,
  assertAccessible,
  readRunAnswer,
  startConsole,
  stopConsole,
  type ConsoleBrowser,
} from "../harness/console.ts";
import { readAudit, readItems } from "../harness/inbox.ts";
import type { ServerHere } from "../harness/server-here.ts";
import { call } from "../harness/server.ts";
import { followLog } from "../harness/threads.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

const ADA = { name: "Ada" };
const APPROVED = { decisions: [{ type: "approve" }] };

const refund = (amount: number) => ({
  action_requests: [{ name: "refund", args: { amount }, description: `Refund ${amount}` }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "edit", "reject"] }],
});

test("a request of a program is answered in the console, and the waiting program gets the answer", async () => {
  const question = { payload: "Deploy 1.4 to production?", response_schema: { enum: ["yes", "no"] } };
  const { body } = await call(server, "POST", "/requests", question);
  const waiting = call(server, "GET", `/requests/${String(body["request_id"])}?wait=60`);
  const page = await browser.open(new URL(String(body["url"])).pathname.replace("/console", ""), ADA);
  await page.getByRole("heading", { level: 2, name: "Deploy 1.4 to production?" }).waitFor();
  await page.getByRole("combobox", { name: "Answer" }).selectOption("yes");
  await page.getByRole("button", { name: "Review and send" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Confirm" }).click();
  const { body: ended } = await waiting;
  assert.deepEqual([ended["status"], ended["answer"], ended["answered_by"]], ["answered", "yes", "Ada"]);
});

test("an answer is remembered with changed conditions, later questions are answered, and the policy is revoked", async () => {
  const threadId = await ask(server, refund(20));
  const [item] = await readItems(server, threadId);
  const page = await browser.open(`/inbox/${threadId}/${item?.id}`, ADA);
  await page.getByLabel("Remember this answer").check();
  await page.getByRole("textbox", { name: "Conditions" }).getByText("args.amount").waitFor();
  await assertAccessible(page);
  await page.getByRole("textbox", { name: "Conditions" }).focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText('{"args.amount": {"lte": 50}}');
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Confirm" }).click();
  await followLog(server, "the answer has arrived", async () => {
    const answered = (await readAudit(server, threadId)).some(({ action }) => action === "answered");
    return answered ? true : undefined;
  });
  assert.deepEqual(await readRunAnswer(server, threadId), APPROVED);

  const later = await ask(server, refund(30));
  assert.deepEqual(await readRunAnswer(server, later), APPROVED);
  assert.equal((await readAudit(server, later))[0]?.via, "policy");

  await page.goto(`${server.url}/console/policies`);
  await page.getByText("args.amount ≤ 50").waitFor();
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByText("this rule would have answered 1, people had approved 1").waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No policies yet").waitFor();
  const open = await ask(server, refund(30));
  assert.equal((await readItems(server, open)).length, 1);
});
