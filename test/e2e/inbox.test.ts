// The inbox in a real browser: every dialect, the keys, concurrent users, many items at once, and accessibility. The
// graph `echo` raises the interrupt from its input and keeps the answer unchanged.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  assertAccessible,
  assertColours,
  readRunAnswer,
  ask,
  startConsole,
  stopConsole,
  typeInto,
  type ConsoleBrowser,
} from "../harness/console.ts";
import { answer, readItems, watchInbox } from "../harness/inbox.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

async function itemPath(threadId: string): Promise<string> {
  const [item] = await readItems(server, threadId);
  assert.ok(item, "the thread waits");
  return `/inbox/${threadId}/${item.id}`;
}

async function openItem(payload: unknown, name = "Ada"): Promise<{ readonly page: Page; readonly threadId: string }> {
  const threadId = await ask(server, payload);
  const page = await browser.open(await itemPath(threadId), { name });
  await page.getByRole("complementary", { name: "Answer" }).waitFor();
  return { page, threadId };
}

const confirm = (page: Page): Promise<void> => page.getByRole("button", { name: "Confirm" }).click();
const isDone = (page: Page): Promise<void> => page.getByText(/^Answered by Ada at/).waitFor();

const ARGS = { amount: 129.9, count: 3, to: "ada@example.com", express: false };
const snake = (allowed: readonly string[] = ["approve", "edit", "reject"]) => ({
  action_requests: [{ name: "refund", args: ARGS, description: "A **customer** asks." }],
  review_configs: [{ action_name: "refund", allowed_decisions: allowed }],
});
const human = {
  action_request: { action: "refund", args: ARGS },
  config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true },
  description: "Pay it back?",
};

