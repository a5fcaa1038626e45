// A reviewer's day in a real browser: keys for everything, what Ctrl+K finds, chosen columns, answers in words, the
// phone's tabs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { ask, assertAccessible, startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import { answer, readItems } from "../harness/inbox.ts";
import type { ServerHere } from "../harness/server-here.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

const refund = (eur: number): object => ({ action_requests: [{ name: "refund", args: { eur } }] });

async function openBatch(batch: string, count: number, options: object = {}): Promise<Page> {
  for (let at = 1; at <= count; at++) await ask(server, refund(at), { batch, customer: `c${at}` });
  const page = await browser.open(`/inbox?metadata=batch%3D${batch}`, { name: "Ada", holdSecs: 5, ...options });
  await page.getByText(`${count} waiting`).waitFor();
  return page;
}

const heading = (page: Page, eur: number): Promise<void> =>
  page.getByRole("heading", { name: `refund(eur: ${eur})` }).waitFor();

test("keys move to the ends and to the next unread, mark as unread, snooze, and the help lists them", async () => {
  const page = await openBatch("keys", 4);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await heading(page, 4);
  await page.keyboard.press("Home");
  await heading(page, 1);
  await page.keyboard.press("n");
  await heading(page, 2);
  await page.keyboard.press("Shift+U");
  await page.getByRole("link", { name: "refund(eur: 2) (unread)" }).waitFor();
  await page.keyboard.press("n");
  await heading(page, 3);
  await page.keyboard.press("n");
  await heading(page, 2);
  await page.keyboard.press("z");
  await page.getByRole("dialog", { name: "Snooze" }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("2");
  await page.getByText(/^snoozed, due/).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  for (const label of ["Open the next unread", "Mark as unread", "Snooze", "Show all of the folded texts", "Last"]) {
    await help.getByText(label, { exact: true }).waitFor();
  }
  await page.close();
});

test("Ctrl+K finds items, threads and people, and opens them", async () => {
  const threadId = await ask(server, { question: "Where is the walrus?" }, { batch: "find" });
  const [item] = await readItems(server, threadId);
  const page = await browser.open("/threads", { name: "Ada" });
  await page.getByRole("heading", { name: "Threads" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Send the form that has the focus" }).getByText("Ctrl Enter").waitFor();
  await page.keyboard.type("walrus");
  await page.getByRole("option", { name: /^Item Where is the walrus/ }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Where is the walrus?" }).waitFor();
  assert.ok(page.url().includes(`/inbox/${threadId}/${item?.id}`));
  await page.keyboard.press("c");
  await page.getByText("claimed by you").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type("ada");
  await page.getByRole("option", { name: "Person Items of Ada" }).click();
  await page.getByText("1 waiting").waitFor();
  await page.close();
});

test("a person chooses columns of metadata and arguments, with the keyboard", async () => {
  const page = await openBatch("columns", 2);
  assert.equal(await page.getByText("Claimed by", { exact: true }).count(), 0);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type("preferences");
  await page.keyboard.press("Enter");
  await page.getByLabel("More columns of the inbox").waitFor();
  const isFocused = (): Promise<boolean> =>
    page.getByLabel("More columns of the inbox").evaluate((field) => field === field.ownerDocument.activeElement);
  while (!(await isFocused())) await page.keyboard.press("Tab");
  await page.keyboard.type("customer, eur");
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  const row = page.getByRole("listitem").filter({ hasText: "refund(eur: 2)" });
  await row.getByText("c2", { exact: true }).waitFor();
  await row.getByText("2", { exact: true }).waitFor();
  await page.close();
});

test("answers are words in the list of answered items, whatever client gave them", async () => {
  const args = { eur: 129.9, order: "4711", reason: "It arrived broken, and a week late." };
  const threadId = await ask(server, { action_requests: [{ name: "refund", args }] }, { batch: "words" });
  const [item] = await readItems(server, threadId);
  const resume = { decisions: [{ type: "edit", edited_action: { name: "refund", args: { ...args, eur: 64.95 } } }] };
  await answer(server, { by: "Ann", answers: [{ thread_id: threadId, interrupt_id: item?.id, resume }] });
  const page = await browser.open("/answered", { name: "Ada" });
  const words = page.getByText("edited: eur 129.9 → 64.95");
  await words.waitFor();
  assert.ok(await words.evaluate((line) => line.scrollWidth <= line.clientWidth), "the words are cut off");
  await page.getByText("edited", { exact: true }).waitFor();
  await page.getByText(/^Waits:/).click();
  const waits = page.getByRole("region", { name: "Waits by action" });
  await waits.getByRole("cell", { name: "refund" }).waitFor();
  await waits.getByRole("cell", { name: "100 %" }).waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await waits.evaluate((table) => table.scrollWidth <= table.clientWidth), "the table fits a phone");
  const save = await page.getByRole("button", { name: "Save waits as CSV" }).boundingBox();
  assert.ok(save !== null && save.x + save.width <= 390, JSON.stringify(save));
  await page.close();
});

test("a phone has four tabs and More, which leads to every other page", async () => {
  const page = await browser.open("/inbox", { name: "Ada", width: 390, height: 844 });
  const tabs = page.getByRole("navigation", { name: "Console" });
  await tabs.getByRole("link", { name: "Traces" }).waitFor();
  assert.equal(await tabs.getByRole("link", { name: "Store" }).isVisible(), false);
  await tabs.getByRole("button", { name: "More" }).click();
  await page.getByRole("dialog", { name: "More" }).getByRole("link", { name: "Settings" }).waitFor();
  await assertAccessible(page);
  await page.getByRole("dialog", { name: "More" }).getByRole("link", { name: "Store" }).click();
  await page.waitForURL(/\/store/);
  assert.equal(await page.locator("html").evaluate((root) => root.scrollWidth), 390);
  await page.close();
});

test("tabs show what is mine, what is of nobody, and everything", async () => {
  const metadata = { batch: "tabs" };
  const rules = { assignees: ["Zoe", "Ada"] };
  await ask(server, { ...refund(1), review_rules: rules }, metadata);
  await ask(server, { ...refund(2), review_rules: { assignees: ["group:ops"] } }, metadata);
  await ask(server, refund(3), metadata);
  const page = await browser.open("/inbox?metadata=batch%3Dtabs", { name: "Ada" });
  await page.getByText("3 waiting").waitFor();
  const tabs = page.getByRole("group", { name: "Whose items" });
  for (const [tab, eur] of [
    ["Mine", 1],
    ["Unassigned", 3],
  ] as const) {
    await tabs.getByRole("button", { name: tab }).click();
    await page.getByText("1 waiting").waitFor();
    await page.getByRole("link", { name: `refund(eur: ${eur})` }).waitFor();
  }
  await tabs.getByRole("button", { name: "My groups" }).click();
  await page.getByRole("link", { name: /^refund/ }).waitFor({ state: "detached" });
  await assertAccessible(page);
  await page.close();
});
