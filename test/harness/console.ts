// The console in a real browser: one Chromium per file, one context per person. It records three faults of any page:
// foreign requests, violations of the content policy, and exceptions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { call, removeFolder, startServer, type ServerOptions, type TestServer } from "./server.ts";

export interface PersonOptions {
  readonly name?: string;
  /** Undo period of an answer; 0, the default of tests, confirms every answer instead. */
  readonly holdSecs?: number;
  /** Opens the next item after a decision; tests stay on the item by default. */
  readonly advances?: boolean;
  readonly scheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

export interface ConsoleBrowser {
  open(path: string, options?: PersonOptions): Promise<Page>;
  /** The same browser process for another server. */
  of(other: Served): ConsoleBrowser;
  /** Fails with the recorded faults. */
  close(): Promise<void>;
}

type Served = Pick<TestServer, "url"> & {
  /** Origin of another site that the console leads to, whose own requests do not count. */
  readonly leadsTo?: string;
};

/** Time limit of a single step; a machine that is busy takes its time. */
const PATIENCE_MS = 60_000;

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
}

export async function startBrowser(server: Served): Promise<ConsoleBrowser> {
  const chrome = await launchChromium();
  const wrongs: string[] = [];
  return {
    ...openPages(chrome, server, wrongs),
    async close() {
      await chrome.close();
      assert.deepEqual(wrongs, []);
    },
  };
}

export interface TestConsole {
  readonly server: TestServer;
  readonly browser: ConsoleBrowser;
}

export async function startConsole(options: ServerOptions = {}): Promise<TestConsole> {
  const server = await startServer(options);
  try {
    return { server, browser: await startBrowser(server) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Fails with the faults that the browser recorded. */
export async function stopConsole({ server, browser }: TestConsole): Promise<void> {
  try {
    await browser.close();
  } finally {
    await server.stop();
    removeFolder(server.dataDir);
  }
}

function openPages(chrome: Browser, server: Served, wrongs: string[]): Omit<ConsoleBrowser, "close"> {
  const people = new Map<string, Promise<BrowserContext>>();
  return {
    async open(path, options = {}) {
      const person = JSON.stringify(options);
      const known = people.get(person) ?? newPerson(chrome, options);
      people.set(person, known);
      const page = await (await known).newPage();
      watch(page, path, server, wrongs);
      await page.goto(`${server.url}/console${path}`);
      return page;
    },
    of: (other) => ({ ...openPages(chrome, other, wrongs), close: async () => undefined }),
  };
}

async function newPerson(
  chrome: Browser,
  { name = "", holdSecs = 0, advances = false, scheme = "light", width = 1280, height = 800 }: PersonOptions,
): Promise<BrowserContext> {
  const context = await chrome.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: "reduce",
  });
  await context.addInitScript(
    ([by, secs, next]) => {
      localStorage.setItem("holdpoint.name", JSON.stringify(by));
      localStorage.setItem("holdpoint.hold_secs", JSON.stringify(secs));
      localStorage.setItem("holdpoint.advance", JSON.stringify(next));
      // The graph `echo` keeps the payload in its state: open, the state would show every text a second time.
      if (localStorage.getItem("holdpoint.item_state") === null) localStorage.setItem("holdpoint.item_state", "closed");
    },
    [name, holdSecs, advances] as const,
  );
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

function watch(page: Page, path: string, server: Served, wrongs: string[]): void {
  page.on("pageerror", (error) => wrongs.push(`${path}: ${error.message}`));
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) wrongs.push(`${path}: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { leadsTo } = server;
    if (leadsTo !== undefined && (request.url().startsWith(leadsTo) || page.url().startsWith(leadsTo))) return;
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${server.url}/`)) {
      wrongs.push(`${path} asked for ${request.url()}`);
    }
  });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
  }[];
}

/** Accessibility faults of the current page, one per line. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify({ runOnly: { type: "tag", values: WCAG }, resultTypes: ["violations"] })})`,
  )) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = "" }) => `${id}: ${target.join(" ")}: ${failureSummary.replaceAll(/\s+/g, " ")}`,
    ),
  );
}

/** The current page has no accessibility faults, light and dark. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await accessibilityFaults(page), [], colorScheme);
  }
}

/**
 * Replaces the text of a JSON editor by keyboard. Playwright's `fill` selects in one step and types in another; in
 * between the editor may restore its own selection, and insert the text instead of replacing it.
 */
export async function typeInto(page: Page, editor: string, text: string): Promise<void> {
  await page.getByRole("textbox", { name: editor }).focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

/** A paused thread of the graph `echo`, with this interrupt value. */
export async function ask(server: Served, payload: unknown, metadata: object = {}): Promise<string> {
  const { body: thread } = await call(server, "POST", "/threads", { metadata });
  const { thread_id: threadId } = thread as { readonly thread_id: string };
  const paused = await call(server, "POST", `/threads/${threadId}/runs/wait`, {
    assistant_id: "echo",
    input: { payload },
  });
  assert.equal(paused.status, 200, paused.text);
  return threadId;
}

/** The answer that the graph `echo` received; waits for the run that the answer starts. */
export async function readRunAnswer(server: Served, threadId: string): Promise<unknown> {
  const { body: runs } = await call(server, "GET", `/threads/${threadId}/runs`);
  const [newest] = runs as readonly { readonly run_id: string }[];
  await call(server, "GET", `/threads/${threadId}/runs/${newest?.run_id}/join`);
  const { body: state } = await call(server, "GET", `/threads/${threadId}/state`);
  const { values } = state as { readonly values: { readonly answer?: readonly unknown[] } };
  return values.answer?.[0];
}
