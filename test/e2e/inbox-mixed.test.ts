// A reviewer's mixed items with the keyboard alone: approval, edit, form, danger, right-to-left, long text, picture and
// list. No item needs the mouse, and none is approved while a part of it is folded.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { ask, readRunAnswer, startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import type { ServerHere } from "../harness/server-here.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

const call = (name: string, args: object, more: object = {}): object => ({
  action_requests: [{ name, args, ...more }],
});
const lines = Array.from({ length: 60 }, (_, at) => `Clause ${at} of the contract.`).join("\n");
const APPROVED = { decisions: [{ type: "approve" }] };
const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAATklEQVR4nFXGMQFEIQwFsKeEuSIQkfkrqRKUoARFt14zJZES0jIeqyxWW+Oxy2a3PR5f+fjaNx5dmm49HqccTjvjccvltjserzxee///AeXFPUF7LIuaAAAAAElFTkSuQmCC";

interface Kind {
  readonly payload: object;
  /** The title begins with it. */
  readonly title: string;
  readonly answer: unknown;
  /** Keys from the open item to the next. */
  readonly press: (page: Page) => Promise<void>;
}

/** Keys for all items, texts included. */
let pressed = 0;
const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
  pressed += keys.length;
};
const type = async (page: Page, text: string): Promise<void> => press(page, ...text.split(""));
const approve = (page: Page): Promise<void> => press(page, "a");

const KINDS: readonly Kind[] = [
  { payload: call("refund", { eur: 5 }), title: "refund(", answer: APPROVED, press: approve },
  {
    payload: call("pay", { eur: 129.9 }),
    title: "pay(",
    answer: { decisions: [{ type: "edit", edited_action: { name: "pay", args: { eur: 64.95 } } }] },
    async press(page) {
      await press(page, "e");
      await page.locator(".decision-editor :focus").waitFor();
      await press(page, "Control+a");
      await type(page, "64.95");
      await press(page, "Control+Enter");
    },
  },
  {
    payload: {
      question: "Where to?",
      response_schema: { type: "object", required: ["city"], properties: { city: { type: "string", title: "City" } } },
    },
    title: "Where to?",
    answer: { city: "Ulm" },
    async press(page) {
      await press(page, "e");
      await page.locator(".answer input:focus").waitFor();
      await type(page, "Ulm");
      await press(page, "Control+Enter");
    },
  },
  {
    payload: call("drop_table", { table: "orders" }, { dangerous: true }),
    title: "drop_table(",
    answer: APPROVED,
    async press(page) {
      await press(page, "a");
      await page.getByRole("dialog").waitFor();
      await press(page, "Control+Enter");
    },
  },
  {
    payload: call("send", { text: "שלום" }, { description: "לשלוח את ההודעה?" }),
    title: "send: לשלוח",
    answer: APPROVED,
    press: approve,
  },
  {
    payload: call("sign", { contract: lines }),
    title: "sign(",
    answer: APPROVED,
    async press(page) {
      assert.equal(await page.locator(".item-left").getByText("Clause 59 of the contract.").count(), 0);
      await press(page, "a");
      await page.locator(".item-left").getByText("Clause 59 of the contract.").first().waitFor();
      await press(page, "a");
    },
  },
  {
    payload: { question: "Is it blue?", photo: PICTURE },
    title: "Is it blue?",
    answer: "yes",
    async press(page) {
      await press(page, "e");
      await page.locator(".answer textarea:focus").waitFor();
      await type(page, "yes");
      await press(page, "Control+Enter");
    },
  },
  {
    payload: call("pay_all", { invoices: [{ to: "Ann", eur: 1 }, { to: "Bob", eur: 2 }] }), // prettier-ignore
    title: "pay_all(",
    answer: APPROVED,
    press: approve,
  },
];
const ROUNDS = 13;
/** Answers before the second page of the list arrives; it is asked for after some fifty. */
const LATE = 80;

test("104 mixed items are answered with the keyboard alone, one after the other", async (t) => {
  const record = new Map<string, number>();
  const asked: { readonly kind: Kind; readonly threadId: string }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const threads = await Promise.all(KINDS.map(({ payload }) => ask(server, payload, { batch: "mixed" })));
    asked.push(...KINDS.map((kind, at) => ({ kind, threadId: threads[at] ?? "" })));
  }
  const page = await browser.open("/inbox?metadata=batch%3Dmixed", { name: "Ada", holdSecs: 5, advances: true });
  await page.getByText(`${asked.length} waiting`).waitFor();
  const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
  await page.route(/[?&]cursor=/, async (route) => {
    const response = await route.fetch();
    await isAllowed; // the second page is late: what is answered meanwhile stays answered (inbox/live.3)
    await route.fulfill({ response });
  });
  await press(page, "j", "Enter");
  let before = "";
  for (let left = asked.length; left > 0; left--) {
    if (left === asked.length - LATE) allow();
    await page.waitForURL((url) => /\/inbox\/.+\/.+/.test(url.pathname) && url.pathname !== before);
    before = new URL(page.url()).pathname;
    const { kind } = asked.find(({ threadId }) => before.includes(threadId)) ?? assert.fail(before);
    await page.locator(".item-title", { hasText: kind.title }).waitFor();
    await page.locator(".answer").waitFor();
    const already = pressed;
    await kind.press(page);
    record.set(kind.title, pressed - already);
  }
  await page.waitForURL((url) => url.pathname === "/console/inbox");
  await page.locator(".outbox:empty").waitFor({ state: "attached" });
  for (const [title, keys] of record) t.diagnostic(`${title} ${keys} keys`);
  t.diagnostic(`${asked.length} items, ${pressed} keys`);
  for (const { kind, threadId } of asked) {
    assert.deepEqual(await readRunAnswer(server, threadId), kind.answer, kind.title);
  }
  await page.close();
});
