// Test of `npm start`: everything in one process without configuration, a paused sample run, and its trace, from the
// real collector in the real trace store.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { readConfig } from "@holdpoint/base/config/config.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createTraceServer } from "@holdpoint/collector/traces/server.ts";
import { TRACE_SETTINGS } from "@holdpoint/collector/traces/settings.ts";
import { holdpoint } from "../harness/cli.ts";
import { IS_LONG } from "../harness/long.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

interface Dev {
  readonly url: string;
  readonly link: string;
  readonly threadId: string;
  readonly interruptId: string;
  /** The printed commands, without the program: one shows the item, one answers it. */
  readonly commands: readonly (readonly string[])[];
  /** Its welcome. */
  readonly output: string;
  readonly process: ChildProcess;
}

const LINK = /(http:\/\/[^/]+)\/console\/inbox\/([0-9a-f-]{36})\/([0-9a-f]{32})/;

/** Started in a separate folder, as by a new user; resolves after the welcome text. */
async function startDev(folder: string, ...options: readonly string[]): Promise<Dev> {
  const child = launch(folder, ...options);
  let output = "";
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const [link, url, threadId, interruptId] = LINK.exec(output) ?? [];
    const program = `node ${join(ROOT, "packages/holdpoint/src/main.ts")} `;
    const printed = output.split("\n").flatMap((line) => line.trim().split(program)[1] ?? []);
    const commands = printed.map((line) => line.split(" "));
    if (link === undefined || url === undefined || threadId === undefined || interruptId === undefined) continue;
    if (output.includes("Ctrl-C")) return { url, link, threadId, interruptId, commands, output, process: child };
  }
  throw new Error(`it ended before it said what waits:\n${output}`);
}

function launch(folder: string, ...options: readonly string[]): ChildProcess {
  const left = /^(PORT|LANGGRAPH_CONFIG|HOLDPOINT_DATA_DIR|npm_.*)$/; // npm's are those of the test run
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !left.test(name)));
  return spawn(process.execPath, [join(ROOT, "packages/holdpoint/src/main.ts"), "dev", ...options], {
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

  await checkCommands(second, folders[1]);
  const item = await call(first, "GET", `/inbox/${first.threadId}/${first.interruptId}`);
  assert.equal(item.status, 200, "the link is that of an open item");
  assert.equal(await interrupt(first), 0, "Ctrl-C ends it cleanly");

  assert.deepEqual(await Promise.all(HOSTED.map((origin) => isAllowed(second, origin))), [false, false, false]);
  const again = await startDev(folders[0], "--no-browser", "--studio", "--origin", `${HOSTED[1]}/chat?a=b`);
  t.after(() => again.process.kill("SIGKILL"));
  assert.deepEqual([again.threadId, again.interruptId], [first.threadId, first.interruptId]);
  assert.deepEqual(await Promise.all(HOSTED.map((origin) => isAllowed(again, origin))), [true, true, false]);
  assert.equal(await isAllowed(again, "http://localhost:3000"), true, "pages of this machine stay allowed");
  assert.ok(again.output.includes(`  ${HOSTED[0]}/studio/?baseUrl=${again.url}\n`), again.output);
  assert.ok(again.output.includes(`  ${HOSTED[1]}/chat?a=b\n`), again.output);
  const [show = [], approve = []] = again.commands;
  assert.deepEqual([show.slice(0, 2), approve.slice(0, 2)].join(), "inbox,show,inbox,approve");
  const shown = await holdpoint(show, { cwd: folders[0] });
  assert.match(shown.out, /refund/, shown.err);
  const answered = await holdpoint([...approve, "--wait"], { cwd: folders[0] });
  assert.equal(answered.code, 0, answered.err);
  assert.match((await call(again, "GET", `/threads/${again.threadId}/state`)).text, /Your refund is on its way/);
  assert.equal((await call(again, "GET", "/traces")).status, 200, "pages may ask the server that they come from");
  const { url } = again;
  for (const command of ["dev", "serve", "collector"]) {
    const config = command === "serve" ? ["--config", join(ROOT, "examples", "langgraph.json")] : [];
    const twice = await holdpoint([command, ...config], { cwd: folders[0] });
    assert.equal(twice.code, 1, command);
    assert.match(
      twice.err,
      new RegExp(`already runs on the data folder .*, at ${url} \\(process ${again.process.pid}\\)`),
    );
  }
  assert.equal(await interrupt(again), 0);
  assert.equal(await interrupt(second), 0);
  const stopped = await holdpoint(["inbox", "ls"], { cwd: folders[1] });
  assert.equal(stopped.code, 69, "a server that has stopped is named by nothing");

  const { runId, tree } = await readTrace(folders[0], again.threadId);
  assert.equal(tree, TREE, "the run before the restart, the wait and the run after it are one trace");
  assert.match(runId, /^[0-9a-f-]{36}$/);
});

