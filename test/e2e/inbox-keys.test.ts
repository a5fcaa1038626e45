// Keys of an item page in a real browser: from wherever a key is pressed, an answer leaves only from its own form. A
// dialog to confirm is an answer that leaves, as the people of these tests have switched the undo off.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { readRunAnswer, ask, startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import { readItems } from "../harness/inbox.ts";
import { IS_LONG } from "../harness/long.ts";
import type { ServerHere } from "../harness/server-here.ts";
import { call } from "../harness/server.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

interface Item {
  readonly page: Page;
  readonly threadId: string;
  readonly itemId: string;
}

async function openItem(t: TestContext, payload: unknown): Promise<Item> {
  const threadId = await ask(server, payload);
  const [item] = await readItems(server, threadId);
  const itemId = item?.id ?? "";
  const page = await browser.open(`/inbox/${threadId}/${itemId}`, { name: "Ada" });
  t.after(() => page.close());
  await page.locator("form.answer").waitFor();
  await page.getByRole("textbox", { name: "New comment" }).waitFor();
  return { page, threadId, itemId };
}

const FOCUSABLE =
  "a[href], button:enabled, input:enabled, textarea, select, summary, [contenteditable=true], [tabindex='0']";

/** A focused control. Region: in the answer's form, in another form or field, or elsewhere on the page. */
interface Place {
  readonly region: "answer" | "other form" | "field" | "page";
  readonly typing: boolean;
  readonly link: boolean;
  readonly text: string;
}

/** Focuses the visible control number `at` in one step of the browser; null behind the last one. */
const focusPlace = (page: Page, at: number): Promise<Place | null> =>
  page.locator("body").evaluate(
    (body, [selector, index]) => {
      const element = [...body.querySelectorAll<typeof body>(selector)].filter((one) => one.checkVisibility())[index];
      if (element === undefined) return null;
      element.focus();
      const text = "input:not([type=checkbox]), textarea, select, [contenteditable=true]";
      const form = element.closest("form");
      const other = element.matches(text) ? "field" : "page";
      return {
        region: form === null ? other : form.matches(".answer") ? "answer" : "other form",
        typing: element.matches(text) && !element.matches("[type=radio]"),
        link: element.matches("a[href]"),
        text: element.outerHTML.slice(0, 120),
      };
    },
    [FOCUSABLE, at] as const,
  );

/** Keys that decide on the item page; Enter belongs to the focused control. */
const KEYS = ["Control+Enter", "a"];

const refund = { name: "refund", args: { amount: 12, to: "Ada" } };
const review = (...allowed: readonly string[]) => [{ action_name: "refund", allowed_decisions: allowed }];

type ItemRow = readonly [name: string, payload: unknown, open: string | null];
const ITEMS: readonly ItemRow[] = [
  ["a plain question", "Who?", null],
  ["an approval with Edit open", { action_requests: [refund], review_configs: review("approve", "edit") }, "Edit"],
];
const MORE_ITEMS: readonly ItemRow[] = [
  ["an approval", { action_requests: [refund], review_configs: review("approve", "edit", "reject") }, null],
  [
    "an approval with Reject open",
    { action_requests: [refund], review_configs: review("approve", "reject") },
    "Reject",
  ],
  [
    "a form",
    { question: "Whom?", response_schema: { type: "object", properties: { to: { type: "string", default: "Ada" } } } },
    null,
  ],
];

