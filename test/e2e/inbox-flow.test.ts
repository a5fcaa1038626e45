// The flow of work in the inbox, in a real browser: decisions by one key with undo, the next item, and many at once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  readRunAnswer,
  ask,
  assertAccessible,
  startConsole,
  stopConsole,
  type ConsoleBrowser,
} from "../harness/console.ts";
import { answer, readAudit, readItems, watchInbox } from "../harness/inbox.ts";
import type { ServerHere } from "../harness/server-here.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

const FLOW = { name: "Ada", holdSecs: 30, advances: true } as const;
const APPROVED = { decisions: [{ type: "approve" }] };

const refund = (amount: number, more: object = {}) => ({
  action_requests: [{ name: "refund", args: { amount }, description: `Refund ${amount}`, ...more }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "edit", "reject"] }],
});

async function batch(name: string, payloads: readonly object[]): Promise<readonly string[]> {
  const threads: string[] = [];
  for (const payload of payloads) threads.push(await ask(server, payload, { batch: name }));
  return threads;
}

const openBatch = (name: string, path = "/inbox"): Promise<Page> =>
  browser.open(`${path}?metadata=batch%3D${name}`, FLOW);

const title = (page: Page, text: string): Promise<void> =>
  page.getByRole("heading", { level: 2, name: text }).waitFor();

const countAnswers = async (threadId: string): Promise<number> =>
  (await readAudit(server, threadId)).filter(({ action }) => action === "answered").length;

test("`a` approves without a question and opens the next item; `u` takes the last answer back; each is sent once", async () => {
  const threads = await batch("flow", [refund(1), refund(2), refund(3)]);
  const page = await openBatch("flow");
  await page.getByText("3 waiting").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await title(page, "refund: Refund 2");
  await page.getByRole("button", { name: "Approve" }).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.keyboard.press("a");
  await title(page, "refund: Refund 3");
  await page.keyboard.press("u");
  await page.getByText("Undone. Nothing was sent.").waitFor();
  for (const threadId of threads) assert.equal((await readItems(server, threadId)).length, 1, "nothing is sent yet");
  await page.getByRole("button", { name: "Show the item" }).click();
  await title(page, "refund: Refund 2");
  await page.keyboard.press("r");
  await page.getByLabel("Why").fill("No");
  await page.keyboard.press("Control+Enter");
  await title(page, "refund: Refund 3");
  const send = page.getByRole("button", { name: "Send now" });
  await send.first().click();
  await page.getByText("Sent: Approve refund.").waitFor();
  await send.click();
  await page.getByText("Sent: Reject refund.").waitFor();
  assert.deepEqual(await readRunAnswer(server, threads[0] ?? ""), APPROVED);
  assert.deepEqual(await readRunAnswer(server, threads[1] ?? ""), { decisions: [{ type: "reject", message: "No" }] });
  assert.deepEqual(await Promise.all(threads.map(countAnswers)), [1, 1, 0]);
  await page.close();
});

test("a key that is held down, and one that is pressed twice, decide one item", async () => {
  const [threadId = ""] = await batch("once", [refund(7)]);
  const [item] = await readItems(server, threadId);
  const page = await browser.open(`/inbox/${threadId}/${item?.id}`, { name: "Ada", holdSecs: 30 });
  await page.getByRole("button", { name: "Approve" }).waitFor();
  await page.keyboard.down("a");
  await page.keyboard.down("a"); // as the system repeats it
  await page.keyboard.up("a");
  await page.keyboard.press("a");
  await page.getByText("Sent soon. Press u").waitFor();
  assert.equal(await page.getByRole("button", { name: "Send now" }).count(), 1);
  await page.close();
});