interface About {
  readonly settings: readonly { readonly name: string; readonly value: string; readonly origin: string }[];
}

/** Commands in the folder of a dev call that dev (cli-data.6), and its settings page shows the ports in force. */
async function checkCommands(dev: Dev, folder: string): Promise<void> {
  const port = new URL(dev.url).port;
  const moved = /^ {2}ports moved .*$/m.exec(dev.output)?.[0] ?? "";
  if (port !== "2024") assert.match(moved, new RegExp(`agent server 2024 → ${port}`));
  const [shown, doctor, traces] = await Promise.all([
    holdpoint(["inbox", "show", `${dev.threadId}/${dev.interruptId}`, "--json"], { cwd: folder }),
    holdpoint(["doctor", "--json"], { cwd: folder }),
    holdpoint(["trace", "ls", "--url", `${dev.url}/console/api`, "--json"], { cwd: folder }),
  ]);
  assert.equal((JSON.parse(shown.out) as { readonly thread_id: string }).thread_id, dev.threadId, shown.err);
  const { findings } = JSON.parse(doctor.out) as { readonly findings: readonly { readonly detail: string }[] };
  assert.ok(
    findings.some(({ detail }) => detail.endsWith(` at ${dev.url}`)),
    doctor.out,
  );
  assert.equal(traces.code, 0, traces.err);
  const { settings } = (await call(dev, "GET", "/console/api/about")).body as About;
  const named = settings.find(({ name }) => name === "PORT");
  assert.deepEqual([named?.value, named?.origin], [port, port === "2024" ? "default" : "start"]);
}

test("--origin takes addresses of pages only", async () => {
  const more = ["*", "example.com", "null", "file:///etc/passwd"];
  for (const origin of ["https://*.example.com", ...(IS_LONG ? more : [])]) {
    const child = launch(process.cwd(), "--origin", origin);
    const [code] = (await once(child, "exit")) as [number | null];
    assert.equal(code, 2, origin);
  }
});

const HOSTED = ["https://smith.langchain.com", "https://chat.example.com", "https://other.example.com"] as const;

/**
 * A page there may call the server: by preflight, by a reply that it may read, and by a call that changes something.
 */
async function isAllowed(dev: Dev, origin: string): Promise<boolean> {
  const preflight = await fetch(`${dev.url}/threads`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });
  assert.equal(preflight.status, 204);
  const headers = { origin, "sec-fetch-site": "cross-site" };
  const made = await call(dev, "POST", "/threads", {}, headers);
  const names = [preflight.headers, made.headers].map((one) => one.get("access-control-allow-origin"));
  const is = made.status === 200;
  assert.deepEqual(names, is ? [origin, origin] : [null, null]);
  return is;
}

const TREE = `
invoke_agent refund-approval
  approval
  invoke_agent refund-approval
    approval
    model
      chat ScriptedModel
    tools
      refund
  model
    chat ScriptedModel
  wait approval
`;

/** The trace store of a stopped server's collector: names, children below their parent. */
async function readTrace(folder: string, threadId: string): Promise<{ readonly runId: string; readonly tree: string }> {
  const config = readConfig(
    { HOLDPOINT_DATA_DIR: join(folder, ".holdpoint"), TRACES_PORT: "0" },
    TRACE_SETTINGS,
    () => "",
  );
  const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
  const store = createTraceServer(config, { clock: systemClock, log, ring: null, version: "0.0.0" });
  await store.start();
  try {
    const server = { url: `http://127.0.0.1:${store.address().port}` };
    const found = await call(server, "GET", `/traces?thread_id=${threadId}`);
    const { items } = found.body as { readonly items: readonly { readonly trace_id: string }[] };
    assert.equal(items.length, 1);
    const runId = items[0]?.trace_id ?? "";
    const { runs } = (await call(server, "GET", `/traces/${runId}`)).body as { readonly runs: readonly TracedRun[] };
    return { runId, tree: `\n${linesBelow(runs, undefined, "").join("")}` };
  } finally {
    await store.stop();
  }
}

interface TracedRun {
  readonly id: string;
  readonly parent_run_id?: string;
  readonly name: string;
}

function linesBelow(runs: readonly TracedRun[], parent: string | undefined, indent: string): readonly string[] {
  const children = runs.filter((run) => run.parent_run_id === parent).sort((a, b) => (a.name < b.name ? -1 : 1));
  return children.flatMap(({ id, name }) => [`${indent}${name}\n`, ...linesBelow(runs, id, `${indent}  `)]);
}