/** Whether an answer leaves while `key` is pressed. */
async function press(page: Page, key: string): Promise<boolean> {
  await page.keyboard.press(key);
  // A dialog is rendered before the next frame ends.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const leaves = (await page.getByRole("button", { name: "Confirm" }).count()) > 0;
  if (leaves) {
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  return leaves;
}

async function pressAt(page: Page, place: Locator, key: string): Promise<boolean> {
  await place.focus();
  return press(page, key);
}

for (const [name, payload, open] of IS_LONG ? [...ITEMS, ...MORE_ITEMS] : ITEMS) {
  test(`${name}: no key sends its answer from another form or field, Ctrl+Enter from its own form only`, async (t) => {
    const { page } = await openItem(t, payload);
    const address = page.url();
    const reopen = async (): Promise<void> => {
      if (page.url() !== address) await page.goto(address);
      await page.locator("form.answer").waitFor();
      const button = page.locator("form.answer").getByRole("button", { name: open ?? "", exact: true });
      if (open !== null && (await button.getAttribute("aria-pressed")) !== "true") await button.click();
    };
    const wrong: string[] = [];
    const sent = new Set<string>();
    const seen = new Set<Place["region"]>();
    for (const key of KEYS) {
      for (let at = 0; ; at++) {
        await reopen();
        const place = await focusPlace(page, at);
        if (place === null) break;
        if (key.endsWith("Enter") && place.link) continue; // a new tab
        seen.add(place.region);
        if (!(await press(page, key))) continue;
        sent.add(`${place.region} ${key}`);
        const may = key.endsWith("+Enter") ? place.region === "answer" : !place.typing && place.region !== "other form";
        if (!may) wrong.push(`${key} at ${place.text}`);
      }
    }
    assert.deepEqual(wrong, []);
    for (const region of ["answer", "other form", "field", "page"] as const) assert.ok(seen.has(region), region);
    if (name !== "a plain question" && name !== "an approval")
      assert.ok(sent.has("answer Control+Enter"), "the form's own key sends");
  });
}

test("Ctrl+Enter in the comment box posts the comment, and no answer", async (t) => {
  const { page, threadId, itemId } = await openItem(t, "Who?");
  await page.getByRole("textbox", { name: "New comment" }).fill("Ask Grace first");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("region", { name: "Comments" }).getByText("Ask Grace first").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  const [item] = await readItems(server, threadId);
  assert.equal(item?.id, itemId, "the question is open");
});

test("Ctrl+Enter in the search, and in an empty comment box, does nothing", async (t) => {
  const { page, threadId } = await openItem(t, { action_requests: [refund] });
  await page.getByRole("button", { name: "Reject" }).click();
  for (const place of [page.locator("#inbox-search"), page.getByRole("textbox", { name: "New comment" })]) {
    assert.equal(await pressAt(page, place, "Control+Enter"), false);
  }
  assert.equal((await readItems(server, threadId)).length, 1);
});

test("Send with nothing typed is no answer; the empty text is a choice of its own", async (t) => {
  const { page, threadId } = await openItem(t, "Who?");
  await page.getByRole("button", { name: "Review and send" }).click();
  await page.getByText("Type an answer first, or choose the empty text.").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.getByRole("button", { name: "Answer with an empty text" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText(/^Answered by Ada/).waitFor();
  assert.equal(await readRunAnswer(server, threadId), "");
});

test("a form with a required text is not sent before the text is typed or chosen to be empty", async (t) => {
  const schema = { type: "object", properties: { why: { type: "string" } }, required: ["why"] };
  const { page, threadId } = await openItem(t, { question: "Why?", response_schema: schema });
  await page.getByRole("button", { name: "Review and send" }).click();
  await page.getByText("is required").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.getByRole("checkbox", { name: "why: empty text" }).check();
  await page.getByRole("button", { name: "Review and send" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText(/^Answered by Ada/).waitFor();
  assert.deepEqual(await readRunAnswer(server, threadId), { why: "" });
});

test("Enter in an edited argument sends nothing", async (t) => {
  const { page } = await openItem(t, { action_requests: [refund] });
  await page.getByRole("button", { name: "Edit" }).click();
  assert.equal(await pressAt(page, page.getByRole("textbox", { name: "amount" }), "Enter"), false);
  await page.getByRole("textbox", { name: "amount" }).fill("13");
  assert.equal(await pressAt(page, page.getByRole("textbox", { name: "amount" }), "Control+Enter"), true);
});

test("in Try it, Ctrl+Enter runs from the form of the input only", async (t) => {
  const page = await browser.open("/assistants?graph=echo&tab=try", { name: "Ada" });
  t.after(() => page.close());
  const search = page.getByRole("searchbox").first();
  const count = async (): Promise<number> =>
    ((await call(server, "POST", "/threads/search", { limit: 1000 })).body as readonly unknown[]).length;
  const before = await count();
  await search.focus();
  await page.keyboard.press("Control+Enter");
  assert.equal(await count(), before);
  await page.getByRole("textbox", { name: "Thread" }).focus();
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/\/threads\/[0-9a-f-]{36}/);
  assert.equal(await count(), before + 1);
});