test("the last item closes the pane, and a preference stays on the item instead", async () => {
  await batch("last", [refund(8)]);
  const page = await openBatch("last");
  await page.getByRole("link", { name: "refund: Refund 8" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.waitForURL(/\/inbox\?/);
  await page.keyboard.press("u");
  await page.getByRole("button", { name: /^Name, theme/ }).click();
  await page.getByLabel("Open the next item after a decision").uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "refund: Refund 8" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Sent soon. Press u").waitFor();
  assert.match(page.url(), /\/inbox\/[0-9a-f-]{36}\//);
  await page.close();
});

test("an undone edit is there again after the next item was open", async () => {
  await batch("edits", [refund(21), refund(22)]);
  const page = await openBatch("edits");
  await page.getByRole("link", { name: "refund: Refund 21" }).click();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("amount").fill("19.5");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await title(page, "refund: Refund 22");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Show the item" }).click();
  await title(page, "refund: Refund 21");
  assert.equal(await page.getByLabel("amount").inputValue(), "19.5");
  await page.close();
});

test("a dangerous request is confirmed, with an undo window too", async () => {
  const [threadId = ""] = await batch("danger", [refund(9, { dangerous: true })]);
  const page = await openBatch("danger");
  await page.getByText("1 waiting").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.getByRole("dialog", { name: "Approve refund" }).getByText("marked as dangerous").waitFor();
  await assertAccessible(page);
  assert.equal(await page.getByRole("button", { name: "Send now" }).count(), 0);
  await page.keyboard.press("Enter"); // on Cancel
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await page.getByRole("button", { name: "Send now" }).count(), 0);
  await page.keyboard.press("a");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Send now" }).click();
  await page.getByText("Sent: Approve refund.").waitFor();
  assert.deepEqual(await readRunAnswer(server, threadId), APPROVED);
  await page.close();
});

test("closing the tab sends the held answer, and an answer that could not be sent asks first", async () => {
  const [held = "", failed = ""] = await batch("leaving", [refund(11), refund(12)]);
  const page = await openBatch("leaving");
  await page.getByRole("link", { name: "refund: Refund 11" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await title(page, "refund: Refund 12");
  const watcher = await watchInbox(server);
  await page.close({ runBeforeUnload: true });
  const { event, data } = await watcher.next();
  assert.deepEqual([event, data.thread_id, data["by"]], ["answered", held, "Ada"]);
  watcher.close();
  const other = await openBatch("leaving");
  await other.getByRole("link", { name: "refund: Refund 12" }).click();
  await other.getByRole("button", { name: "Approve" }).click();
  await other.route("**/inbox/answers", (route) => route.abort());
  await other.getByRole("button", { name: "Send now" }).click();
  await other.getByText("not sent: Cannot reach the server").waitFor();
  const asked = other.waitForEvent("dialog");
  const closing = other.close({ runBeforeUnload: true });
  const dialog = await asked;
  assert.equal(dialog.type(), "beforeunload");
  await dialog.dismiss();
  await closing;
  await other.unroute("**/inbox/answers");
  await other.getByRole("button", { name: "Try again" }).click();
  await other.getByText("Sent: Approve refund.").waitFor();
  assert.deepEqual(await Promise.all([held, failed].map(countAnswers)), [1, 1]);
  await other.close();
});

test("many items are rejected with one message, each with its result", async () => {
  const threads = await batch("rejects", [refund(31), refund(32), refund(33)]);
  const page = await openBatch("rejects");
  await page.getByText("3 waiting").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Select all 3" }).click();
  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog", { name: "Reject 3 × refund" });
  await dialog.getByLabel("Why").fill("Over the limit");
  await assertAccessible(page);
  const [item] = await readItems(server, threads[2] ?? "");
  await answer(server, { by: "Bob", answers: [{ thread_id: threads[2], interrupt_id: item?.id, resume: APPROVED }] });
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Send now" }).click();
  const results = page.getByRole("dialog", { name: "2 rejected, 1 not accepted" });
  await results.getByText(/answered by Bob at .*, with another answer/).waitFor();
  await assertAccessible(page);
  for (const threadId of threads.slice(0, 2)) {
    assert.deepEqual(await readRunAnswer(server, threadId), {
      decisions: [{ type: "reject", message: "Over the limit" }],
    });
  }
  await page.close();
});

test("many items are assigned to one person, each with its result", async () => {
  const threads = await batch("assigns", [refund(41), refund(42), refund(43)]);
  const page = await openBatch("assigns");
  await page.getByText("3 waiting").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Select all 3" }).click();
  await page.keyboard.press("w");
  await page.getByRole("dialog", { name: "Assign 3" }).getByLabel("Name of the person").fill("Zoe");
  await assertAccessible(page);
  const [item] = await readItems(server, threads[0] ?? "");
  await answer(server, { by: "Bob", answers: [{ thread_id: threads[0], interrupt_id: item?.id, resume: APPROVED }] });
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "2 assigned, 1 not accepted" }).waitFor();
  for (const threadId of threads.slice(1)) {
    const [left] = await readItems(server, threadId);
    assert.equal(left?.claim?.by, "Zoe");
  }
  await page.close();
});
