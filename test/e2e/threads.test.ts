// A thread in a real browser: live updates, a reload in the middle of a run, a pause in the graph, and time travel.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { readRunAnswer, ask, startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import type { ServerHere } from "../harness/server-here.ts";
import { call } from "../harness/server.ts";
import { newThread } from "../harness/threads.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  ({ server, browser } = await startConsole());
});

after(() => stopConsole({ server, browser }));

const tab = (page: Page, name: string): Promise<void> =>
  page.getByRole("navigation", { name: "Views of the thread" }).getByRole("link", { name }).click();

test("a message grows while it is written, also after a reload in the middle, and ends complete", async () => {
  const gate = join(server.dataDir, "gate");
  const { threadId } = await newThread(server, "writer");
  const page = await browser.open(`/threads/${threadId}`);
  await page.getByLabel("Assistant").selectOption({ label: "writer" });
  await page.getByRole("textbox", { name: "Message" }).fill(gate);
  await page.keyboard.press("Enter");
  await page.getByText("This half came first.").waitFor();
  await page.reload();
  await page.getByText("This half came first.").waitFor();
  await page.getByRole("button", { name: "Cancel run" }).waitFor();
  assert.equal(await page.getByText("This half came after the wait.").count(), 0);
  writeFileSync(gate, "");
  await page.getByText("This half came first. This half came after the wait.").waitFor();
  await page.getByText("idle", { exact: true }).waitFor();
  assert.equal(await page.getByText("This half came first.").count(), 1, "the message is there once");
  await page.close();
});

/** A front end on the thread protocol that begins a run. */
async function frontEnd(assistantId: string, input: object) {
  const threadId = randomUUID();
  const front = new Client({ apiUrl: server.url, apiKey: null }).threads.stream(threadId, { assistantId });
  await front.submitRun({ input });
  return { threadId, front };
}

test("a run of a front end grows as it is written, also after a reload in the middle, and ends complete", async () => {
  const gate = join(server.dataDir, "front-gate");
  const { threadId, front } = await frontEnd("writer", { messages: [{ role: "user", content: gate }] });
  const page = await browser.open(`/threads/${threadId}`);
  await page.getByText("This half came first.").waitFor();
  await page.reload();
  await page.getByText("This half came first.").waitFor();
  await page.getByRole("button", { name: "Cancel run" }).waitFor();
  assert.equal(await page.getByText("This half came after the wait.").count(), 0);
  writeFileSync(gate, "");
  await page.getByText("This half came first. This half came after the wait.").waitFor();
  await page.getByText("idle", { exact: true }).waitFor();
  assert.equal(await page.getByText("This half came first.").count(), 1, "the message is there once");
  await front.close();
  await page.close();
});

