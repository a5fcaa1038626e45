// The console of `npm start` in a real browser: the way of a newcomer from the printed link to the trace, a trace of
// 10,000 spans, and every page, light, dark and on a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Page } from "playwright-core";
import { assertAccessible, startBrowser, typeInto, type ConsoleBrowser } from "../harness/console.ts";
import { IS_LONG } from "../harness/long.ts";
import { npmStart, type Started } from "../harness/npm-start.ts";
import { call } from "../harness/server.ts";

const SPANS = 10_000;
const SCROLL_STEPS = 120;
const TRACE_ID = "5b8efff798038103d269b633813fc60c";

let server: Started;
let browser: ConsoleBrowser;

before(async () => {
  server = await npmStart();
  browser = await startBrowser(server);
});

after(async () => {
  try {
    await browser?.close();
  } finally {
    assert.equal(await server.stop(), 0, "Ctrl-C ends it cleanly");
  }
});

test("a newcomer follows the printed link, approves with `a` and Enter, and sees the trace with the wait in it", async (t) => {
  t.diagnostic(`from npm start to the printed link: ${Math.round(server.tookMs)} ms`);
  const page = await browser.open(new URL(server.link).pathname.replace("/console", ""), { name: "Ada" });
  await page.getByRole("button", { name: "Approve" }).waitFor();
  await page.keyboard.press("a");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText(/^Answered by Ada at/).waitFor();
  await page.goto(`${server.url}/console/threads/${server.threadId}`);
  await page.getByText("Your refund is on its way.").waitFor();
  await page.getByRole("navigation", { name: "Views of the thread" }).getByRole("link", { name: "Trace" }).click();
  await page.getByRole("link", { name: /spans/ }).first().click();
  const tree = page.getByRole("tree");
  for (const name of [/^wait approval , human wait/, /^chat ScriptedModel , model/, /^refund , tool/]) {
    await tree.getByRole("treeitem", { name }).first().waitFor();
  }
  await tree
    .getByRole("treeitem", { name: /^chat ScriptedModel/ })
    .first()
    .click();
  await page.getByText("My order 1042 arrived broken", { exact: false }).first().waitFor();
  await page.close();
});

test("a sample span from the page of the collector becomes a trace, a moment later", async () => {
  const page = await browser.open("/collector", { name: "Ada" });
  await page.getByRole("button", { name: "Send a sample span" }).click();
  await page.getByRole("button", { name: "See its trace" }).click();
  await page.getByText("Yes: you are looking at it.").waitFor();
  await page.close();
});

