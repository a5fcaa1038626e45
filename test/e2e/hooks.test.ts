// Pages on the official React hooks, each bundled as its users bundle it, in a real browser.
//   hooks.1. A reload on a finished thread shows every subagent with its messages, and opens no event stream.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { createArrivals } from "../harness/arrivals.ts";
import { launchChromium } from "../harness/console.ts";
import { PATIENCE } from "../harness/patience.ts";
import { call, removeFolder } from "../harness/server.ts";
import { type ServerHere, startServerHere } from "../harness/server-here.ts";
import { nestedProject } from "../outside/nested-project.ts";

/** A page with `@langchain/react`: each subagent is a panel that reads its own messages. */
const SUBAGENTS = `
import { useMessages, useStream } from "@langchain/react";
import { createRoot } from "react-dom/client";

function Panel({ stream, subagent }) {
  const messages = useMessages(stream, subagent);
  return <li data-status={subagent.status}>{messages.map(({ text }) => text).join(" / ")}</li>;
}
function Chat() {
  const stream = useStream(window.chat);
  const panels = [...stream.subagents.values()];
  return <main>
    <p role="status">{stream.messages.at(-1)?.text}</p>
    <ul>{panels.map((one) => <Panel key={one.id} stream={stream} subagent={one} />)}</ul>
  </main>;
}
createRoot(document.getElementById("chat")).render(<Chat />);
`;

async function bundle(contents: string, resolveDir: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, loader: "jsx" },
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}

let server: ServerHere;
let browser: Browser;

interface Opened {
  readonly page: Page;
  /** What it has asked the server for: the path of each request, with what it sent. */
  readonly asked: string[];
  /** Resolves when every request but that of a stream has its reply, and the page has drawn it. */
  readonly rests: () => Promise<void>;
}

const TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

async function open(script: string, chat: object): Promise<Opened> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE.timeout);
  const asked: string[] = [];
  const replies = createArrivals<null>();
  let due = 0;
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/page")) return;
    asked.push(`${request.method()} ${pathname} ${request.postData() ?? ""}`);
    if (pathname.includes("/stream")) return;
    due++;
    const note = (): void => replies.add(null);
    request.response().then(note, note);
  });
  const options = JSON.stringify({ apiUrl: server.url, ...chat });
  const scripts = `<script>window.chat = ${options}</script><script type="module" src="/page.js"></script>`;
  const body = `<!doctype html><body><div id="chat"></div>${scripts}</body>`;
  await page.route("**/page", (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body }));
  await page.route("**/page.js", (route) => route.fulfill({ contentType: "text/javascript", body: script }));
  await page.goto(`${server.url}/page`);
  return {
    page,
    asked,
    async rests() {
      await replies.when("every reply", ({ length }) => length === due);
      await page.evaluate(TWO_FRAMES);
      await replies.when("the replies to what followed", ({ length }) => length === due);
    },
  };
}

describe("pages on the official React hooks", () => {
  before(async () => {
    server = await startServerHere();
    browser = await launchChromium();
  });
  after(async () => {
    await browser.close();
    await server.stop();
    removeFolder(server.dataDir);
  });

  test("a reload shows finished subagents without an event stream (hooks.1)", PATIENCE, async () => {
    const threadId = randomUUID();
    const calls = ["one", "two"].map((id) => ({
      id,
      name: "task",
      args: { description: id, subagent_type: "helper" },
    }));
    const run = { assistant_id: "tooled", input: { calls }, if_not_exists: "create" };
    assert.equal((await call(server, "POST", `/threads/${threadId}/runs/wait`, run)).status, 200);

    const script = await bundle(SUBAGENTS, nestedProject("examples/chat/web"));
    const { page, asked, rests } = await open(script, { assistantId: "tooled", threadId });
    for (const turn of ["opened", "reloaded"]) {
      if (turn === "reloaded") await page.reload();
      await page.getByRole("status").getByText("done", { exact: true }).waitFor();
      for (const id of ["one", "two"]) await page.getByText(`${id} / Did ${id}.`, { exact: true }).waitFor();
      assert.equal(await page.locator("li[data-status=complete]").count(), 2, turn);
      await rests();
      assert.deepEqual(
        asked.filter((one) => one.includes("/stream")),
        [],
        turn,
      );
    }
    await page.close();
  });
});