const DIALECTS: readonly {
  readonly name: string;
  readonly asks: unknown;
  readonly steps: (page: Page) => Promise<void>;
  readonly answers: unknown;
}[] = [
  {
    name: "a HumanInterrupt is accepted",
    asks: [human],
    steps: (page) => page.getByRole("button", { name: "Approve" }).click(),
    answers: [{ type: "accept", args: { action: "refund", args: ARGS } }],
  },
  {
    name: "a HumanInterrupt is responded to",
    asks: [human],
    async steps(page) {
      await page.getByRole("button", { name: "Respond" }).click();
      await page.getByLabel("Your response").fill("Ask tomorrow");
      await page.getByRole("button", { name: "Review and send" }).click();
    },
    answers: [{ type: "response", args: "Ask tomorrow" }],
  },
  {
    name: "the middleware's snake_case is edited, and numbers stay numbers",
    asks: snake(),
    async steps(page) {
      await page.getByRole("button", { name: "Edit" }).click();
      await page.getByLabel("amount").fill("99,5");
      await page.getByRole("button", { name: "Review and send" }).click();
      const changes = page.getByRole("dialog").getByRole("group", { name: "Changes" });
      assert.equal(await changes.innerText(), "amount\n129.9 → 99.5");
    },
    answers: { decisions: [{ type: "edit", edited_action: { name: "refund", args: { ...ARGS, amount: 99.5 } } }] },
  },
  {
    name: "the middleware's camelCase is edited as JSON",
    asks: {
      actionRequests: [{ name: "refund", args: ARGS }],
      reviewConfigs: [{ actionName: "refund", allowedDecisions: ["approve", "edit"] }],
    },
    async steps(page) {
      await page.getByRole("button", { name: "Edit" }).click();
      await page.getByRole("group", { name: "Edit as" }).getByRole("button", { name: "JSON" }).click();
      await typeInto(page, "Arguments of refund", '{"amount": 1, "list": [true, null]}');
      await page.getByRole("button", { name: "Review and send" }).click();
    },
    answers: {
      decisions: [{ type: "edit", editedAction: { name: "refund", args: { amount: 1, list: [true, null] } } }],
    },
  },
  {
    name: "two actions get a decision each",
    asks: {
      action_requests: [
        { name: "refund", args: ARGS },
        { name: "mail", args: { to: "bob" } },
      ],
    },
    async steps(page) {
      await page.getByRole("group", { name: "Decision about mail" }).getByRole("button", { name: "Reject" }).click();
      await page.getByLabel("Why").fill("No mails");
      await page.getByRole("button", { name: "Approve the rest" }).click();
    },
    answers: { decisions: [{ type: "approve" }, { type: "reject", message: "No mails" }] },
  },
  {
    name: "a JSON Schema makes a form, and its answer has the schema's types",
    asks: {
      question: "How long may it take?",
      response_schema: {
        type: "object",
        required: ["days", "express"],
        properties: {
          days: { type: "integer", minimum: 1 },
          express: { type: "boolean" },
          carrier: { enum: ["post", "ups"] },
          note: { type: "string" },
          until: { type: "string", format: "date" },
          tags: { type: "array", items: { type: "string" } },
        },
      },
    },
    async steps(page) {
      await page.getByRole("button", { name: "Review and send" }).click();
      await page.getByText("is required").nth(1).waitFor(); // also the yes or no, which is not preset
      await page.getByRole("textbox", { name: "days" }).fill("3");
      await page.getByLabel("express").selectOption("Yes");
      await page.getByLabel("carrier").selectOption("ups");
      await page.locator("input[type=date]").fill("2026-12-24");
      await page.getByRole("button", { name: "Add tags" }).click();
      await page.getByLabel("tags 1", { exact: true }).fill("a");
      await page.getByRole("button", { name: "Review and send" }).click();
    },
    answers: { days: 3, express: true, carrier: "ups", until: "2026-12-24", tags: ["a"] },
  },
  {
    name: "a plain question is answered with a text that was begun from the payload",
    asks: { text_to_revise: "The original text" },
    async steps(page) {
      await page.getByRole("button", { name: "text_to_revise" }).click();
      await page.getByRole("textbox", { name: "Answer" }).fill("The revised text");
      await page.getByRole("button", { name: "Review and send" }).click();
      const changes = page.getByRole("dialog").getByRole("group", { name: "Changes" });
      assert.equal(await changes.locator("ins").innerText(), "revised");
      assert.equal(await changes.locator("del").innerText(), "original");
    },
    answers: "The revised text",
  },
  {
    name: "a plain question is answered with a number",
    asks: "How many?",
    async steps(page) {
      await page.getByRole("button", { name: "Number" }).click();
      await page.getByRole("textbox", { name: "Answer" }).fill("42");
      await page.getByRole("button", { name: "Review and send" }).click();
    },
    answers: 42,
  },
  {
    name: "a plain question is answered with no",
    asks: "Shall I?",
    async steps(page) {
      await page.getByRole("button", { name: "Yes or no" }).click();
      await page.getByRole("button", { name: "No", exact: true }).click();
    },
    answers: false,
  },
];

for (const { name, asks, steps, answers } of DIALECTS) {
  test(name, async () => {
    const { page, threadId } = await openItem(asks);
    await steps(page);
    await confirm(page);
    await isDone(page);
    assert.deepEqual(await readRunAnswer(server, threadId), answers);
    await page.close();
  });
}

test("a breakpoint is passed", async () => {
  const { body } = await call(server, "POST", "/threads", {});
  const { thread_id: threadId } = body as { readonly thread_id: string };
  await call(server, "POST", `/threads/${threadId}/runs/wait`, {
    assistant_id: "steps",
    input: {},
    interrupt_before: "*",
  });
  const page = await browser.open(await itemPath(threadId), { name: "Ada" });
  await page.getByRole("button", { name: "Continue" }).click();
  await confirm(page);
  await isDone(page);
  await page.close();
});

test("without an undo window, `a` and Enter approve from a deep link, and the audit trail has the person", async () => {
  const { page, threadId } = await openItem(snake());
  await page.keyboard.press("a");
  await page.getByRole("dialog", { name: "Approve refund" }).waitFor();
  await page.keyboard.press("Enter");
  await isDone(page);
  assert.deepEqual(await readRunAnswer(server, threadId), { decisions: [{ type: "approve" }] });
  await page.getByText("Audit trail").click();
  await page.getByRole("listitem").filter({ hasText: "by Ada" }).getByText("approved", { exact: true }).waitFor();
  await page.close();
});

