// The console in a real browser: one Chromium per process, one context per person of a file. It records three faults of
// any page: foreign requests, violations of the content policy, and exceptions.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium as engine, type Browser, type BrowserContext, type Page } from "playwright-core";
import { PATIENCE } from "./patience.ts";
import { startServerHere, type ServerHere, type ServerHereOptions } from "./server-here.ts";
import { call, removeFolder } from "./server.ts";

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

type Served = Pick<ServerHere, "url"> & {
  /** Origin of another site that the console leads to, whose own requests do not count. */
  readonly leadsTo?: string;
};

/** The first one takes a third of the CPU time of the other, which has windows that nobody sees. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];

export function launchChromium(...more: readonly string[]): Promise<Browser> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? PROGRAMS.find((path) => existsSync(path)) ?? "chromium";
  return engine.launch({ executablePath, args: [...ARGS, ...more] });
}

/** Shared by the files of this process; it ends with the last of them. */
let chromium: Promise<Browser> | null = null;
let users = 0;

export async function startBrowser(server: Served): Promise<ConsoleBrowser> {
  users++;
  const chrome = await (chromium ??= launchChromium());
  const wrongs: string[] = [];
  const people: People = new Map();
  return {
    ...openPages({ chrome, people, wrongs }, server),
    async close() {
      for (const person of people.values()) await (await person).close();
      if (--users === 0) {
        chromium = null;
        await chrome.close();
      }
      assert.deepEqual(wrongs, []);
    },
  };
}

export interface TestConsole {
  readonly server: ServerHere;
  readonly browser: ConsoleBrowser;
}

export async function startConsole(options: ServerHereOptions = {}): Promise<TestConsole> {
  const server = await startServerHere({ ...options, limits: { schemaTimeoutMs: 300_000, ...options.limits } });
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

/** By address and options. */
type People = Map<string, Promise<BrowserContext>>;

interface Used {
  readonly chrome: Browser;
  readonly people: People;
  readonly wrongs: string[];
}

function openPages(used: Used, server: Served): Omit<ConsoleBrowser, "close"> {
  const { chrome, people, wrongs } = used;
  return {
    async open(path, options = {}) {
      const person = `${server.url} ${JSON.stringify(options)}`;
      const known = people.get(person) ?? newPerson(chrome, options);
      people.set(person, known);
      const page = await (await known).newPage();
      watch(page, path, server, wrongs);
      await page.goto(`${server.url}/console${path}`);
      return page;
    },
    of: (other) => ({ ...openPages(used, other), close: async () => undefined }),
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
  context.setDefaultTimeout(PATIENCE.timeout);
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

/** What depends on the colour scheme: the rest of a page's faults is the same in both. */
const COLOURS = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

/** Accessibility faults of the current page, one per line. */
async function findFaults(page: Page, runOnly: object): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const { violations } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify({ runOnly, resultTypes: ["violations"] })})`,
  )) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = "" }) => `${id}: ${target.join(" ")}: ${failureSummary.replaceAll(/\s+/g, " ")}`,
    ),
  );
}

/** The current page has no accessibility faults, light and dark. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  await assertColours(page);
  await page.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(await findFaults(page, { type: "tag", values: WCAG }), [], "light");
}

/** Its colours have enough contrast, in the scheme of the page. */
export async function assertColours(page: Page): Promise<void> {
  assert.deepEqual(await findFaults(page, COLOURS), [], "colours");
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
