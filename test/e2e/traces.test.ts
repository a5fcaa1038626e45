// Traces and collector of `holdpoint serve` in a real browser: its own with TRACES=on, and those of another process.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, assertAccessible, startBrowser, type ConsoleBrowser } from "../harness/console.ts";
import { call, removeFolder, startServer, type TestServer } from "../harness/server.ts";
import { newThread, until } from "../harness/threads.ts";

let server: TestServer;
let browser: ConsoleBrowser;
let collector = "";

before(async () => {
  const env = { TRACES: "on", HTTP_PORT: "0", TRACES_PORT: "0", GRPC_PORT: "0" };
  const content = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" };
  server = await startServer({ env: { ...env, ...content, DATABASE_URI: "" } }); // its SDK reads the variables of a process
  browser = await startBrowser(server);
  const { body } = await call(server, "GET", "/console/api/about");
  collector = (body as { readonly collector: { readonly url: string } }).collector.url;
});

after(async () => {
  try {
    await browser?.close();
  } finally {
    await server.stop();
    removeFolder(server.dataDir);
  }
});

/** One white pixel, and more bytes than stay in a message. */
const PIXEL = Buffer.concat([
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==",
    "base64",
  ),
  Buffer.alloc(1_000),
]).toString("base64");

const IMAGE = { modality: "image", mime_type: "image/png", content: PIXEL };

/** A trace with a known cost and an image, as a sender writes it. */
async function sendCosts(): Promise<void> {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const span = {
    traceId: "5b8efff798038103d269b633813fc60d",
    spanId: "eee19b7ec3c1b175",
    name: "chat gpt-5",
    startTimeUnixNano: `${Date.now()}000000`,
    endTimeUnixNano: `${Date.now() + 40}000000`,
    attributes: [
      text("gen_ai.operation.name", "chat"),
      text("gen_ai.request.model", "gpt-5"),
      { key: "gen_ai.usage.cost", value: { doubleValue: 0.0125 } },
      text("gen_ai.input.messages", JSON.stringify([{ role: "user", parts: [{ type: "blob", ...IMAGE }] }])),
    ],
  };
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const headers = { "content-type": "application/json" };
  const reply = await fetch(new URL("/v1/traces", collector), { method: "POST", headers, body });
  assert.equal(reply.status, 200, await reply.text());
}

test("a run's trace is in the list, with its result in the root, and a sender's cost where it is known", async () => {
  const calls = [{ id: "c", name: "search", args: { text: "ham" } }];
  const thread = await newThread(server, "tooled");
  await thread.run({ input: { messages: [{ role: "user", content: "go" }], calls } });
  await sendCosts();
  await until("both traces", async () => {
    const { body } = await call(server, "GET", "/console/api/traces");
    const { items } = body as { readonly items: readonly { readonly status: string }[] };
    return items.filter(({ status }) => status === "success").length === 2 ? true : undefined;
  });
  const page = await browser.open("/traces");
  const list = page.getByRole("list", { name: "Traces" });
  await list.getByText("$0.0125").waitFor();
  await assertAccessible(page);
  await list.getByRole("link", { name: /invoke_agent tooled/ }).click();
  await page.getByRole("treeitem", { name: /search/ }).waitFor();
  const output = page.getByText("done", { exact: true });
  await output.first().waitFor();
  await assertAccessible(page);
  await page.getByRole("link", { name: "thread", exact: true }).click();
  await page.getByRole("navigation", { name: "Views of the thread" }).getByRole("link", { name: "Trace" }).click();
  await page.getByText("invoke_agent tooled").waitFor();
  await page.close();
});

test("a trace that waits says so, with its question's thread, and is found by a word of its content", async () => {
  const threadId = await ask(server, "Shall I ship order 4711?");
  await until("the trace", async () => {
    const { body } = await call(server, "GET", `/console/api/traces?thread_id=${threadId}&status=waiting`);
    return (body as { readonly items: readonly object[] }).items.length > 0 ? true : undefined;
  });
  const page = await browser.open("/traces?status=waiting");
  await page.getByRole("searchbox", { name: "Search" }).fill("SHIP 4711");
  const row = page.getByRole("list", { name: "Traces" }).getByRole("link", { name: /waiting.*invoke_agent echo/ });
  await row
    .getByText(/waiting$/)
    .last()
    .waitFor();
  await row.getByText(/Shall I ship order 4711/).waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await row.getByText(/Shall I ship order 4711/).isVisible(), true, "a phone has the preview");
  await row.click();
  await page.getByText(/of it waiting for people/).waitFor();
  await page.goto(`${page.url().split("?")[0]}?span=&view=messages`);
  await page.getByRole("treeitem", { name: /invoke_agent echo/, selected: true }).waitFor();
  await page.getByRole("navigation", { name: "Views of the span" }).waitFor();
  assert.equal(await page.getByText("No trace store here").count(), 0);
  await page.close();
});

test("an image of a message is shown, and can be saved", async () => {
  const page = await browser.open("/traces");
  await page
    .getByRole("list", { name: "Traces" })
    .getByRole("link", { name: /chat gpt-5/ })
    .click();
  const image = page.getByRole("img", { name: "Attachment image-1" });
  await image.waitFor();
  assert.equal(await image.evaluate((element: { readonly naturalWidth?: number }) => element.naturalWidth), 1);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download image-1" }).click();
  assert.equal((await saved).suggestedFilename(), "image-1.png");
  await assertAccessible(page);
  await page.close();
});

test("a failed run shows the error of its span", async () => {
  const thread = await newThread(server, "fails_below");
  await thread.run({ input: {} });
  const page = await browser.open("/traces?status=error");
  const row = page.getByRole("list", { name: "Traces" }).getByRole("link", { name: /fails_below/ });
  await until("the trace", async () => {
    if ((await row.count()) > 0) return true;
    await page.reload();
    await page.getByRole("list", { name: "Traces" }).or(page.getByText("No matching traces")).waitFor();
    return undefined;
  });
  await row.getByText("broken below").waitFor();
  await row.click();
  await page.getByRole("treeitem", { name: /breaks/ }).waitFor();
  await page.close();
});

test("another server shows the traces of TRACES and the figures of COLLECTOR_URL", async () => {
  const threadId = await ask(server, "Shall I?");
  const other = await startServer({
    env: { TRACES: `${server.url}/console/api`, COLLECTOR_URL: collector, DATABASE_URI: "" },
  });
  try {
    await until("the trace", async () => {
      const { body } = await call(other, "GET", `/console/api/traces?thread_id=${threadId}`);
      return (body as { readonly items: readonly object[] }).items.length > 0 ? true : undefined;
    });
    const page = await browser.of(other).open(`/traces?thread=${threadId}`);
    await page
      .getByRole("list", { name: "Traces" })
      .getByRole("link", { name: /invoke_agent echo/ })
      .click();
    await page.getByRole("treeitem", { name: /ask/ }).waitFor();
    await page.goto(`${other.url}/console/collector`);
    await page.getByRole("img", { name: /^Spans received/ }).waitFor();
    await page.getByText(/[1-9]\d* accepted, 0 rejected/).waitFor();
    await assertAccessible(page);
    await page.close();
  } finally {
    await other.stop();
    removeFolder(other.dataDir);
  }
});
