// The inbox of people with different keys, in a real browser: nothing is offered that the server rejects.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import type { ServerHere } from "../harness/server-here.ts";
import { call } from "../harness/server.ts";

const WRITER = { "x-api-key": "key-of-grace-0123456789" };
const READER = { "x-api-key": "key-of-ruth-0123456789a" };

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  const keys = `grace:${WRITER["x-api-key"]},ruth:${READER["x-api-key"]}:viewer`;
  ({ server, browser } = await startConsole({ env: { HOLDPOINT_API_KEYS: keys } }));
  const { body: thread } = await call(server, "POST", "/threads", {}, WRITER);
  const { thread_id: threadId } = thread as { readonly thread_id: string };
  const payload = { action_requests: [{ name: "refund", args: { amount: 5 } }] };
  await call(server, "POST", `/threads/${threadId}/runs/wait`, { assistant_id: "echo", input: { payload } }, WRITER);
});

after(() => stopConsole({ server, browser }));

async function enter(key: string, name: string): Promise<Page> {
  const page = await browser.open("/inbox", { name });
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "refund" }).waitFor();
  return page;
}

test("a key that may only read is offered no decision, no claim and nothing for many items", async () => {
  const page = await enter(READER["x-api-key"], "Ruth");
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.getByRole("status").getByText("Your role may only read.").waitFor();
  assert.match(page.url(), /\/inbox$/);
  await page.keyboard.press("x");
  for (const name of ["Approve 1", "Reject 1", "Assign 1"])
    assert.ok(await page.getByRole("button", { name }).isDisabled(), name);
  for (const key of ["r", "w", "c"]) await page.keyboard.press(key);
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.keyboard.press("Enter");
  await page.getByText("A reviewer can answer this item").waitFor();
  for (const name of ["Approve", "Reject", "Edit", "Claim", "Assign", "Snooze"])
    assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0);
  await page.close();
});

test("forgetting the key asks for another one, on a page that works", async () => {
  const page = await enter(WRITER["x-api-key"], "Grace");
  await page.getByRole("button", { name: /^Name, theme/ }).click();
  await page.getByRole("button", { name: "Forget the API key" }).click();
  await page.getByText("This server requires an API key.").waitFor();
  await page.getByLabel("Key", { exact: true }).fill(READER["x-api-key"]);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "refund" }).waitFor();
  await page.close();
});
