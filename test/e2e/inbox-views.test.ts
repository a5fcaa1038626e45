// The views of the inbox, in a real browser: filters as choices with counts, order, follow-up dates, unread items, and
// views with a name.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { ask, assertAccessible, startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import { readItems } from "../harness/inbox.ts";
import type { ServerHere } from "../harness/server-here.ts";
import { call } from "../harness/server.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

const approval = (amount: number) => ({ action_requests: [{ name: "refund", args: { amount } }] });

const rows = (page: Page) => page.getByRole("list", { name: "Pending items" }).getByRole("listitem");

async function change(threadId: string, verb: string, body: object): Promise<void> {
  const [item] = await readItems(server, threadId);
  const { status, text } = await call(server, "POST", `/inbox/${threadId}/${item?.id}/${verb}`, body);
  assert.equal(status, 200, text);
}

test("filters are choices with the counts of the server, also for what I have claimed", async () => {
  await ask(server, approval(1), { batch: "counts" });
  const mine = await ask(server, approval(2), { batch: "counts" });
  await ask(server, "How many?", { batch: "counts" });
  await change(mine, "assign", { by: "Zoe", to: "Ada" });
  const page = await browser.open("/inbox?metadata=batch%3Dcounts", { name: "Ada" });
  await page.getByText("3 waiting").waitFor();
  await page.getByRole("button", { name: /^Filters/ }).click();
  const options = async (label: string): Promise<readonly string[]> =>
    page.getByRole("combobox", { name: label, exact: true }).locator("option").allInnerTexts();
  await page.getByRole("option", { name: "Approval (2)" }).waitFor({ state: "attached" });
  assert.deepEqual(await options("Kind"), ["Any kind", "Approval (2)", "Form (0)", "Question (1)", "Breakpoint (0)"]);
  assert.deepEqual(await options("Claimed by"), ["Anyone or no one", "Claimed by me (1)", "Unclaimed (2)"]);
  assert.deepEqual(await options("Graph"), ["Any graph", "echo (3)"]);
  assert.ok((await options("Deadline")).includes("No deadline (3)"));
  assert.ok((await options("Metadata")).includes("counts (3)"));
  await page.getByRole("combobox", { name: "Claimed by" }).selectOption("me");
  await page.getByText("1 waiting").waitFor();
  assert.match(await rows(page).innerText(), /amount: 2/);
  await page.getByRole("option", { name: "Question (0)" }).waitFor({ state: "attached" });
  await page.close();
});

test("metadata is chosen by key and value with counts, or typed", async () => {
  await ask(server, "One", { batch: "meta", tier: "gold" });
  await ask(server, "Two", { batch: "meta", tier: 7 });
  const page = await browser.open("/inbox?metadata=batch%3Dmeta", { name: "Ada" });
  await page.getByText("2 waiting").waitFor();
  await page.getByRole("button", { name: /^Filters/ }).click();
  const choices = page.getByRole("combobox", { name: "Metadata", exact: true });
  await choices.locator("option", { hasText: "gold (1)" }).waitFor({ state: "attached" });
  await choices.selectOption({ label: "7 (1)" });
  await page.getByText("1 waiting").waitFor();
  await page.getByRole("link", { name: "Two" }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("metadata"), "batch=meta, tier=7");
  const text = page.getByRole("textbox", { name: "Metadata as text" });
  await text.fill("tier=gold, batch=meta");
  await text.press("Enter");
  await page.getByRole("link", { name: "One" }).waitFor();
  await assertAccessible(page);
  await page.close();
});

test("the order is the longest wait, the newest, or the earliest deadline", async () => {
  const ids = ["first", "second", "third"];
  for (const title of ids) await ask(server, title, { batch: "order" });
  const page = await browser.open("/inbox?metadata=batch%3Dorder", { name: "Ada" });
  await page.getByText("3 waiting").waitFor();
  const titles = (): Promise<readonly string[]> => rows(page).locator(".row-link").allInnerTexts();
  const shown = (await titles()).map((title) => title.replace(/\s*\(unread\)/, ""));
  assert.deepEqual(shown, ids);
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByRole("combobox", { name: "Order" }).selectOption("newest");
  await rows(page).first().getByText("third").waitFor();
  const sorted = page.waitForRequest(/\/inbox\?.*sort=deadline/);
  await page.getByRole("combobox", { name: "Order" }).selectOption("deadline");
  await sorted;
  assert.match(page.url(), /order=deadline/);
  await page.close();
});

