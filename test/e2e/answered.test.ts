// The page Answered in a real browser: what was decided, its filters, and its export.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
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

async function decided(payload: string, resume: string, by: string): Promise<void> {
  const threadId = await ask(server, payload);
  const [item] = await readItems(server, threadId);
  const answers = [{ thread_id: threadId, interrupt_id: item?.id, resume }];
  await call(server, "POST", "/inbox/answers", { by, answers });
}

test("decisions of all threads are listed with person, channel and run, found by words, opened and saved", async () => {
  await decided("Refund order 4711?", "=yes", "ann");
  await decided("Delete the file?", "no", "bob");
  const page = await browser.open("/answered");
  const list = page.getByRole("list", { name: "Answered items, newest first" });
  await list.getByText("Delete the file?").waitFor();
  const row = list.getByRole("listitem").filter({ hasText: "Refund order 4711?" });
  await row.getByText("success").waitFor();
  await assertAccessible(page);
  assert.match(await row.innerText(), /answered[^]*ann[^]*inbox/);
  await page.getByRole("searchbox", { name: "Search" }).fill("4711 YES");
  await list.getByText("Delete the file?").waitFor({ state: "detached" });
  await row.waitFor();
  assert.match(page.url(), /text=/);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as CSV" }).click();
  const file = await (await download).path();
  const text = readFileSync(file, "utf8");
  assert.equal(text.trim().split("\r\n").length, 2);
  assert.match(text, /Refund order 4711\?/);
  await page.keyboard.press("/");
  await page.keyboard.type(" nowhere");
  await page.getByText("No matching entries").waitFor();
  await page.getByRole("button", { name: "Show all entries" }).click();
  await list.getByText("Delete the file?").waitFor();
  await row.getByRole("link").click();
  await page.getByRole("status").filter({ hasText: "Answered by ann at" }).waitFor();
  await page.close();
});

test("administrative acts are listed by their own choice, and filtered by channel", async () => {
  const ids = [await ask(server, "First?"), await ask(server, "Second?")];
  for (const id of ids) assert.equal((await call(server, "DELETE", `/threads/${id}`)).status, 204);
  const page = await browser.open("/answered");
  await page.getByLabel("Decision").selectOption({ label: "Administrative acts" });
  const list = page.getByRole("list", { name: "Answered items, newest first" });
  for (const id of ids) await list.getByRole("listitem").filter({ hasText: "thread deleted" }).getByText(id).waitFor();
  await list.getByText("server started").waitFor();
  await page.getByLabel("Where").selectOption("api");
  await list.getByText("server started").waitFor({ state: "detached" });
  await list.getByText(ids[0] ?? "").click();
  await page.waitForURL(/action=thread_deleted/);
  await list.getByText(ids[1] ?? "").waitFor();
  await page.close();
});
