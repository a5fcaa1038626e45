// The API page in a real browser: it finds an operation, shows its parameters, and sends a call.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launchChromium } from "../harness/console.ts";
import { PATIENCE } from "../harness/patience.ts";
import { removeFolder } from "../harness/server.ts";
import { type ServerHere, startServerHere } from "../harness/server-here.ts";

/** Rules that Swagger UI breaks by itself: contrast of badges, headings, landmarks, names of fields. */
const OF_THE_LIBRARY = new Set([
  "color-contrast",
  "heading-order",
  "label",
  "nested-interactive",
  "region",
  "select-name",
]);

let server: ServerHere;
let browser: Browser;

before(async () => {
  server = await startServerHere({ env: { MOUNT_PREFIX: "/agents" } });
  browser = await launchChromium();
});

after(async () => {
  await browser.close();
  await server.stop();
  removeFolder(server.dataDir);
});

test(
  "below a prefix: an operation is found, its form makes a thread, and nothing comes from elsewhere",
  PATIENCE,
  async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE.timeout);
    const asked: string[] = [];
    const faults: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(`${server.url}/agents/docs#/Threads/createThread`);
    const operation = page.locator("#operations-Threads-createThread");
    const send = operation.getByRole("button", { name: "Execute" });
    await send.waitFor(); // opened by its address
    await operation.locator("textarea").first().fill('{"metadata": {"from": "the page"}}');
    await send.click();
    const reply = operation.locator(".live-responses-table .response");
    await reply.getByText("200").first().waitFor();
    assert.match((await reply.textContent()) ?? "", /"from": "the page"/);
    assert.match((await operation.locator(".curl-command").textContent()) ?? "", /curl -X 'POST'.*\/agents\/threads'/s);

    const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const found = (await page.evaluate(
        `${axe}; axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`,
      )) as object;
      const own = (found as readonly (readonly [id: string, html: string])[]).filter(([id]) => !OF_THE_LIBRARY.has(id));
      assert.deepEqual(own, [], colorScheme);
    }
    assert.deepEqual(faults, []);
    assert.deepEqual(
      asked.filter((address) => !address.startsWith(`${server.url}/agents/`)),
      [],
    );
  },
);