test("the row has the priority of a question, and the order begins with the most urgent", async () => {
  const metadata = { batch: "urgency" };
  for (const [title, priority] of [
    ["later", "low"],
    ["as usual", null],
    ["at once", "urgent"],
  ] as const) {
    const { status, text } = await call(server, "POST", "/requests", { payload: "?", title, priority, metadata });
    assert.equal(status, 201, text);
  }
  const page = await browser.open("/inbox?metadata=batch%3Durgency", { name: "Ada" });
  await page.getByText("3 waiting").waitFor();
  await rows(page).first().getByText("later").waitFor();
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByRole("combobox", { name: "Order" }).selectOption({ label: "Most urgent first" });
  await rows(page).first().getByText("at once").waitFor();
  await rows(page).first().getByText("urgent", { exact: true }).waitFor();
  await rows(page).last().getByText("low", { exact: true }).waitFor();
  await assertAccessible(page);
  await rows(page).first().getByRole("link").click();
  await page.getByRole("heading", { name: "at once" }).waitFor();
  await page.close();
});

test("a snoozed item is hidden, and a filter shows it", async () => {
  const later = await ask(server, "Ask again later", { batch: "snooze" });
  await ask(server, "Ask now", { batch: "snooze" });
  await change(later, "snooze", { for_seconds: 3600 });
  const page = await browser.open("/inbox?metadata=batch%3Dsnooze", { name: "Ada" });
  await page.getByText("1 waiting").waitFor();
  assert.equal(await page.getByRole("link", { name: "Ask again later" }).count(), 0);
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByRole("option", { name: "Only snoozed (1)" }).waitFor({ state: "attached" });
  await page.getByRole("combobox", { name: "Snoozed" }).selectOption("only");
  await page.getByRole("link", { name: "Ask again later" }).waitFor();
  await rows(page).getByText("snoozed", { exact: true }).waitFor();
  assert.equal(await rows(page).count(), 1);
  await page.close();
});

test("an item is unread until it was open in this browser", async () => {
  await ask(server, "Read me", { batch: "unread" });
  const page = await browser.open("/inbox?metadata=batch%3Dunread", { name: "Ada" });
  await page.getByRole("link", { name: "Read me (unread)" }).click();
  await page.getByRole("link", { name: "Read me", exact: true }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Read me", exact: true }).waitFor();
  await page.close();
});

test("the server searches: words inside values, in rows without values, and an empty result has ways out", async () => {
  await ask(server, { question: "Which one?", notes: { deep: `${"x ".repeat(300)}needle` } }, { batch: "values" });
  await ask(server, "Another one?", { batch: "values" });
  const page = await browser.open("/inbox", { name: "Ada" });
  const calls: URLSearchParams[] = [];
  page.on("request", (request) => {
    if (/\/inbox\?/.test(request.url()) && request.resourceType() === "fetch")
      calls.push(new URL(request.url()).searchParams);
  });
  await page.goto(`${server.url}/console/inbox?metadata=batch%3Dvalues`);
  await page.getByText("2 waiting").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("need");
  await page.waitForURL(/text=need/);
  await page.getByText("1 waiting").waitFor();
  await page.getByRole("link", { name: "Which one?" }).waitFor();
  assert.deepEqual([...new Set(calls.map((one) => one.get("values")))], ["false"]);
  assert.ok(calls.some((one) => one.get("q") === "need"));
  await page.getByRole("searchbox").fill("needles");
  await page.getByText("No matching items").waitFor();
  const answered = page.getByRole("link", { name: "Search the answered items" });
  assert.match((await answered.getAttribute("href")) ?? "", /answered\?text=needles/);
  await page.getByRole("button", { name: "Clear the search" }).click();
  await page.getByText("2 waiting").waitFor();
  assert.equal(await page.getByRole("searchbox").inputValue(), "");
  assert.match(page.url(), /metadata=/);
  await page.close();
});

test("a view gets a name, a place in the navigation, another name, and is deleted", async () => {
  await ask(server, "For the view", { batch: "view" });
  const page = await browser.open("/inbox?metadata=batch%3Dview&kind=question", { name: "Ada" });
  await page.getByText("1 waiting").waitFor();
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabel("Name of the view").fill("Questions");
  await page.keyboard.press("Enter");
  const nav = page.getByRole("navigation", { name: "Console" });
  await nav.getByRole("link", { name: "Questions" }).waitFor();
  await page.goto(`${server.url}/console/threads`);
  await nav.getByRole("link", { name: "Questions" }).click();
  await page.getByText("1 waiting").waitFor();
  const { searchParams } = new URL(page.url());
  assert.deepEqual([searchParams.get("metadata"), searchParams.get("kind")], ["batch=view", "question"]);
  await nav.getByRole("button", { name: "Rename or delete Questions" }).click();
  await page.getByLabel("Name of the view").fill("My questions");
  await page.keyboard.press("Enter");
  await nav.getByRole("link", { name: "My questions" }).waitFor();
  assert.equal(await nav.getByRole("link", { name: "Questions", exact: true }).count(), 0);
  await page.reload();
  await nav.getByRole("button", { name: "Rename or delete My questions" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await nav.getByRole("link", { name: "My questions" }).waitFor({ state: "detached" });
  await page.close();
});