test("a trace of 10,000 spans scrolls to its end with a screenful of rows in the page", async (t) => {
  const sent = await fetch(`${server.collectorUrl}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(largeExport(SPANS)),
  });
  assert.equal(sent.status, 200, await sent.text());
  const page = await browser.open("/traces?name=large", { name: "Ada" });
  const row = page.getByRole("link").filter({ hasText: "10,000" }); // the list polls until all are present
  await row.click();
  const items = page.getByRole("tree").getByRole("treeitem");
  await items.first().click();
  await page.keyboard.press("End");
  const last = page.getByRole("treeitem", { name: /^step 9999 ,/, selected: true });
  await last.waitFor();
  await page.locator("[role=treeitem][aria-selected=true]:focus").waitFor();
  await page.keyboard.press("Home");
  await page.getByRole("treeitem", { name: /^large ,/, selected: true }).waitFor();
  const frames = await scrollThrough(page);
  await page.getByRole("treeitem", { name: /^step 9999 ,/ }).waitFor();
  assert.ok((await items.count()) < 100, "only rows in sight are in the page");
  const median = frames[Math.floor(SCROLL_STEPS / 2)] ?? 0;
  t.diagnostic(`scrolling through ${SPANS} spans in ${SCROLL_STEPS} steps: median frame ${median.toFixed(1)} ms`);
  await page
    .getByRole("searchbox", { name: /find/i })
    .or(page.getByRole("textbox", { name: /find/i }))
    .fill("step 4321");
  await page.keyboard.press("Enter");
  await page.getByRole("treeitem", { name: /^step 4321 ,/, selected: true }).waitFor();
  await page.close();
});

/** From the top to the end in SCROLL_STEPS, one a frame; milliseconds of each frame, sorted. */
async function scrollThrough(page: Page): Promise<readonly number[]> {
  const took = await page.getByRole("tree").evaluate(async (tree, steps) => {
    const scroller = tree.parentElement;
    const { requestAnimationFrame } = tree.ownerDocument.defaultView;
    const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    const times: number[] = [];
    let before = await frame();
    for (let step = 1; step <= steps; step++) {
      scroller.scrollTop = (scroller.scrollHeight * step) / steps;
      const now = await frame();
      times.push(now - before);
      before = now;
    }
    return times;
  }, SCROLL_STEPS);
  return took.toSorted((one, other) => one - other);
}

/** A root with agents of a hundred steps each, as a sender would export them. */
function largeExport(count: number): object {
  const start = BigInt(Date.now() - 60_000) * 1_000_000n;
  const id = (at: number): string => (at + 1).toString(16).padStart(16, "0");
  const spans = Array.from({ length: count }, (_, at) => ({
    traceId: TRACE_ID,
    spanId: id(at),
    ...(at === 0 ? {} : { parentSpanId: id(at % 100 === 0 ? 0 : Math.floor(at / 100) * 100) }),
    name: at === 0 ? "large" : `step ${at}`,
    kind: 1,
    startTimeUnixNano: String(start + BigInt(at) * 1_000_000n),
    endTimeUnixNano: String(start + BigInt(at === 0 ? count + 1 : at + 1) * 1_000_000n),
    attributes: [{ key: "gen_ai.operation.name", value: { stringValue: at % 7 === 0 ? "execute_tool" : "chat" } }],
    ...(at % 997 === 0 && at > 0 ? { status: { code: 2, message: "it broke" } } : {}),
  }));
  return { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: "test" }, spans }] }] };
}

/** Every page, with a text that proves it is loaded. Setup creates the data. */
const PAGES: readonly {
  readonly path: string;
  readonly isThere: (page: Page) => ReturnType<Page["getByText"]>;
}[] = [
  { path: "/inbox", isThere: (page) => page.getByRole("heading", { name: "Inbox" }) },
  { path: "/inbox/ITEM", isThere: (page) => page.getByText("Audit trail") },
  { path: "/answered", isThere: (page) => page.getByRole("list", { name: "Answered items, newest first" }) },
  { path: "/threads", isThere: (page) => page.getByRole("list", { name: "Threads" }) },
  ...["chat", "state", "history", "graph", "runs", "trace"].map((tab) => ({
    path: `/threads/THREAD?tab=${tab}`,
    isThere: (page: Page) => page.locator(".chat-column, .state-card, .split-detail, .graph-name, .trace-card").first(),
  })),
  { path: "/traces", isThere: (page) => page.getByRole("list", { name: "Traces" }) },
  { path: `/traces/${TRACE_ID}`, isThere: (page) => page.getByRole("treeitem").first() },
  { path: `/traces/${TRACE_ID}?shape=compare&with=${TRACE_ID}`, isThere: (page) => page.getByText("same").first() },
  { path: `/traces/${TRACE_ID}?shape=flame`, isThere: (page) => page.locator(".flame-box").first() },
  {
    path: "/assistants?graph=refund-approval",
    isThere: (page) => page.getByRole("button", { name: "approval", exact: true }),
  },
  ...["schemas", "versions", "try"].map((tab) => ({
    path: `/assistants?graph=refund-approval&tab=${tab}`,
    isThere: (page: Page) => page.locator(".assistant .card").first(),
  })),
  { path: "/store?ns=users.7&key=diet", isThere: (page) => page.getByRole("region", { name: "Item" }) },
  { path: "/crons?cron=CRON", isThere: (page) => page.getByRole("region", { name: "Cron" }) },
  { path: "/policies", isThere: (page) => page.getByRole("list", { name: "Policies" }) },
  { path: "/collector", isThere: (page) => page.getByRole("img", { name: /^Spans received/ }) },
  { path: "/settings", isThere: (page) => page.getByText("HTTP_PORT", { exact: true }) },
  { path: "/nothing", isThere: (page) => page.getByRole("heading", { name: "Page not found" }) },
];

test("every page is accessible, light and dark, and on a phone nothing of it is wider than the screen", async (t) => {
  const item = { namespace: ["users", "7"], key: "diet", value: { likes: ["soup"] } };
  assert.equal((await call(server, "PUT", "/store/items", item)).status, 204);
  const made = await call(server, "POST", "/runs/crons", { assistant_id: "agent", schedule: "0 9 1 1 *", input: {} });
  const { cron_id: cronId } = made.body as { readonly cron_id: string };
  const policy = { action: "greet", when: { "args.name": "Ada" }, answer: "approve" };
  assert.equal((await call(server, "POST", "/policies", policy)).status, 201);
  const question = new URL(server.link).pathname.replace("/console/inbox/", "");
  const page = await browser.open("/inbox");
  for (const { path, isThere } of PAGES) {
    const address = path.replace("THREAD", server.threadId).replace("CRON", cronId).replace("ITEM", question);
    await t.test(path, async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${server.url}/console${address}`);
      await isThere(page).waitFor();
      await assertAccessible(page);
      await page.setViewportSize({ width: 360, height: 740 });
      await isThere(page).waitFor({ state: "attached" });
      const width = await page.locator("html").evaluate((root) => root.scrollWidth);
      assert.ok(width <= 360, `${width} pixels wide`);
    });
  }
  await page.close();
});

