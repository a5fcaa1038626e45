// The API page in a real browser: it finds an operation, shows its parameters, and sends a call.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium, type Browser } from "playwright-core";
import { removeFolder, startServer, type TestServer } from "../harness/server.ts";

let server: TestServer;
let browser: Browser;

before(async () => {
  server = await startServer({ env: { MOUNT_PREFIX: "/agents" } });
  browser = await chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"],
  });
});

after(async () => {
  await browser.close();
  await server.stop();
  removeFolder(server.dataDir);
});

test("below a prefix: an operation is found, its form makes a thread, and nothing comes from elsewhere", async () => {
  const page = await browser.newPage();
  const asked: string[] = [];
  const faults: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`${server.url}/agents/docs#createThread`);
  const operation = page.locator("#createThread");
  await operation.getByRole("button", { name: "Send" }).waitFor(); // opened by its address

  await page.getByLabel("Find").fill("cancel runs");
  await operation.waitFor({ state: "hidden" });
  await page.getByLabel("Find").fill("create thread");
  await operation.getByLabel("JSON body").fill('{"metadata": {"from": "the page"}}');
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.getByText(/^200 OK/).waitFor();
  const reply = JSON.parse((await operation.getByLabel("Reply").textContent()) ?? "") as { metadata: object };
  assert.deepEqual(reply.metadata, { from: "the page" });
  await operation.getByText("As curl").click();
  await operation.getByText(`curl -s -X POST '${server.url}/agents/threads'`).waitFor();

  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const found = (await page.evaluate(
      `${axe}; axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`,
    )) as object;
    assert.deepEqual(found, [], colorScheme);
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(
    asked.filter((address) => !address.startsWith(`${server.url}/agents/`)),
    [],
  );
});
