// What a person approves is what they read, in a real browser: nothing folded is approved, danger is visible, values and
// pictures are drawn, titles are words.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  ask,
  assertAccessible,
  readRunAnswer,
  startConsole,
  stopConsole,
  type ConsoleBrowser,
} from "../harness/console.ts";
import { readItems } from "../harness/inbox.ts";
import type { ServerHere } from "../harness/server-here.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

interface Opened {
  readonly page: Page;
  readonly threadId: string;
}

async function openItem(payload: unknown, options: object = {}): Promise<Opened> {
  const threadId = await ask(server, payload);
  const [item] = await readItems(server, threadId);
  const page = await browser.open(`/inbox/${threadId}/${item?.id}`, { name: "Ada", holdSecs: 30, ...options });
  await page.getByRole("complementary", { name: "Answer" }).waitFor();
  return { page, threadId };
}

const LINES = Array.from({ length: 90 }, (_, at) => `The tenant pays ${at} EUR.`).join("\n");
const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAATklEQVR4nFXGMQFEIQwFsKeEuSIQkfkrqRKUoARFt14zJZES0jIeqyxWW+Oxy2a3PR5f+fjaNx5dmm49HqccTjvjccvltjserzxee///AeXFPUF7LIuaAAAAAElFTkSuQmCC";

test("an approval waits until a folded text has been open, by its key, its button or the first press", async () => {
  const { page, threadId } = await openItem({ action_requests: [{ name: "sign", args: { contract: LINES } }] });
  const request = page.locator(".item-left");
  assert.equal(await request.getByText("The tenant pays 89 EUR.").count(), 0);
  await page.keyboard.press("a");
  await page.getByText("A part of the request was folded.").waitFor();
  await request.getByText("The tenant pays 89 EUR.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Send now" }).count(), 0);
  await page.keyboard.press("a");
  await page.getByRole("button", { name: "Send now" }).click();
  await page.getByText("Sent: Approve sign.").waitFor();
  assert.deepEqual(await readRunAnswer(server, threadId), { decisions: [{ type: "approve" }] });
  await page.close();

  const again = await openItem({ action_requests: [{ name: "sign", args: { contract: LINES } }] });
  await again.page.getByRole("button", { name: /^Show all: \d+ more characters/ }).waitFor();
  await again.page.keyboard.press("o");
  await again.page.getByText("The tenant pays 89 EUR.").waitFor();
  await assertAccessible(again.page);
  await again.page.keyboard.press("a");
  await again.page.getByRole("button", { name: "Send now" }).waitFor();
  await again.page.close();
});

test("a list of 50 entries, and a rejection of what is folded", async () => {
  const { page } = await openItem({
    action_requests: [{ name: "pay", args: { to: Array.from({ length: 50 }, (_, at) => `IBAN ${at}`) } }],
  });
  await page.getByRole("button", { name: "Show all 50" }).waitFor();
  await page.keyboard.press("r");
  await page.getByLabel("Why").fill("Too many.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Send now" }).waitFor();
  await page.close();
});

test("pictures, tables of equal objects, nested members and HTML source are drawn as what they are", async () => {
  const lines = [
    { no: 1, to: "Ann", eur: 12.5 },
    { no: 2, to: "Bob", eur: 99 },
  ];
  const { page } = await openItem({
    question: `Is **this** it? ![scan](${PICTURE})`,
    photo: PICTURE,
    invoices: lines,
    mail: "<h1>Hello</h1>\n<p>Your order</p>",
    owner: { name: "Ada", place: { city: "Ulm" } },
    foreign: "![x](https://elsewhere.example/x.png)",
    own: `${server.url}/files/own.png`,
    path: "/files/own.png",
    response_schema: { type: "string" },
    review_rules: { four_eyes: false },
  });
  const request = page.locator(".item-left .block").first();
  await request.getByText(`${server.url}/files/own.png`).waitFor();
  assert.equal(await request.getByRole("img", { name: "own", includeHidden: true }).count(), 1);
  assert.equal(
    await request.getByRole("img", { name: "path" }).count(),
    0,
    "a path is most likely none of this machine",
  );
  for (const name of ["scan", "photo"]) {
    const picture = request.getByRole("img", { name });
    await picture.waitFor();
    assert.ok(await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0), name);
  }
  assert.deepEqual(await request.getByRole("columnheader").allTextContents(), ["no", "to", "eur"]);
  await request.getByText("<h1>Hello</h1>").first().waitFor();
  await request.getByText("Ulm", { exact: true }).waitFor();
  await page.getByRole("heading", { name: "Is this it? scan" }).waitFor();
  assert.equal(await request.getByText("four_eyes").count(), 0);
  await assertAccessible(page);
  await page.close();
});