test("`u` undoes an answer within its period; otherwise it is sent", async () => {
  const threadId = await ask(server, snake());
  const page = await browser.open(await itemPath(threadId), { name: "Ada", holdSecs: 30 });
  await page.getByRole("button", { name: "Approve" }).waitFor();
  await page.keyboard.press("a");
  await page.getByText("Sent soon. Press u").waitFor();
  await page.keyboard.press("u");
  await page.getByText("Undone. Nothing was sent.").waitFor();
  assert.equal((await readItems(server, threadId)).length, 1);
  await page.keyboard.press("a");
  await page.getByRole("button", { name: "Send now" }).click();
  await isDone(page);
  await page.close();
});

test("leaving the page sends the given answers", async () => {
  const threadId = await ask(server, snake());
  const page = await browser.open(await itemPath(threadId), { name: "Ada", holdSecs: 30 });
  await page.getByRole("button", { name: "Approve" }).waitFor();
  await page.keyboard.press("a");
  await page.getByText("Sent soon. Press u").waitFor();
  const watcher = await watchInbox(server);
  await page.goto(`${server.url}/ok`);
  const { event, data } = await watcher.next();
  assert.deepEqual([event, data.thread_id, data["by"]], ["answered", threadId, "Ada"]);
  watcher.close();
  await page.close();
});

test("one of two people who answer the same interrupt wins, and the other sees the name and the rejection", async () => {
  const threadId = await ask(server, snake());
  const path = await itemPath(threadId);
  const [ada, bob] = await Promise.all([
    browser.open(path, { name: "Ada" }),
    browser.open(path, { name: "Bob", holdSecs: 30 }),
  ]);
  await bob.getByRole("button", { name: "Reject" }).click();
  await bob.getByLabel("Why").fill("No");
  await bob.getByRole("button", { name: "Send", exact: true }).click(); // held, so that Ada is first
  await ada.getByRole("button", { name: "Approve" }).click();
  await confirm(ada);
  await isDone(ada);
  await bob.getByText(/^Answered by Ada at/).waitFor(); // without a reload
  await bob.getByRole("button", { name: "Send now" }).click();
  await bob.getByText(/Not accepted: answered by Ada at .*, with another answer/).waitFor();
  assert.deepEqual(await readRunAnswer(server, threadId), { decisions: [{ type: "approve" }] });
  await Promise.all([ada.close(), bob.close()]);
});

test("a claim is seen by others as it is made, keeps them from answering, and can be released", async () => {
  const threadId = await ask(server, snake());
  const path = await itemPath(threadId);
  const [ada, bob] = await Promise.all([browser.open(path, { name: "Ada" }), browser.open(path, { name: "Bob" })]);
  await ada.getByRole("button", { name: "Claim" }).waitFor();
  await ada.keyboard.press("c");
  await ada.getByText("claimed by you").waitFor();
  await bob.getByText("claimed by Ada").waitFor();
  await bob.getByRole("button", { name: "Approve" }).click();
  await confirm(bob);
  await bob.getByText(/Not accepted: Ada has claimed/).waitFor();
  await bob.getByRole("button", { name: "Release anyway" }).click();
  await ada.getByRole("button", { name: "Claim" }).waitFor();
  await Promise.all([ada.close(), bob.close()]);
});

test("a new interrupt appears by itself, in the list and in the title", async () => {
  const page = await browser.open("/inbox?text=showing-up", { name: "Ada" });
  await page.getByText("No matching items").waitFor();
  const threadId = await ask(server, { question: "showing-up by itself" });
  await page.getByRole("link", { name: "showing-up by itself" }).waitFor();
  assert.match(await page.title(), /^\(\d+\+?\) Inbox · Holdpoint$/);
  const [item] = await readItems(server, threadId);
  await answer(server, [{ thread_id: threadId, interrupt_id: item?.id, resume: "elsewhere" }]);
  await page.getByText(/answered by anonymous at/).waitFor();
  await page.close();
});