test("tools, a question and the error of a front end's runs are in its thread, and the answer reaches its page", async () => {
  const call = (name: string, args: object) => ({ id: `of-${name}`, name, args });
  const calls = [
    call("search", { text: "a quokka" }),
    call("task", { description: "count them", subagent_type: "helper" }),
    call("confirm", { text: "Shall I feed it?" }),
  ];
  const { threadId, front } = await frontEnd("tooled", { messages: [{ role: "user", content: "go" }], calls });
  const { promise: isDone, resolve: done } = Promise.withResolvers<void>();
  front.onEvent(({ method, params }) => {
    const { event } = params.data as { readonly event?: string };
    if (method === "lifecycle" && params.namespace.length === 0 && event === "completed") done();
  });
  const page = await browser.open(`/threads/${threadId}`, { name: "Ada" });
  const messages = page.getByRole("region", { name: "Messages" });
  for (const name of ["search", "task", "confirm"]) await messages.getByText(name, { exact: true }).first().waitFor();
  const question = page.getByRole("region", { name: "Pending answer" });
  await question.getByText("Shall I feed it?").first().waitFor();
  await question.getByRole("textbox", { name: "Answer" }).fill("yes");
  await question.getByRole("button", { name: "Review and send" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await isDone;
  await page.getByText("idle", { exact: true }).waitFor();
  await front.close();

  const broken = await frontEnd("fails_below", {});
  await page.goto(`${server.url}/console/threads/${broken.threadId}`);
  await page.getByText("TypeError: broken below").waitFor();
  await broken.front.close();
  await page.close();
});

test("a paused graph is marked at its node, next to the question; a breakpoint dot stops the next run there", async () => {
  const threadId = await ask(server, "Shall I send it?");
  const page = await browser.open(`/threads/${threadId}?tab=graph`);
  const graph = page.getByRole("group", { name: "Graph of the thread" });
  const paused = graph.getByRole("button", { name: /paused here/ });
  assert.match(await paused.innerText(), /paused here/);
  const side = page.getByRole("complementary", { name: "Graph details" });
  await side.getByText("Shall I send it?").waitFor();
  const dot = graph.getByRole("button", { name: /^Stop before / }).first();
  await dot.click();
  await page.waitForURL(/before=/);
  assert.equal(await dot.getAttribute("aria-pressed"), "true");
  await paused.click();
  await side.getByText("Not finished.").waitFor();
  await side.getByRole("link", { name: "Answer" }).click();
  await page.getByRole("complementary", { name: "Answer" }).waitFor();
  await page.close();
});

test("state, history and runs of a thread are there, and a fork from the past goes its own way", async () => {
  const { threadId } = await newThread(server, "agent");
  const path = `/threads/${threadId}/runs/wait`;
  await call(server, "POST", path, { assistant_id: "agent", input: { some_text: "one" } });
  await call(server, "POST", path, { assistant_id: "agent", command: { resume: "two" } });
  const page = await browser.open(`/threads/${threadId}?tab=state`);
  await page.getByText('"two"').first().waitFor();
  await tab(page, "Runs");
  await page.getByRole("list", { name: "Runs, newest first" }).getByRole("button").nth(1).waitFor();
  await tab(page, "History");
  const steps = page.getByRole("list", { name: /^Checkpoints/ }).getByRole("button");
  const before = await steps.count();
  await steps.last().click();
  await page.getByRole("button", { name: "Re-run from here" }).click();
  await page.getByText("interrupted", { exact: true }).first().waitFor();
  await page.locator(".split-list [role=listitem]").nth(before).waitFor(); // the fork is there too
  await page.close();
});

test("a message to a paused thread warns that it abandons the open question, and names all its actions", async () => {
  const threadId = await ask(server, {
    action_requests: [
      { name: "refund", args: { amount: 5 } },
      { name: "mail", args: { to: "bob" } },
    ],
  });
  const page = await browser.open(`/threads/${threadId}`);
  await page.getByText("A new run abandons the question: answer above instead.").waitFor();
  await page.getByRole("button", { name: "Abandon and run" }).waitFor();
  const card = page.getByRole("region", { name: "Pending answer" });
  await card.getByText("refund, mail", { exact: true }).waitFor();
  await card.getByText('refund(amount: 5) · mail(to: "bob")').waitFor();
  await page.close();
});

const CALL = { action_requests: [{ name: "refund", args: { amount: 5 } }] };

test("on a phone the answer to a waiting thread is in sight, and a new run is a step away", async () => {
  const threadId = await ask(server, CALL);
  const page = await browser.open(`/threads/${threadId}`, { name: "Ada", width: 390, height: 844 });
  const card = page.getByRole("region", { name: "Pending answer" });
  const [approve, note] = [card.getByRole("button", { name: "Approve" }), page.getByRole("note")];
  await approve.waitFor();
  const [above, below] = [await approve.boundingBox(), await note.boundingBox()];
  assert.ok(above !== null && below !== null && above.y + above.height < below.y, JSON.stringify({ above, below }));
  const run = page.getByRole("button", { name: "Abandon and run" });
  assert.equal(await run.isVisible(), false);
  await page.getByRole("button", { name: "Run anyway" }).click();
  await run.waitFor();
  await page.close();
});

test("a question is answered in the chat of its thread, by one key, and can be taken back", async () => {
  const threadId = await ask(server, CALL);
  const page = await browser.open(`/threads/${threadId}`, { name: "Ada", holdSecs: 30 });
  const card = page.getByRole("region", { name: "Pending answer" });
  await card.getByRole("button", { name: "Approve" }).waitFor();
  await page.keyboard.press("a");
  await card.getByText("Sent soon. Press u").waitFor();
  await page.keyboard.press("u");
  await card.getByRole("button", { name: "Edit" }).click();
  await card.getByLabel("amount").fill("4");
  await card.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Send now" }).click();
  await card.waitFor({ state: "detached" });
  const edited = { type: "edit", edited_action: { name: "refund", args: { amount: 4 } } };
  assert.deepEqual(await readRunAnswer(server, threadId), { decisions: [edited] });
  await page.close();
});

test("`u` on a thread undoes an answer held elsewhere, and leads to all threads without one (outbox.5)", async () => {
  const threadId = await ask(server, CALL);
  const other = await ask(server, "How many?");
  const page = await browser.open(`/threads/${threadId}`, { name: "Ada", holdSecs: 30 });
  const card = page.getByRole("region", { name: "Pending answer" });
  await card.getByRole("button", { name: "Approve" }).waitFor();
  await page.keyboard.press("a");
  await card.getByText("Sent soon. Press u").waitFor();
  await page.getByRole("link", { name: "All threads" }).click();
  await page.locator(`a[href*="/threads/${other}"]`).first().click();
  await card.getByText("How many?").first().waitFor();
  await page.keyboard.press("u");
  await page.getByText("Undone. Nothing was sent.").waitFor();
  assert.match(page.url(), new RegExp(`/threads/${other}$`));
  await page.keyboard.press("u");
  await page.waitForURL(/\/threads(\?|$)/);
  await page.close();
});

test("nothing moves below the pointer while the composer loads (thread/chat.1)", async () => {
  const threadId = await ask(server, CALL);
  const page = await browser.open("/threads", { name: "Bob" });
  const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
  await page.route(/\/schemas$|code-editor/, async (route) => {
    await isAllowed;
    await route.continue();
  });
  await page.goto(`${server.url}/console/threads/${threadId}`);
  await page.getByRole("region", { name: "Pending answer" }).getByRole("button", { name: "Approve" }).waitFor();
  const messages = page.getByRole("region", { name: "Messages" });
  const before = await messages.boundingBox();
  allow();
  await page.getByRole("textbox", { name: "Input as JSON" }).waitFor();
  assert.deepEqual(await messages.boundingBox(), before);
  await page.close();
});

test("`n` on the page of threads opens a new thread with its composer", async () => {
  const page = await browser.open("/threads");
  await page.getByRole("button", { name: "New thread" }).waitFor();
  await page.keyboard.press("n");
  await page.waitForURL(/\/threads\/[0-9a-f-]{36}$/);
  await page.getByText("No messages yet").waitFor();
  await page.getByRole("form", { name: "Next run" }).waitFor();
  await page.close();
});

test("a list of threads is filtered in its address, and its filters become a view", async () => {
  await ask(server, "In the list", { tier: "gold" });
  const page = await browser.open("/threads");
  await page.getByRole("textbox", { name: "Metadata" }).fill("tier=gold");
  await page.waitForURL(/metadata=/);
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabel("Name of the view").fill("Gold");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.waitForURL(/\/threads$/);
  await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Gold" }).click();
  await page.waitForURL(/metadata=/);
  await page.getByRole("list", { name: "Threads" }).getByRole("listitem").waitFor();
  await page.close();
});

test("threads are found by the words of their state, and an empty result leads back to all", async () => {
  await ask(server, "The quokka smiles");
  const page = await browser.open("/threads");
  const rows = page.getByRole("list", { name: "Threads" }).getByRole("listitem");
  await rows.nth(1).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("quokka smil");
  await page.waitForURL(/text=quokka/);
  await rows.filter({ hasText: "The quokka smiles" }).waitFor();
  await rows.nth(1).waitFor({ state: "detached" });
  assert.equal(await rows.count(), 1);
  await page.getByRole("searchbox", { name: "Search" }).fill("quokkas");
  await page.getByText("No matching threads").waitFor();
  await page.getByRole("button", { name: "Show all threads" }).click();
  await rows.nth(1).waitFor();
  assert.equal(await page.getByRole("searchbox", { name: "Search" }).inputValue(), "");
  await page.close();
});
