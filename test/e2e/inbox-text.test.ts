// Text of graphs in a real browser: nothing that a person decides by is invisible, reordered, blank or cut off without
// a mark.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { ask, startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import { readItems } from "../harness/inbox.ts";
import type { ServerHere } from "../harness/server-here.ts";
import { call } from "../harness/server.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

async function openItem(payload: unknown): Promise<Page> {
  const threadId = await ask(server, payload);
  const [item] = await readItems(server, threadId);
  const page = await browser.open(`/inbox/${threadId}/${item?.id}`, { name: "Ada" });
  await page.getByRole("complementary", { name: "Answer" }).waitFor();
  return page;
}

const HIDDEN = /[\u200b\u202e]/;
const SHOWN = "abc\\u202egnp.exe";

test("bidirectional and zero-width characters are escapes in rows, items, editors and confirmations", async () => {
  const args = { file: "abc\u202egnp.exe", to: "pay\u200bpal", amount: 1, аmount: 2 };
  const page = await openItem({ action_requests: [{ name: "open", args, description: "Run **abc\u202egnp.exe**?" }] });
  const text = async (): Promise<string> => page.locator("body").innerText();
  const request = page.locator(".item-left");
  await request.getByText(SHOWN).first().waitFor();
  await page.getByLabel("Arguments of open").getByText("mixes Latin and Cyrillic letters").waitFor();
  await request.getByText("Raw payload").click();
  assert.doesNotMatch(await text(), HIDDEN);
  await page.getByRole("link", { name: `open: Run ${SHOWN}?` }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByText(`Contains invisible characters: ${SHOWN}`).waitFor();
  await page.getByLabel("file").fill("abc\u202egnp.txt");
  await page.getByRole("button", { name: "Review and send" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("gnp", { exact: false }).first().waitFor();
  assert.doesNotMatch(await text(), HIDDEN);
  await page.keyboard.press("Escape");
  await page.getByRole("group", { name: "Edit as" }).getByRole("button", { name: "JSON" }).click();
  await page.locator(".cm-content .hidden-character").first().waitFor();
  assert.doesNotMatch(await page.locator(".cm-content").innerText(), HIDDEN);
  await page.close();
});

const refund = (amount: number) => ({ name: "refund", args: { amount } });

test("three actions, one of which may not be approved: two are approved together, the third is decided", async () => {
  const threadId = await ask(server, {
    action_requests: [refund(1), { name: "close", args: {} }, refund(2)],
    review_configs: [{ action_name: "close", allowed_decisions: ["reject", "respond"] }],
  });
  const [item] = await readItems(server, threadId);
  const page = await browser.open(`/inbox/${threadId}/${item?.id}`, { name: "Ada" });
  await page.getByRole("link", { name: "refund ×2, close" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve all 3" }).count(), 0);
  await page.getByRole("button", { name: "Approve 2 of 3" }).click();
  await page.getByText("close cannot be approved here: decide it.").waitFor();
  await page.keyboard.press("m");
  await page.getByLabel("Your response").fill("Not yet");
  await page.keyboard.press("Escape");
  await page.keyboard.press("r");
  await page.getByLabel("Why").fill("Not now");
  await page.getByRole("button", { name: "Review and send" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  const outcome = page.getByRole("status").filter({ hasText: "Answered by Ada at" });
  await outcome.getByText("reject", { exact: true }).waitFor();
  assert.equal(await outcome.getByText("approve", { exact: true }).count(), 2);
  await outcome.getByText("Not now").first().waitFor();
  await page.close();
});

test("blank payloads have a title and a text", async () => {
  for (const [payload, title, text] of [
    ["", "empty text", "The question is an empty string."],
    [{}, "empty object", "The question is an empty object."],
  ] as const) {
    const page = await openItem(payload);
    await page.getByRole("link", { name: title, exact: true }).first().waitFor();
    await page.locator(".item-left").getByText(text, { exact: true }).first().waitFor();
    await page.close();
  }
});

test("an item whose deadline passed says what happened", async () => {
  const expires_at = new Date(Date.now() + 1500).toISOString();
  const page = await openItem({ question: "Soon?", expires_at, on_expiry: "fail" });
  await page.getByText(/^The deadline passed at .* without an answer, and the run failed\.$/).waitFor();
  await page.close();
});

test("an answered row keeps its two lines in the list beside an item", async () => {
  const page = await openItem(snake("A customer asks for money back."));
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText(/^Answered by Ada/).waitFor();
  const row = page
    .getByRole("listitem")
    .filter({ hasText: /answered by Ada/ })
    .first();
  const box = await row.boundingBox();
  const chip = await row.getByText(/answered by Ada/).boundingBox();
  assert.ok(box !== null && chip !== null);
  assert.ok(chip.x + chip.width <= box.x + box.width && chip.y + chip.height <= box.y + box.height);
  const title = await row.getByRole("link").boundingBox();
  assert.ok(title !== null && title.width > 100, "the title keeps its place");
  await page.close();
});

test("beside a long title, all buttons of an item are in sight", async () => {
  const threadId = await ask(server, "Shall I send the quarterly report to all customers? ".repeat(4));
  const [item] = await readItems(server, threadId);
  const page = await browser.open(`/inbox/${threadId}/${item?.id}`, { name: "Ada", width: 1280 });
  for (const name of ["Claim", "Assign", "Snooze", "Next item"]) {
    const box = await page.getByRole("button", { name: new RegExp(`^${name}`) }).boundingBox();
    assert.ok(box !== null && box.x + box.width <= 1280, `${name} ends at ${box?.x} + ${box?.width}`);
  }
  await page.close();
});

test("on a phone the decisions and Claim are in sight, and the pages have names", async () => {
  const threadId = await ask(server, {
    ...snake(`a long title that takes all the width of the header${"\n\nand a long text".repeat(40)}`),
  });
  const [item] = await readItems(server, threadId);
  const page = await browser.open(`/inbox/${threadId}/${item?.id}`, { name: "Ada", width: 360, height: 740 });
  await page.getByLabel("New comment").waitFor(); // all of the request has its height
  for (const name of ["Approve", "Reject", "Claim"]) {
    const button = page.getByRole("button", { name, exact: true });
    const box = await button.boundingBox();
    assert.ok(
      box !== null && box.y + box.height <= 740 && box.x >= 0 && box.x + box.width <= 360,
      `${name} is in sight`,
    );
    const isOnTop = await button.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      const { document } = element.ownerDocument.defaultView;
      return element.contains(document.elementFromPoint(x + width / 2, y + height - 2));
    });
    assert.ok(isOnTop, `${name} is not cut off`);
  }
  assert.ok(await page.getByRole("navigation").getByText("Threads").isVisible());
  await page.close();
});

function snake(description: string) {
  return { action_requests: [{ ...refund(5), description }] };
}

test("with the server away, a page that is not loaded yet says so, and loads when it is back", async () => {
  const page = await openItem("Away?");
  const context = page.context();
  await context.setOffline(true);
  await page.getByRole("link", { name: "Crons" }).click();
  await page.getByText("This page could not be loaded: the server does not respond").waitFor();
  await context.setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Crons", exact: true }).waitFor();
  await page.close();
});

test("Markdown tables of a question are tables", async () => {
  const page = await openItem({ question: "Pay these?\n\n| order | amount |\n| --- | ---: |\n| 4711 | 129.90 |" });
  const table = page.locator(".item-left").getByRole("table");
  await table.waitFor();
  assert.deepEqual(await table.getByRole("cell").allInnerTexts(), ["4711", "129.90"]);
  assert.deepEqual(await table.getByRole("columnheader").allInnerTexts(), ["order", "amount"]);
  await page.close();
});

test("items of 5 MB count, are shown by excerpt, and are edited and compared without a pause", async () => {
  const line = "all work and no play ";
  const args = { note: line.repeat(240_000), amount: 5 };
  const payload = { action_requests: [{ name: "archive", args, description: "Archive it?" }] };
  const threadIds = [await ask(server, payload), await ask(server, payload)];
  const [item] = await readItems(server, threadIds[0] ?? "");
  const page = await browser.open(`/inbox/${threadIds[0]}/${item?.id}`, { name: "Ada" });
  const open = await countOpen();
  await page.getByLabel(`${open} waiting`, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  const editor = page.getByRole("textbox", { name: "Arguments of archive" });
  await editor.press("ControlOrMeta+Home");
  for (const key of ["ArrowDown", "End"]) await editor.press(key);
  await editor.press("ControlOrMeta+End");
  await editor.press("ArrowUp");
  await editor.press("End");
  for (const digit of "123") await page.keyboard.type(digit);
  const changes = page.getByRole("group", { name: "Changes" });
  await changes.getByText('"amount": 5123').waitFor();
  assert.equal(await changes.locator("del").innerText(), '  "amount": 5');
  await page.close();
});

/** Large items shorten the pages. */
async function countOpen(): Promise<number> {
  let count = 0;
  for (let cursor: string | null = ""; cursor !== null;) {
    const at: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { body } = await call(server, "GET", `/inbox?limit=1000&values=false${at}`);
    const { items, next_cursor: next } = body as { items: readonly object[]; next_cursor: string | null };
    assert.ok(items.every((item) => !("value" in item)));
    count += items.length;
    cursor = next;
  }
  return count;
}
