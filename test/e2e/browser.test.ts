// A real browser against a real server: the rights of our pages, and of foreign ones.
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../harness/console.ts";
import { type ServerHere, startServerHere } from "../harness/server-here.ts";

let server: ServerHere;
let pages: Server;
let browser: Browser | undefined;

before(async () => {
  server = await startServerHere();
  pages = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end("<!doctype html><title>a page</title>");
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  browser = await launchChromium("--host-resolver-rules=MAP stranger.example 127.0.0.1");
});

after(async () => {
  await browser?.close();
  pages.close();
  await server.stop();
});

async function newPage(): Promise<Page> {
  assert.ok(browser, "the browser has started");
  return browser.newPage();
}

async function openPage(host: string): Promise<Page> {
  const page = await newPage();
  await page.goto(`http://${host}:${(pages.address() as AddressInfo).port}/`);
  return page;
}

interface Seen {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly contentLocation: string | null;
  readonly location: string | null;
  readonly total: string | null;
}

/** Runs in the page: one call as any script there would make it. */
async function callFrom(page: Page, url: string, body: unknown): Promise<Seen> {
  return page.evaluate(
    async ([target, payload]) => {
      const response = await fetch(target ?? "", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: payload ?? "",
      });
      return {
        status: response.status,
        body: (await response.json()) as Record<string, unknown>,
        contentLocation: response.headers.get("content-location"),
        location: response.headers.get("location"),
        total: response.headers.get("x-pagination-total"),
      };
    },
    [url, JSON.stringify(body)],
  );
}

test("a page on this machine pauses a run, answers it, and reads the headers it needs", async () => {
  const page = await openPage("localhost");
  const { body: thread } = await callFrom(page, `${server.url}/threads`, {});
  const path = `/threads/${String(thread["thread_id"])}/runs`;
  const paused = await callFrom(page, `${server.url}${path}/wait`, {
    assistant_id: "agent",
    input: { some_text: "original text" },
  });
  assert.equal(paused.status, 200);
  assert.ok(paused.contentLocation?.startsWith(`${path}/`), "Content-Location can be read");
  assert.equal(paused.location, `${paused.contentLocation}/join`);
  const resumed = await callFrom(page, `${server.url}${path}/wait`, {
    assistant_id: "agent",
    command: { resume: "Edited text" },
  });
  assert.deepEqual(resumed.body, { some_text: "Edited text" });
  const found = await callFrom(page, `${server.url}/threads/search`, { ids: [thread["thread_id"]] });
  assert.equal(found.total, "1");
});

test("a page of a stranger cannot call the server", async () => {
  const page = await openPage("stranger.example");
  await assert.rejects(callFrom(page, `${server.url}/threads`, {}), /Failed to fetch/);
});

test("a name of a stranger that resolves to this machine is refused", async () => {
  const page = await newPage();
  const url = new URL(server.url);
  const response = await page.goto(`http://stranger.example:${url.port}/ok`);
  assert.equal(response?.status(), 403);
});
