// The chat of examples/chat, its page on `@langchain/react` as it is, in a real browser.
//   chat.1. Text streams into the page; a reload in the middle shows what was written, and the rest.
//   chat.2. The approval card is there after a reload; two tabs show the same; the answer goes on in both.
//   chat.3. The server is killed and started again while the page is open, in mid-run and while paused: the page shows
//        the end of the run, and the next message works.
//   chat.4. The sources of the page pass the type check. Its script starts server and page, which talk to each other.
//   chat.5. So does the script of a copy of the folder in another project, where Holdpoint is installed; where it is not,
//        it says so.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { servePage, type ServedPage } from "../../examples/chat/web/serve-page.ts";
import { launchChromium } from "../harness/console.ts";
import { nestedProject } from "../outside/nested-project.ts";
import { PATIENCE } from "../harness/patience.ts";
import { startFront, type Front } from "../harness/protocol/front.ts";
import { removeFolder, ROOT, startServer, temporaryFolder, type TestServer } from "../harness/server.ts";
import { openThread } from "../harness/threads.ts";

const WEB = nestedProject("examples/chat/web");

const folder = temporaryFolder();
let front: Front | undefined;
let server: TestServer | undefined;
let page: ServedPage | undefined;
let browser: Browser | undefined;
let tabs: BrowserContext;

const start = async (): Promise<void> => {
  server = await startServer({ dataDir: join(folder, "data") });
  front?.to(server);
};

async function killAndStart(): Promise<void> {
  front?.to(null);
  await server?.kill();
  await start();
}

async function open(assistant: string, threadId: string): Promise<Page> {
  const tab = await tabs.newPage();
  await tab.goto(`${page?.url}/?assistant=${assistant}#${threadId}`);
  return tab;
}

async function send(tab: Page, text: string): Promise<void> {
  await tab.getByRole("textbox", { name: "Message" }).fill(text);
  await tab.getByRole("button", { name: "Send" }).click();
}

const ready = (tab: Page): Promise<void> => tab.getByRole("status").getByText("ready").waitFor();
const said = (tab: Page, text: string) => tab.locator(".message.ai").getByText(text, { exact: true });
const card = (tab: Page) => tab.getByRole("region", { name: "Approval" });
const HALF = "This half came first.";
const WHOLE = `${HALF} This half came after the wait.`;

describe("the chat of the examples", () => {
  before(async () => {
    front = await startFront();
    page = await servePage(front.url, 0);
    await start();
    browser = await launchChromium();
    tabs = await browser.newContext();
    tabs.setDefaultTimeout(PATIENCE.timeout);
  });
  after(async () => {
    await browser?.close();
    await page?.close();
    await front?.close();
    await server?.kill();
    removeFolder(folder);
  });

  test("text streams, and a reload in the middle continues (chat.1)", PATIENCE, async () => {
    const gate = join(folder, "gate-1");
    const tab = await open("writer", randomUUID());
    await send(tab, gate);
    await said(tab, HALF).waitFor();
    await tab.reload();
    await said(tab, HALF).waitFor();
    await tab.getByRole("button", { name: "Stop" }).waitFor();
    assert.equal(await said(tab, WHOLE).count(), 0);
    writeFileSync(gate, "");
    await said(tab, WHOLE).waitFor();
    await ready(tab);
    assert.equal(await tab.locator(".message").count(), 2);
    await tab.close();
  });

  test("an approval over a reload, in two tabs (chat.2)", PATIENCE, async () => {
    const threadId = randomUUID();
    const tab = await open("chat", threadId);
    await send(tab, "a late parcel");
    await card(tab).getByText("Send this reply?").waitFor();
    await tab.reload();
    await card(tab).getByText("Send this reply?").waitFor();
    const other = await open("chat", threadId);
    await card(other).waitFor();
    await card(tab).getByRole("button", { name: "Approve" }).click();
    for (const one of [tab, other]) await said(one, "The reply was sent.").waitFor();
    await card(tab).waitFor({ state: "detached" });
    await openThread(server ?? assert.fail(), "chat", threadId).reaches("idle");
    await other.reload();
    await said(other, "The reply was sent.").waitFor();
    assert.equal(await card(other).count(), 0);
    for (const one of [tab, other]) await one.close();
  });

  test("the server dies while the page is open (chat.3)", PATIENCE, async () => {
    const gate = join(folder, "gate-2");
    const [writing, paused] = [await open("writer", randomUUID()), await open("chat", randomUUID())];
    await send(paused, "a broken cup");
    await card(paused).waitFor();
    await send(writing, gate);
    await said(writing, HALF).waitFor();
    await killAndStart();
    writeFileSync(gate, "");
    await said(writing, WHOLE).waitFor();
    await ready(writing);
    await send(writing, gate);
    await said(writing, WHOLE).nth(1).waitFor();
    await ready(writing);
    await card(paused).getByRole("button", { name: "Reject" }).click();
    await said(paused, "The reply was not sent.").waitFor();
    for (const one of [writing, paused]) await one.close();
  });

  test("the page's types, and the script that starts both (chat.4)", PATIENCE, async () => {
    await promisify(execFile)(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", WEB]);
    await startsBoth(WEB);
  });

  test("a copy of the folder, with the installed package (chat.5)", PATIENCE, async () => {
    const copy = join(folder, "copy");
    cpSync(dirname(WEB), copy, { recursive: true, filter: (path) => !path.includes("node_modules") });
    symlinkSync(join(WEB, "node_modules"), join(copy, "web", "node_modules"));
    mkdirSync(join(copy, "node_modules"));
    writeFileSync(join(copy, "package.json"), JSON.stringify({ type: "module" })); // as the README makes it
    symlinkSync(join(ROOT, "packages/holdpoint"), join(copy, "node_modules", "holdpoint"));
    for (const name of ["@langchain", "esbuild"])
      symlinkSync(join(ROOT, "node_modules", name), join(copy, "node_modules", name));
    await startsBoth(join(copy, "web"));
    rmSync(join(copy, "node_modules", "holdpoint"));
    const { stderr } = await promisify(execFile)(process.execPath, [join(copy, "web", "start.ts")]).catch(
      (error: unknown) => error as { readonly stderr: string },
    );
    assert.match(stderr, /^Holdpoint is not installed for .*API_URL/);
  });
});

/** Starts server and page, and sends a message to the graph. */
async function startsBoth(web: string): Promise<void> {
  const child = spawn(process.execPath, [join(web, "start.ts")], {
    cwd: folder,
    env: {
      ...process.env,
      PORT: "0",
      HTTP_PORT: "0",
      TRACES_PORT: "0",
      PAGE_PORT: "0",
      HOLDPOINT_DATA_DIR: join(folder, "dev"),
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    url = /^chat +(http:\S+)/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  try {
    const tab = await tabs.newPage();
    await tab.goto(`${url}/#${randomUUID()}`);
    await send(tab, "a late parcel");
    await card(tab).getByText("Send this reply?").waitFor();
    await tab.close();
  } finally {
    child.kill("SIGINT");
    await exited;
  }
}
