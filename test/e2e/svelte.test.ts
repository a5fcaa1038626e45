// A page on `@langchain/svelte`, compiled as its users compile it, in a real browser.
//   svelte.1. Text streams, and a reload in the middle shows what was written, and the rest.
//   svelte.2. A question is there after a reload, and its answer goes on.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { build, type Plugin, type Rolldown } from "vite";
import { launchChromium } from "../harness/console.ts";
import { PATIENCE } from "../harness/patience.ts";
import { CLIENTS } from "../harness/protocol/sdk-clients.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { type ServerHere, startServerHere } from "../harness/server-here.ts";

type Compile = (source: string, options: { readonly filename: string }) => { readonly js: { readonly code: string } };
interface Compiler {
  readonly compile: Compile;
  readonly compileModule: Compile;
}

/** Components, and modules with runes, which the package publishes uncompiled. */
function svelte(): Plugin {
  const { compile, compileModule } = createRequire(join(CLIENTS, "package.json"))("svelte/compiler") as Compiler;
  return {
    name: "svelte",
    transform(source, filename) {
      if (filename.endsWith(".svelte.js")) return compileModule(source, { filename }).js;
      return filename.endsWith(".svelte") ? compile(source, { filename }).js : null;
    },
  };
}

async function bundle(): Promise<string> {
  const result = (await build({
    root: join(CLIENTS, "svelte"),
    configFile: false,
    logLevel: "error",
    plugins: [svelte()],
    build: { write: false, minify: false, lib: { entry: "main.js", formats: ["es"] } },
  })) as readonly Rolldown.RolldownOutput[];
  return result[0]?.output[0].code ?? "";
}

const folder = temporaryFolder();
let server: ServerHere;
let browser: Browser;
let script: string;

async function open(assistantId: string, threadId = randomUUID()): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE.timeout);
  const chat = JSON.stringify({ apiUrl: server.url, assistantId, threadId });
  const body = `<body><script>window.chat = ${chat}</script><script type="module" src="/chat.js"></script></body>`;
  await page.route("**/chat", (route) => route.fulfill({ contentType: "text/html", body }));
  await page.route("**/chat.js", (route) => route.fulfill({ contentType: "text/javascript", body: script }));
  await page.goto(`${server.url}/chat`);
  return page;
}

const HALF = "This half came first.";
const ready = (page: Page): Promise<void> => page.getByRole("status").getByText("ready").waitFor();
const said = (page: Page, text: string) => page.locator("li.ai").getByText(text, { exact: true });

describe("a page on @langchain/svelte", () => {
  before(async () => {
    script = await bundle();
    server = await startServerHere();
    browser = await launchChromium();
  });
  after(async () => {
    await browser.close();
    await server.stop();
    for (const path of [server.dataDir, folder]) removeFolder(path);
  });

  test("text streams, and a reload in the middle continues (svelte.1)", PATIENCE, async () => {
    const gate = join(folder, "gate");
    const page = await open("writer");
    await page.getByRole("textbox", { name: "Message" }).fill(gate);
    await page.getByRole("button", { name: "Send" }).click();
    await said(page, HALF).waitFor();
    await page.reload();
    await said(page, HALF).waitFor();
    await page.getByRole("status").getByText("working").waitFor();
    writeFileSync(gate, "");
    await said(page, `${HALF} This half came after the wait.`).waitFor();
    await ready(page);
    assert.equal(await page.locator("li").count(), 2);
    await page.close();
  });

  test("questions are answered, one of them after a reload (svelte.2)", PATIENCE, async () => {
    const page = await open("series");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: "Answer one" }).click();
    await page.getByRole("button", { name: "Answer two" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Answer two" }).click();
    await page.getByRole("button", { name: "Answer three" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Answer/ }).count(), 1);
    await page.close();
  });
});
