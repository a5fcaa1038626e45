// Test of the code in the how-to pages: copies of it behave as the page says. Rules:
//   how-to.1. The programs of "Embed" serve the graph in Hono and in Express, below their path, to the official client;
//        SIGTERM ends them, and the next start has the pause. The route handler for Next answers its requests. The
//        page's test passes.
//   how-to.2. The graphs of "Ask for approval" take answers as clients send them, and reject others.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Client } from "@langchain/langgraph-sdk";
import { readExampleCode } from "../fixtures/how-to.ts";
import { writeFiles } from "../harness/project.ts";
import { testInLong } from "../harness/long.ts";
import { ROOT } from "../harness/server.ts";

// Below the repository, so that the name of the package leads to its own sources.
const folder = mkdtempSync(join(ROOT, "test", ".work-how-to-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Modules that an earlier program has loaded are not compiled again. */
const ENV = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: join(ROOT, "node_modules", ".cache", "node") };

/** Writes the code of a page; @returns the folder */
function written(page: string, name: string): string {
  const target = join(folder, name);
  mkdirSync(target);
  writeFiles(target, readExampleCode(page));
  return target;
}

async function start(cwd: string, file: string) {
  const env = { ...ENV, PORT: "0" };
  const child = spawn(process.execPath, [join(cwd, file)], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const client = new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } });
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "exit"), [0, null]);
  };
  return { url, client, stop };
}

const mail = { to: "ada@example.com", text: "Hello" };
const approve = { command: { resume: { decisions: [{ type: "approve" }] } } };

for (const [file, testIt] of [
  ["hono.ts", testInLong],
  ["express.ts", test],
] as const) {
  testIt(`${file} serves the graph below its path, and the pause survives a restart (how-to.1)`, async () => {
    const cwd = written("embed.md", file.slice(0, -3));
    const first = await start(cwd, file);
    assert.equal(await (await fetch(new URL("/", first.url))).text(), "The program's own page");
    const { thread_id: thread } = await first.client.threads.create();
    const events: string[] = [];
    for await (const { event } of first.client.runs.stream(thread, "mail", { input: mail })) events.push(event);
    assert.ok(events.includes("values"), events.join());
    assert.equal((await first.client.threads.get(thread)).status, "interrupted");
    const created = await fetch(`${first.url}/threads/${thread}/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "mail", ...approve, after_seconds: 3600 }),
    });
    assert.equal(created.status, 422); // also refusals come from below the path
    for (const page of [first.url, `${first.url}/docs/`]) {
      const { status, headers } = await fetch(page); // the printed link leads to the console
      assert.deepEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"], page);
    }
    await first.stop();

    const second = await start(cwd, file);
    const values = await second.client.runs.wait(thread, "mail", approve);
    assert.equal((values as { readonly sent?: boolean }).sent, true);
    await second.stop();
  });
}

test("the route handler for Next answers below its path (how-to.1)", async () => {
  const cwd = written("embed.md", "next");
  const script = `
    process.chdir(${JSON.stringify(cwd)});
    const { GET, POST } = await import("./route.ts");
    const asked = (path, body) => new Request("http://localhost:3000/api/agents" + path, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const paused = await POST(asked("/runs/wait", { assistant_id: "mail", input: ${JSON.stringify(mail)} }), {});
    const inbox = await GET(new Request("http://localhost:3000/api/agents/inbox"));
    console.log(paused.status, paused.headers.get("connection"), (await inbox.json()).items[0].title);
    const none = await GET(new Request("http://localhost:3000/elsewhere"));
    console.log(none.status);
    await (await globalThis.holdpoint).close();
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { cwd, env: ENV, stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  assert.deepEqual(await once(child, "close"), [0, null], output);
  assert.match(output, /^200 null send_email\(to: "[^\n]*\n404\n$/);
});

test("the page's own test passes (how-to.1)", async () => {
  const cwd = written("embed.md", "test");
  const child = spawn(process.execPath, ["--test", "graph.test.ts"], {
    cwd,
    env: ENV,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  assert.deepEqual(await once(child, "close"), [0, null], output);
  assert.match(output, /pass 1\b/);
});

test("the graphs of the approval page accept answers in the form of clients (how-to.2)", async () => {
  const cwd = written("ask-for-approval.md", "approval");
  const { createHoldpoint } = await import("../../packages/holdpoint/src/exports/create-holdpoint.ts");
  const importGraph = async (file: string): Promise<object> =>
    ((await import(pathToFileURL(join(cwd, file)).href)) as { readonly graph: object }).graph;
  const holdpoint = await createHoldpoint({
    graphs: {
      refund: await importGraph("refund.ts"),
      invoice: await importGraph("invoice.ts"),
      route: await importGraph("route.ts"),
    },
    dataDir: join(cwd, "data"),
  });
  const client = new Client({ apiUrl: "http://localhost", callerOptions: { fetch: holdpoint.fetch, maxRetries: 0 } });
  const run = async (graph: string, input: object, wrong: readonly unknown[], right: readonly unknown[]) => {
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, graph, { input: { ...input } });
    for (const resume of wrong)
      await assert.rejects(
        client.runs.wait(thread, graph, { command: { resume } }),
        /answer_invalid|422/,
        JSON.stringify(resume),
      );
    let values: unknown;
    for (const resume of right) values = await client.runs.wait(thread, graph, { command: { resume } });
    return values as Record<string, unknown>;
  };
  try {
    const refund = { refund: { order: "A1", amount: 100 } };
    const edit = (amount: unknown) => ({
      decisions: [{ type: "edit", editedAction: { name: "refund", args: { order: "A1", amount } } }],
    });
    const edited = await run(
      "refund",
      refund,
      [true, { decisions: [{ type: "respond" }] }, edit(501), edit("9")],
      [edit(9)],
    );
    assert.equal(edited["result"], "refunded 9 for A1");
    const approved = await run("refund", refund, [], [{ decisions: [{ type: "approve" }] }]);
    assert.equal(approved["result"], "refunded 100 for A1");
    const rejected = await run("refund", refund, [], [{ decisions: [{ type: "reject", message: "too late" }] }]);
    assert.equal(rejected["result"], "too late");
    const invoice = await run(
      "invoice",
      { file: "a.png" },
      [{ number: "1", amount: 3 }],
      [{ number: "R-1", amount: 3 }],
    );
    assert.deepEqual(invoice["invoice"], { number: "R-1", amount: 3, paid: false });
    const routed = await run("route", { ticket: "It is broken" }, ["nobody"], ["technical", ["bug"]]);
    assert.deepEqual([routed["team"], routed["labels"]], ["technical", ["bug"]]);
  } finally {
    await holdpoint.close();
  }
});