test("200 items are approved at once, each with its result, also one already answered by another person", async () => {
  const many = 200;
  const threads: string[] = [];
  for (let at = 0; at < many; at += 20) {
    const group = Array.from({ length: 20 }, (_, index) => ask(server, snake(), { batch: "many", number: at + index }));
    threads.push(...(await Promise.all(group)));
  }
  const page = await browser.open("/inbox?metadata=batch%3Dmany", { name: "Ada", height: 900 });
  await page.getByText(/^\d+\+? waiting$/).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByRole("button", { name: /^Select all/ }).click();
  await page.getByText("200 selected").waitFor();
  assert.ok((await page.getByRole("listitem").count()) < 80, "only rows in sight are in the page");
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Approve 200 × refund" });
  await dialog.waitFor();
  const faster = threads[150] ?? "";
  const [item] = await readItems(server, faster);
  await answer(server, {
    by: "Bob",
    answers: [{ thread_id: faster, interrupt_id: item?.id, resume: { decisions: [{ type: "reject" }] } }],
  });
  await page.keyboard.press("Enter");
  const results = page.getByRole("dialog", { name: "199 approved, 1 not accepted" });
  await results.waitFor();
  await results.getByText(/answered by Bob at .*, with another answer/).waitFor();
  for (const threadId of [threads[0], threads[199]]) {
    assert.deepEqual(await readRunAnswer(server, threadId ?? ""), { decisions: [{ type: "approve" }] });
  }
  await page.close();
});

test("everything is done by keyboard: find, move, select, open, edit, help, other pages", async () => {
  const words = ["one", "two", "three", "four"];
  for (const word of words) await ask(server, { ...snake(), title: word }, { batch: "keys" });
  const page = await browser.open("/inbox?metadata=batch%3Dkeys", { name: "Ada" });
  await page.getByText("4 waiting").waitFor();
  const pressed = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await pressed("j", "x", "j", "j", "Shift+X");
  await page.getByText("3 selected").waitFor();
  await pressed("Escape");
  await page.getByText("3 selected").waitFor({ state: "detached" });
  await pressed("Enter");
  await page.waitForURL(/\/inbox\/[0-9a-f-]{36}\/[0-9a-f]{32}\?metadata=/);
  const third = page.url();
  await pressed("k");
  await page.waitForURL((url) => url.href !== third);
  await pressed("j");
  await page.waitForURL(third);
  await page.getByRole("button", { name: "Edit" }).waitFor();
  await pressed("e");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("12");
  await pressed("Control+Enter");
  await page.getByRole("dialog", { name: "Edit refund" }).getByText("129.9").waitFor();
  await pressed("Escape", "Escape", "Escape");
  await page.waitForURL(/\/inbox\?/);
  await pressed("/");
  await page.keyboard.type("nothing-like-that");
  await page.getByText("No matching items").waitFor();
  await pressed("Escape", "?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("Approve (all selected)").waitFor();
  await pressed("Escape", "g", "t");
  await page.waitForURL(/\/threads$/);
  await pressed("Control+k");
  await page.keyboard.type("inb");
  await pressed("Enter");
  await page.waitForURL(/\/inbox$/);
  await page.close();
});

test("an address names the view: filters stay through a reload, and wrong ones are left out", async () => {
  await ask(server, "Only this", { batch: "address" });
  const page = await browser.open("/inbox?metadata=batch%3Daddress&kind=dance&order=newest");
  await page.getByText("1 waiting").waitFor();
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByLabel("Kind").selectOption("form");
  await page.getByText("No matching items").waitFor();
  await page.reload();
  await page.getByText("No matching items").waitFor();
  await page.getByRole("button", { name: /^Kind: Form/ }).click();
  await page.getByText("1 waiting").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("kind"), null);
  await page.close();
});

test("a missing item and a missing page show an error", async () => {
  const page = await browser.open(`/inbox/${crypto.randomUUID()}/${"0".repeat(32)}`);
  await page.getByText("Item not found").waitFor();
  await page.goto(`${server.url}/console/nowhere`);
  await page.getByText("Page not found").waitFor();
  await page.close();
});

const KEY = "key-of-grace-0123456789";