test("a dangerous item says so in row, head and button, and its name is typed where a person wants that", async () => {
  const { page, threadId } = await openItem(
    { action_requests: [{ name: "drop_table", args: { table: "orders" }, dangerous: true }] },
    { holdSecs: 30 },
  );
  await page.getByRole("list", { name: "Pending items" }).getByText("dangerous").waitFor();
  await page.locator(".item-head").getByText("dangerous").waitFor();
  assert.match((await page.getByRole("button", { name: "Approve" }).getAttribute("class")) ?? "", /danger/);
  await page.evaluate(() => localStorage.setItem("holdpoint.types_name", "true"));
  await page.reload();
  await page.getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog", { name: "Approve drop_table" });
  assert.equal(await dialog.getByRole("button", { name: "Confirm" }).isDisabled(), true);
  await page.keyboard.press("Control+Enter");
  await assertAccessible(page);
  await page.keyboard.type("drop_table");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Send now" }).click();
  await page.getByText("Sent: Approve drop_table.").waitFor();
  assert.deepEqual(await readRunAnswer(server, threadId), { decisions: [{ type: "approve" }] });
  await page.close();
});

test("a Hebrew title keeps its beginning beside a Latin name", async () => {
  const description = "לשלוח את ההודעה ללקוחה דנה כהן לגבי ההזמנה המיוחדת שלה מהשבוע שעבר בסניף הגדול?";
  const { page } = await openItem({ action_requests: [{ name: "send", args: {}, description }] });
  assert.equal(await page.getByRole("link", { name: /^send: לשלוח/ }).getAttribute("dir"), "rtl");
  await page.close();
});

test("a form has rows for repeated objects, sends no empty optional part, and names every fault in words", async () => {
  const guests = {
    type: "array",
    title: "Guests",
    minItems: 1,
    items: { type: "object", required: ["name"], properties: { name: { type: "string" }, age: { type: "integer" } } },
  };
  const { page, threadId } = await openItem({
    question: "Who comes?",
    response_schema: {
      type: "object",
      required: ["city"],
      properties: {
        city: { type: "string", title: "City" },
        zip: { type: "string", title: "Postcode", pattern: "^[0-9]{5}$", description: "five digits" },
        address: { type: "object", required: ["street"], properties: { street: { type: "string", title: "Street" } } },
        guests,
      },
    },
  });
  await page.getByLabel("Postcode").fill("12");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("2 fields need a correction.").waitFor();
  await page.getByText("City is required").waitFor();
  await page.getByText("Postcode must be: five digits").waitFor();
  await page.getByRole("button", { name: "Add Guests" }).click();
  await page.getByRole("group", { name: "Guests 1" }).getByLabel("name", { exact: true }).fill("Bob");
  await page.getByRole("button", { name: "Remove Guests 1" }).click();
  await page.getByRole("textbox", { name: "Street" }).fill("x");
  await page.getByRole("textbox", { name: "Street" }).fill("");
  await page.getByRole("textbox", { name: "City" }).fill("Ulm");
  await page.getByLabel("Postcode").fill("89073");
  await assertAccessible(page);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Send now" }).click();
  assert.deepEqual(await readRunAnswer(server, threadId), { city: "Ulm", zip: "89073" });
  await page.close();
});

test("many items of several graphs are read in one call, listed with their arguments, and stay selected on cancel", async () => {
  const metadata = { batch: "mixed" };
  const refund = (args: object): object => ({ action_requests: [{ name: "refund", args }] });
  for (const payload of [refund({ eur: 1 }), refund({ note: "x".repeat(400) }), "Why?"]) {
    await ask(server, payload, metadata);
  }
  await ask(server, { action_requests: [{ name: "mail", args: { to: "ann" } }] }, metadata);
  const page = await browser.open("/inbox?metadata=batch%3Dmixed", { name: "Ada", holdSecs: 30 });
  await page.getByText("4 waiting").waitFor();
  const read: string[] = [];
  page.on("request", (request) => {
    if (/\/inbox(\?|\/[0-9a-f-]{36}\/)/.test(request.url())) read.push(request.url());
  });
  await page.keyboard.press("*");
  await page.getByText("4 selected").waitFor();
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Approve 3 items of 2 groups" });
  await dialog.getByText("1 selected items do not allow this").waitFor();
  assert.equal(read.length, 1);
  assert.equal(await page.locator(":focus").textContent(), "Confirm");
  await page.keyboard.press("Escape");
  await page.getByText("4 selected").waitFor();
  await page.keyboard.press("a");
  await dialog.getByText('{"eur":1}').waitFor();
  await dialog.getByRole("button", { name: "Show the arguments" }).waitFor();
  await page.keyboard.press("Enter");
  await dialog.getByText("x".repeat(400)).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Send now" }).click();
  await page.getByText("Approved 3.").waitFor();
  await page.close();
});

test("the state of the thread is beside the question, with what changed, and the graph with the node that asks", async () => {
  const { page } = await openItem({ question: "Ship it?", order: { sku: "A1" } });
  await page.getByText("State of the thread").click();
  await page.getByText(/^State of the thread · \d+ changed by the last step/).waitFor();
  const state = page.getByLabel("State of the thread", { exact: true });
  await state.getByText("changed").first().waitFor();
  await state.getByText("A1").waitFor();
  await page.getByText("Graph · waiting at ask").click();
  await page.getByText("asks here").waitFor();
  await assertAccessible(page);
  await page.close();
});
