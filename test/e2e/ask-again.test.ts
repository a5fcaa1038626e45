// A question whose answer failed, in a real browser: the error, and the button that has it asked again.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { assertAccessible, startConsole, stopConsole, type ConsoleBrowser } from "../harness/console.ts";
import type { ServerHere } from "../harness/server-here.ts";
import { call, ROOT } from "../harness/server.ts";
import { newThread, onlyQuestion, type TestThread } from "../harness/threads.ts";

let server: ServerHere;
let browser: ConsoleBrowser;

before(async () => {
  const config = join(ROOT, "test", "graphs", "paused", "langgraph.json");
  ({ server, browser } = await startConsole({ config, limits: { askAgainMax: 1 } }));
});

after(() => stopConsole({ server, browser }));

interface Failed {
  readonly thread: TestThread;
  readonly id: string;
}

/** @param times answers at which the node threw: the second is one too many */
async function failedThread(times: number): Promise<Failed> {
  const thread = await newThread(server, "strict");
  const { id } = onlyQuestion(await thread.run({ input: {} }));
  for (let time = 0; time < times; time++) await thread.resume({ [id]: "bad" });
  return { thread, id };
}

const isOpen = async ({ thread, id }: Failed): Promise<string> => {
  const { body } = await call(server, "GET", `/inbox/${thread.threadId}/${id}`);
  return (body as { readonly state: string }).state;
};

suite("a failed answer", () => {
  test("the item shows the answer and its error, and is answered again", async () => {
    const failed = await failedThread(1);
    const page = await browser.open(`/inbox/${failed.thread.threadId}/${failed.id}`);
    await page.getByText("TypeError: bad is not good").waitFor();
    await page.getByText("anonymous: bad", { exact: true }).waitFor();
    await page.getByText("The question is open again.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Ask again" }).count(), 0);
    await assertAccessible(page);
    await page.close();
  });

  for (const [place, path] of [
    ["the item", ({ thread, id }: Failed) => `/inbox/${thread.threadId}/${id}`],
    ["the thread", ({ thread }: Failed) => `/threads/${thread.threadId}`],
  ] as const)
    test(`${place} asks again after the last attempt`, async () => {
      const failed = await failedThread(2);
      assert.equal(await isOpen(failed), "answered");
      const page = await browser.open(path(failed));
      await page.getByText("TypeError: bad is not good").last().waitFor();
      await page.getByText("anonymous: bad", { exact: true }).waitFor();
      await assertAccessible(page);
      await page.getByRole("button", { name: "Ask again" }).click();
      await page.getByText("The question is open again.").waitFor();
      assert.equal(await isOpen(failed), "open");
      assert.equal(await page.getByRole("button", { name: "Ask again" }).count(), 0);
      await page.getByRole("textbox").first().waitFor();
      await page.close();
    });
});