test("settings are in groups, with what differs from the default first, and code instead of back-ticks", async () => {
  const page = await browser.open("/settings", { name: "Ada" });
  const list = page.getByRole("region", { name: "Settings", exact: true });
  await list.getByRole("heading", { name: "Storage and retention" }).waitFor();
  const [first, ...others] = await list.getByRole("heading").allInnerTexts();
  assert.equal(first, "Changed");
  assert.ok(others.length >= 4, others.join(", "));
  assert.ok(!others.includes("Changed"));
  const origins = await list.locator(".setting-head .chip").allInnerTexts();
  const changed = origins.filter((origin) => origin !== "default").length;
  assert.deepEqual(
    origins.map((origin) => origin === "default"),
    origins.map((_, at) => at >= changed),
    "all that differ come first",
  );
  assert.ok(changed > 0 && changed < origins.length);
  assert.equal((await page.locator("body").innerText()).includes("`"), false);
  assert.ok((await list.locator("p code").count()) > 0);
  await page.getByRole("button", { name: "Modified" }).click();
  await list.getByRole("heading", { name: "Storage and retention" }).waitFor({ state: "detached" });
  assert.deepEqual(await list.getByRole("heading").allInnerTexts(), ["Changed"]);
  await page.close();
});

/** Pages with controls below or beside what arrives late. */
const STILL = ["/inbox/ITEM", "/answered", "/threads", "/threads/THREAD?tab=chat", "/traces", "/crons", "/assistants"];

test("replies that arrive late, one after the other, move no control, and none is replaced", async () => {
  const item = new URL(server.link).pathname.replace("/console/inbox/", "");
  const page = await browser.open("/settings", { name: "Ada" });
  await page.addInitScript(WATCH_CONTROLS);
  const isLate = await delayReplies(page);
  for (const width of IS_LONG ? [1280, 1000, 360] : [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of STILL) {
      const address = path.replace("THREAD", server.threadId).replace("ITEM", item);
      await page.goto(`${server.url}/console${address}`);
      await page.getByRole("main").getByRole("button").first().waitFor();
      while (await isLate()) await page.evaluate(FRAMES);
      assert.deepEqual(await page.evaluate("moves"), [], `${path} at ${width} pixels`);
    }
  }
  await page.close();
});

/** Records controls outside of lists that change their place, or leave the page. */
const WATCH_CONTROLS = `
  globalThis.moves = [];
  const places = new Map();
  const measurePlace = (control) => {
    const { x, y, width } = control.getBoundingClientRect();
    return width === 0 ? undefined : [Math.round(x), Math.round(y)];
  };
  const look = () => {
    for (const [control, [x, y]] of places) {
      const now = control.isConnected ? measurePlace(control) : undefined;
      if (now !== undefined && Math.abs(now[0] - x) <= 2 && Math.abs(now[1] - y) <= 2) continue;
      const name = control.getAttribute("aria-label") ?? control.textContent;
      moves.push(control.tagName + " " + name + ": " + [x, y] + " to " + (now ?? "nowhere"));
      places.delete(control);
    }
    for (const control of document.querySelectorAll("button, input, select, textarea, summary")) {
      if (control.closest(".virtual-row, .graph-view, [role=tree]") !== null || places.has(control)) continue;
      const place = measurePlace(control);
      if (place !== undefined) places.set(control, place);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

const FRAMES = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`;

const BETWEEN_MS = 60;

/** Lets calls of the API pass one at a time. @returns whether any waits, or did so a moment ago */
async function delayReplies(page: Page): Promise<() => Promise<boolean>> {
  let waiting = 0;
  let turn = Promise.resolve();
  await page.route(/./, async (route) => {
    if (route.request().resourceType() !== "fetch") return route.continue();
    waiting++;
    turn = turn.then(() => setTimeout(BETWEEN_MS));
    await turn;
    await route.continue().catch(() => undefined); // of the page before
    waiting--;
  });
  return async () => {
    if (waiting > 0) return true;
    await setTimeout(2 * BETWEEN_MS);
    return waiting > 0;
  };
}

