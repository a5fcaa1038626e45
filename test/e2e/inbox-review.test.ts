// Review rules in a real browser: votes and who is missing, assignment, follow-up date, comments.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible, startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import { readItems } from "../harness/inbox.ts";
import type { ServerHere } from "../harness/server-here.ts";
import { call } from "../harness/server.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

async function asked(
  rules: object,
): Promise<{ readonly path: string; readonly threadId: string; readonly id: string }> {
  const { body: thread } = await call(server, "POST", "/threads", {});
  const { thread_id: threadId } = thread as { readonly thread_id: string };
  const payload = { action_requests: [{ name: "refund", args: { amount: 5 } }], review_rules: rules };
  await call(server, "POST", `/threads/${threadId}/runs/wait`, { assistant_id: "echo", input: { payload } });
  const [item] = await readItems(server, threadId);
  assert.ok(item !== undefined);
  return { path: `/inbox/${threadId}/${item.id}`, threadId, id: item.id };
}

function open(path: string, name: string): Promise<Page> {
  return browser.open(path, { name });
}

test("an item shows the votes and who is missing, and an answer that only counts says so", async () => {
  const { path, threadId, id } = await asked({ assignees: ["Grace", "Ruth", "Zoe"], approvals: 2 });
  const vote = { thread_id: threadId, interrupt_id: id, resume: { decisions: [{ type: "approve" }] } };
  await call(server, "POST", "/inbox/answers", { by: "Ruth", answers: [vote] });
  const page = await open(path, "Grace");
  const review = page.getByRole("region", { name: "Review" });
  await review.getByText("1 of 2").waitFor();
  await review.getByText("Grace, Zoe", { exact: true }).waitFor();
  await review.getByText("approves").waitFor();
  await call(server, "POST", "/inbox/answers", { by: "Zoe", answers: [vote] });
  await review.getByText("2 of 2").waitFor();
  await page.close();
});

test("an item is assigned, snoozed and commented on", async () => {
  const { path, threadId } = await asked({ assignees: ["Grace", "Ruth"] });
  const page = await open(path, "Grace");
  await page.getByRole("button", { name: "Assign", exact: true }).click();
  await page.getByLabel("Name of the person").fill("Zoe");
  await assertAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Assign" }).click();
  await page.getByText("is assigned to Grace or Ruth").waitFor();
  await page.getByRole("button", { name: "Assign", exact: true }).click();
  await page.getByLabel("Name of the person").fill("Ruth");
  await page.keyboard.press("Enter");
  await page.getByText("claimed by Ruth").waitFor();
  await page.getByRole("button", { name: "Snooze" }).click();
  await page.getByRole("button", { name: "4 hours" }).click();
  await page.getByText(/^snoozed, due/).waitFor();
  await page.getByLabel("New comment").fill("Called the customer.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await page.getByRole("region", { name: "Comments" }).getByText("Called the customer.").first().waitFor();
  const [item] = await readItems(server, threadId);
  assert.equal(item?.claim?.by, "Ruth");
  await page.close();
});
