// Test of `npm start`: everything in one process with no configuration at all, and a run that waits for the newcomer.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { call, removeFolder, ROOT, temporaryFolder } from "./harness/server.ts";

interface Dev {
  readonly url: string;
  readonly link: string;
  readonly threadId: string;
  readonly interruptId: string;
  /** The JSON that the printed curl line sends. */
  readonly approval: string;
  readonly process: ChildProcess;
}

const LINK = /(http:\/\/[^/]+)\/console\/inbox\/([0-9a-f-]{36})\/([0-9a-f]{32})/;

/** Started in a folder of its own, as a newcomer would; resolves when it has said what waits. */
async function startDev(folder: string, ...options: readonly string[]): Promise<Dev> {
  const child = launch(folder, ...options);
  let output = "";
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const [link, url, threadId, interruptId] = LINK.exec(output) ?? [];
    const approval = / -d '([^']+)'\n/.exec(output)?.[1];
    if (link === undefined || url === undefined || threadId === undefined || interruptId === undefined) continue;
    if (approval !== undefined) return { url, link, threadId, interruptId, approval, process: child };
  }
  throw new Error(`it ended before it said what waits:\n${output}`);
}

function launch(folder: string, ...options: readonly string[]): ChildProcess {
  const { PORT: _port, LANGGRAPH_CONFIG: _config, HOLDPOINT_DATA_DIR: _data, ...env } = process.env;
  return spawn(process.execPath, [join(ROOT, "src", "main.ts"), "dev", ...options], {
    cwd: folder,
    env: { ...env, LOG_JSON: "true" },
    stdio: ["ignore", "pipe", "ignore"],
  });
}

async function interrupt(dev: Dev): Promise<number | null> {
  dev.process.stdout?.resume();
  dev.process.kill("SIGINT");
  const [code] = (await once(dev.process, "exit")) as [number | null];
  return code;
}

test("dev pauses a sample run and prints its link; a second one takes other ports; a restart shows the same link", async (t) => {
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  t.after(() => folders.forEach(removeFolder));
  const [first, second] = await Promise.all(folders.map((folder) => startDev(folder)));
  assert.ok(first !== undefined && second !== undefined);
  t.after(() => second.process.kill("SIGKILL"));
  assert.notEqual(first.url, second.url);

  const item = await call(first, "GET", `/inbox/${first.threadId}/${first.interruptId}`);
  assert.equal(item.status, 200, "the link is that of an open item");
  assert.equal(await interrupt(first), 0, "Ctrl-C ends it cleanly");

  const again = await startDev(folders[0], "--no-browser");
  t.after(() => again.process.kill("SIGKILL"));
  assert.deepEqual([again.threadId, again.interruptId], [first.threadId, first.interruptId]);
  const answered = await call(again, "POST", `/threads/${again.threadId}/runs/wait`, again.approval);
  assert.match(answered.text, /Your refund is on its way/);
  assert.equal(await interrupt(again), 0);
  assert.equal(await interrupt(second), 0);
});