test("a press whose release comes after late data is a click (press.1)", async () => {
  const item = new URL(server.link).pathname.replace("/console/inbox/", "");
  const page = await browser.open("/settings", { name: "Ada" });
  const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
  await page.route(/\/comments(\?|$)/, async (route) => {
    await isAllowed;
    await route.fulfill({ json: { items: [COMMENT], next_cursor: null } });
  });
  await page.goto(`${server.url}/console/inbox/${item}`);
  await page.getByLabel("New comment").fill("Hello");
  const button = page.getByRole("button", { name: "Comment", exact: true });
  await button.hover();
  await page.mouse.down();
  const arrived = page.waitForResponse(/\/comments/);
  allow();
  await (await arrived).finished();
  await page.evaluate(`${FRAMES}.then(() => ${FRAMES})`);
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/comments"));
  await page.mouse.up();
  await sent;
  await page.getByText("I came late").waitFor();
  await page.close();
});

const COMMENT = { seq: 1, by: "Bob", at: new Date().toISOString(), value: "I came late\n".repeat(8) };

test("an item of the store is put, changed and deleted by keyboard and dialog", async () => {
  const page = await browser.open("/store", { name: "Ada" });
  await page.getByRole("list", { name: "Items" }).waitFor();
  await page.keyboard.press("n");
  await page.getByLabel("Namespace", { exact: true }).fill("notes.ada");
  await page.getByLabel("Key", { exact: true }).fill("first");
  await typeInto(page, "Value", '{"text": "Hello"}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("region", { name: "Item" }).getByText('"Hello"').waitFor();
  await page.keyboard.press("e");
  await typeInto(page, "Value", '{"text": "Goodbye"}');
  await page.getByRole("group", { name: "Changes" }).getByText("Goodbye").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("region", { name: "Item" }).getByText('"Goodbye"').waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Select an item").waitFor();
  assert.equal((await call(server, "GET", "/store/items?namespace=notes.ada&key=first")).text, "null");
  await page.close();
});

test("a cron is created and paused", async () => {
  const page = await browser.open("/crons", { name: "Ada" });
  await page.getByRole("button", { name: "New cron" }).click();
  await page.getByRole("dialog").getByRole("combobox", { name: "Assistant" }).selectOption({ label: "steps" });
  await page.getByLabel("Schedule").fill("every day");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("alert").waitFor(); // the server supports crons
  await page.getByLabel("Schedule").fill("15 4 * * *");
  await page.getByRole("button", { name: "Create" }).click();
  const cron = page.getByRole("region", { name: "Cron" });
  await cron.getByRole("heading", { name: "15 4 * * *" }).waitFor();
  await page.keyboard.press("p");
  await cron.getByText("paused", { exact: true }).waitFor();
  await cron.getByText("never", { exact: true }).waitFor();
  await page.close();
});

test("an assistant is made, gets a second version, the first is brought back, and it is tried with a breakpoint", async () => {
  const page = await browser.open("/assistants?graph=steps", { name: "Ada" });
  await page.getByRole("button", { name: "New assistant" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Careful");
  await page.getByRole("combobox", { name: "Graph" }).selectOption("steps");
  await page.getByRole("button", { name: "Create" }).click();
  const shown = page.getByRole("region", { name: "Careful" });
  await shown.getByRole("button", { name: "Edit" }).click();
  await typeInto(page, "Config", '{"tags": ["slow"]}');
  await page.getByRole("button", { name: "Save" }).click();
  await shown.getByText("version 2").waitFor();
  await shown.getByRole("link", { name: "Versions" }).click();
  await shown.getByRole("group", { name: "Changes" }).getByText("config.tags").waitFor();
  await shown
    .getByRole("list", { name: /^Versions/ })
    .getByRole("button")
    .last()
    .click();
  await shown.getByRole("button", { name: "Set as latest" }).click();
  await shown.getByText("version 1", { exact: true }).waitFor();
  await shown.getByRole("link", { name: "Graph" }).click();
  await shown
    .getByRole("button", { name: /^Stop before / })
    .first()
    .click();
  await shown.getByRole("link", { name: "Try it with these breakpoints" }).click();
  await shown.getByRole("button", { name: "Run" }).click();
  await page.waitForURL(/\/threads\//);
  await page.getByText(/^stopped before /).waitFor();
  await page.close();
});