/** A server that requires a key, with one open item, and a page that was asked for the key. */
async function withGuarded(use: (page: Page) => Promise<void>): Promise<void> {
  const guarded = await startServerHere({ env: { HOLDPOINT_API_KEYS: `grace:${KEY}` } });
  const headers = { "x-api-key": KEY };
  try {
    const { body: thread } = await call(guarded, "POST", "/threads", {}, headers);
    const { thread_id: threadId } = thread as { readonly thread_id: string };
    const input = { assistant_id: "echo", input: { payload: "Who?" } };
    await call(guarded, "POST", `/threads/${threadId}/runs/wait`, input, headers);
    const page = await browser.of(guarded).open("/inbox", { name: "Ada" });
    await page.getByLabel("Key", { exact: true }).waitFor();
    await use(page);
    await page.close();
  } finally {
    await guarded.stop();
    removeFolder(guarded.dataDir);
  }
}

async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.keyboard.press("Enter");
}

test("the console sends the API key to a server that requires one; answers carry the key's name", async () => {
  await withGuarded(async (page) => {
    await enterKey(page, "a-wrong-key");
    await page.getByText("The server rejected this key.").waitFor();
    await enterKey(page, KEY);
    await page.getByRole("link", { name: "Who?" }).click();
    await page.getByRole("textbox", { name: "Answer" }).fill("Me");
    await page.keyboard.press("Control+Enter");
    await confirm(page);
    await page.getByText(/^Answered by grace at/).waitFor();
  });
});

/** Holds all replies to a wrong key but the first. They arrive although their calls were aborted, as one does that is
 * being read. */
const HOLD_REFUSALS = `
  const send = fetch;
  let isFirst = true;
  window.held = [];
  const released = new Promise((release) => (window.release = release));
  window.fetch = async (url, { signal, ...init }) => {
    const reply = await send(url, init);
    if (init.headers["x-api-key"] !== "a-wrong-key") return reply;
    if (isFirst) isFirst = false;
    else {
      window.held.push(reply.clone().json());
      await released;
    }
    return reply;
  };`;

test("a refusal of the key before does not ask again", async () => {
  await withGuarded(async (page) => {
    await page.evaluate(HOLD_REFUSALS);
    await enterKey(page, "a-wrong-key");
    await page.getByText("The server rejected this key.").waitFor();
    await page.waitForFunction("held.length > 0");
    await enterKey(page, KEY);
    await page.getByRole("link", { name: "Who?" }).waitFor();
    await page.evaluate("release(), Promise.all(held).then(() => new Promise((done) => setTimeout(done, 100)))");
    assert.equal(await page.getByRole("dialog").count(), 0);
  });
});

for (const scheme of ["light", "dark"] as const) {
  const check = scheme === "light" ? assertAccessible : assertColours;
  test(`the inbox, an item, its editor and its confirmation are accessible (${scheme})`, async () => {
    const threadId = await ask(server, snake(), { batch: "axe" });
    await ask(server, { question: "A form?", schema: { type: "object", properties: { a: { type: "number" } } } });
    const page = await browser.open("/inbox", { scheme });
    await page.getByRole("list", { name: "Pending items" }).waitFor();
    await page.getByRole("button", { name: /^Filters/ }).click();
    await check(page);
    await page.goto(`${server.url}/console${await itemPath(threadId)}`);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByText("Audit trail").click();
    await page.getByText("Raw payload").click();
    await page.getByRole("group", { name: "Edit as" }).getByRole("button", { name: "JSON" }).click();
    await page.getByRole("textbox", { name: "Arguments of refund" }).waitFor();
    await check(page);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("dialog").waitFor();
    await check(page);
    await page.close();
  });
}

test("on a phone nothing is wider than the screen", async () => {
  const threadId = await ask(server, { ...snake(), note: "x".repeat(300) });
  for (const path of ["/inbox", await itemPath(threadId)]) {
    const page = await browser.open(path, { width: 360, height: 740 });
    await page
      .getByRole("heading", { level: 1 })
      .or(page.getByRole("heading", { level: 2 }))
      .first()
      .waitFor();
    const width = await page.locator("html").evaluate((root) => root.scrollWidth);
    assert.ok(width <= 360, `${path}: ${width}`);
    await page.close();
  }
});
