// Tests of the other commands: threads, traces, doctor, validate, new.
// Rules:
//   cli.1. The verbs list, show and delete threads and traces by id prefix, as tables that fit and as JSON.
//   cli.2. Irreversible commands ask first.
//   cli.3. An unreachable server, an invalid key and an invalid URL are one-line errors with the remedy.
//   cli.4. Closing the output early is not an error.
//   cli.5. A project of `new` is valid, and runs until it pauses; `new` replaces no existing file.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createTraceServer, type TraceServer } from "@holdpoint/collector/traces/server.ts";
import { folderCheck } from "../../packages/holdpoint/src/cli/commands/checks/machine-checks.ts";
import { holdpoint, lines, verb, type Ended } from "../harness/cli.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { freePort } from "../harness/postgres/free-port.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { newThread } from "../harness/threads.ts";

let server: ServerHere;
let traces: TraceServer;
const folder = temporaryFolder();
const silent = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });

before(async () => {
  const limits = { traceBytesMax: 10_000_000, traceAgeMax: 3_600_000, search: null };
  traces = createTraceServer(
    {
      allowedHosts: null,
      tracePort: 0,
      dataDir: join(folder, "traces"),
      ...limits,
    },
    { clock: systemClock, log: silent, ring: null, version: "0" },
  );
  await traces.start();
  server = await startServerHere();
});
after(async () => {
  await traces.stop(); // first: a server that did not start must not keep the process
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

const LOCAL: ReadonlySet<string | undefined> = new Set(["doctor", "new", "validate"]);

/** Commands that read the files of their folder run as processes; those that only call a server run here. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = folder): Promise<Ended> {
  const traceUrl = `http://127.0.0.1:${traces.address().port}`;
  const how = LOCAL.has(args[0]) ? holdpoint : verb;
  const at = args[0] === "trace" && !args.includes("--url") ? ["--url", traceUrl] : [];
  return how([...args, ...at], { env: { HOLDPOINT_URL: server.url, ...env }, cwd });
}

test("lists, shows, cancels and deletes threads by id prefix (cli.1, cli.2)", async () => {
  const paused = await newThread(server, "echo", { metadata: { tenant: "acme" } });
  await paused.run({ input: { payload: "Well?" } });
  const done = await newThread(server, "echo", { metadata: { tenant: "acme" } });
  await done.run({ input: { payload: "Well?" } });
  await done.resume("yes");

  const filter = ["--metadata", '{"tenant":"acme"}'];
  const listed = lines((await run(["threads", "ls", ...filter, "--json"])).out) as readonly {
    readonly thread_id: string;
  }[];
  assert.deepEqual(
    listed.map(({ thread_id: id }) => id),
    [done.threadId, paused.threadId],
  );
  const narrow = await run(["threads", "ls", ...filter], { COLUMNS: "44" });
  assert.match(narrow.out, /^THREAD +STATUS +GRAPH +PENDING\n\S+ +idle +echo\n\S+ +interrupted +echo +1 answer\n$/);
  const [, short = ""] = /\n(\S+) +interrupted/.exec(narrow.out) ?? [];
  assert.ok(paused.threadId.startsWith(short));

  const [shown, state, history, cancelled] = await Promise.all([
    run(["threads", "show", short]),
    run(["threads", "state", done.threadId]),
    run(["threads", "history", done.threadId, "--json"]),
    run(["threads", "cancel", short]),
  ]);
  assert.match(shown.out, /pending +[0-9a-f]{8} Well\?/);
  assert.deepEqual((JSON.parse(state.out) as { readonly answer: unknown }).answer, ["yes"]);
  const checkpoints = lines(history.out) as readonly { readonly checkpoint: { readonly checkpoint_id: string } }[];
  assert.equal(checkpoints.length, 3);
  assert.equal(cancelled.out, "No active runs.\n");
  const first = checkpoints[1]?.checkpoint.checkpoint_id ?? "";
  assert.deepEqual(JSON.parse((await run(["threads", "state", done.threadId, "--at", first])).out), {
    payload: "Well?",
  });

  for (const verb of ["end", "delete"]) {
    const unasked = await run(["threads", verb, short]);
    assert.deepEqual([unasked.code, /--yes$/m.test(unasked.err)], [2, true]);
  }
  assert.equal((await paused.open()).length, 1);
  assert.equal((await run(["threads", "end", short, "--yes"])).out, `ended  ${paused.threadId.slice(0, 13)}\n`);
  assert.equal((await paused.open()).length, 0);
  const deleted = await run(["threads", "delete", short, done.threadId, "--yes", "--json"]);
  assert.equal(lines(deleted.out).length, 2);
  assert.equal((await run(["threads", "ls", ...filter])).out, "No matching threads.\n");
});

test("a run in progress is cancelled (cli.1)", async () => {
  const thread = await newThread(server, "hanging");
  const started = await call(server, "POST", `/threads/${thread.threadId}/runs`, {
    assistant_id: "hanging",
    input: {},
  });
  const { run_id: id } = started.body as { readonly run_id: string };
  const later = await call(server, "POST", `/threads/${thread.threadId}/runs`, {
    assistant_id: "hanging",
    input: {},
    multitask_strategy: "enqueue",
  });
  const { run_id: next } = later.body as { readonly run_id: string };
  const ambiguous = await run(["threads", "cancel", thread.threadId, id.slice(0, 2)]);
  assert.deepEqual([ambiguous.code, ambiguous.out], [1, ""], "of two runs that begin alike, none is cancelled");
  const one = await run(["threads", "cancel", thread.threadId, next, "--json"]);
  assert.deepEqual(JSON.parse(one.out), { thread_id: thread.threadId, cancelled: [next] });
  const cancelled = await run(["threads", "cancel", thread.threadId, "--json"]);
  assert.deepEqual(JSON.parse(cancelled.out), { thread_id: thread.threadId, cancelled: [id] });
  await thread.reaches("idle");
});

const TRACE = "0198c0de-0000-7000-8000-000000000001";
const CHILD = "0198c0de-0000-7000-8000-000000000002";
const LEAF = "0198c0de-0000-7000-8000-000000000003";
const START = "2026-11-21T10:00:00.000000Z";
const ORDER = `20261121T100000000000Z${TRACE}`;

async function upload(): Promise<void> {
  const base = { trace_id: TRACE, session_name: "shop", start_time: START, end_time: "2026-11-21T10:00:02.000000Z" };
  const order = `${ORDER}.20261121T100001000000Z${CHILD}`;
  const runs = [
    { ...base, id: TRACE, name: "refund", run_type: "chain", dotted_order: ORDER, inputs: {}, outputs: {} },
    {
      ...base,
      id: CHILD,
      parent_run_id: TRACE,
      name: "plan",
      run_type: "chain",
      dotted_order: order,
      start_time: "2026-11-21T10:00:01.000000Z",
      error: "no\u001b[31m such\norder",
    },
    {
      ...base,
      id: LEAF,
      parent_run_id: CHILD,
      name: "model",
      run_type: "llm",
      dotted_order: `${order}.20261121T100001000000Z${LEAF}`,
      outputs: { text: "refunded" },
      extra: { metadata: { usage_metadata: { total_cost: 0.02 } } },
    },
  ];
  const store = { url: `http://127.0.0.1:${traces.address().port}` };
  const answer = await call(store, "POST", "/runs/batch", { post: runs, patch: [] });
  assert.equal(answer.status, 202, answer.text);
}

test("traces are listed, and shown as trees that fit (cli.1)", async () => {
  await upload();
  const [listed, json, shown, narrow, none] = await Promise.all([
    run(["trace", "ls"]),
    run(["trace", "ls", "--json", "--project", "shop"]),
    run(["trace", "show", TRACE.slice(0, 9)]),
    run(["trace", "show", TRACE], { COLUMNS: "50" }),
    run(["trace", "ls", "--project", "none"]),
  ]);
  assert.match(
    listed.out,
    /^TRACE +AGE +NAME +STATUS +TIME +RUNS +COST +PROJECT\n0198c0de-0000 +\S+ +refund +success +2\.0s +3 +\$0\.02 +shop/,
  );
  assert.equal((lines(json.out) as readonly { readonly trace_id: string }[])[0]?.trace_id, TRACE);
  assert.match(shown.out, /\nrefund .*\n└─ plan .* error .*no.* such order.*\n {3}└─ model /);
  assert.match(shown.out, /refund .* █{24}\n.*plan .* ·{12}█{12}\n/);
  assert.match(shown.out, /^refund .*\$0\.02.*\n/, "the cost of the whole trace");
  assert.match(shown.out, /└─ model .* \$0\.02/);
  assert.doesNotMatch(shown.out, /output/, "the model's parent failed: its output is not the result");
  assert.doesNotMatch(shown.out, /\u001b/);
  for (const line of narrow.out.split("\n")) assert.ok(line.length <= 50, line);
  assert.equal(none.out, "No matching traces.\n");
});

test("an unreachable server and an invalid command are one-line errors (cli.3)", async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const other = `http://127.0.0.1:${traces.address().port}`;
  const cases: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [["inbox", "ls", "--url", nobody], 69, /no server responds at .*: start one with holdpoint dev/],
    [["trace", "ls", "--url", nobody], 69, /holdpoint dev or holdpoint collector/],
    [["inbox", "ls", "--url", other], 1, /404|not_found/],
    [["inbox", "ls", "--url", "localhost:2024"], 2, /--url is not a URL/],
    [["inbox", "ls", "--url", "http://ann:canary-secret@localhost"], 2, /must not contain a user/],
    [["inbox", "ls", "--api-key", "canary-secret\nx"], 2, /--api-key/],
    [["inbox", "ls", "--limit", "0"], 2, /expected a number from 1/],
    [["inbox", "ls", "--older-than", "soon"], 2, /--older-than/],
    [["inbox", "ls", "--kind", "x"], 2, /is invalid: expected one of tool_approval, form/],
    [["inbox", "review", "--json"], 2, /unknown option '--json'/],
    [["inbox", "look"], 2, /unknown command/],
    [["threads", "show", "zz"], 1, /no thread has an id starting with "zz"/],
  ];
  await Promise.all(
    cases.map(async ([args, code, says]) => {
      const said = await run(args);
      assert.deepEqual([said.code, said.out], [code, ""], `${args.join(" ")}: ${said.err}`);
      assert.match(said.err, says);
      assert.doesNotMatch(said.err, /canary-secret/);
      assert.equal(said.err.trimEnd().split("\n").length, 1, said.err);
    }),
  );
  const wrong = await run(["inbox", "ls"], { HOLDPOINT_URL: "", LANGGRAPH_API_URL: nobody });
  assert.match(wrong.err, new RegExp(nobody));
});

test("an output that is closed early is no error (cli.4)", async () => {
  const main = join(ROOT, "packages/holdpoint/src/main.ts");
  const script = `"${process.execPath}" "${main}" doctor --url ${server.url} | true; echo "$PIPESTATUS"`;
  const ended = await new Promise<Ended>((resolve) =>
    execFile("bash", ["-c", script], (error, out, err) => resolve({ code: error === null ? 0 : 1, out, err })),
  );
  assert.deepEqual([ended.out.trim(), ended.err], ["0", ""]);
});

interface Found {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
}

test("doctor reports failures and their remedies, and changes nothing (cli.3)", async () => {
  const home = join(folder, "doctor");
  mkdirSync(home);
  const ports = { HTTP_PORT: String(await freePort()), TRACES_PORT: String(traces.address().port) };
  const well = await run(["doctor", "--json", "--url", server.url], ports, home);
  const { ok, findings } = JSON.parse(well.out) as { readonly ok: boolean; readonly findings: readonly Found[] };
  assert.deepEqual(
    findings.map(({ check, status }) => `${check} ${status}`),
    [
      "node ok",
      "settings ok",
      "data folder ok",
      "disk space ok",
      "langgraph.json warn",
      "server ok",
      "server ok",
      "collector warn",
      "traces ok",
    ],
  );
  assert.match(findings.at(-1)?.detail ?? "", /one was written, read back and deleted$/);
  const left = await fetch(`http://127.0.0.1:${ports.TRACES_PORT}/traces?project=holdpoint%20doctor`);
  assert.deepEqual(((await left.json()) as { readonly items: unknown }).items, []);
  assert.deepEqual([well.code, ok], [0, true]);
  writeFileSync(join(home, "langgraph.json"), '{"graphs": {"a": "./a.py:graph"}, "uo": 1}');
  const ill = await run(
    ["doctor", "--url", `http://127.0.0.1:${ports.HTTP_PORT}`],
    {
      ...ports,
      HOLDPOINT_DATA_DIR: join(home, "langgraph.json", "data"),
      TRACING_ENDPOINT: `http://127.0.0.1:${ports.HTTP_PORT}`,
      TRACING_API_KEY: "canary-secret",
      COLUMNS: "60",
    },
    home,
  );
  assert.equal(ill.code, 1);
  assert.doesNotMatch(ill.out + ill.err, /canary-secret/);
  for (const says of [
    /^fail {2}data folder .* is not a folder\n.*→ .*HOLDPOINT_DATA_DIR/m,
    /^fail {2}langgraph.json .*Python graph/m,
    /^fail {2}server .*\n.*→ start one: node .*main\.ts dev/m,
    /^fail {2}traces .*\n.*→ check TRACING_ENDPOINT/m,
  ])
    assert.match(ill.out, says);
  const unset = await run(["doctor", "--json"], { ...ports, PORT: "many" }, home);
  assert.match(unset.out, /PORT: \\"many\\" is not a whole number/);
});

test("doctor reads the database of a folder without a server, and leaves nothing there (cli.3)", async () => {
  const home = join(folder, "doctor-of-data");
  mkdirSync(home);
  const file = join(home, "holdpoint.db");
  new DatabaseSync(file).exec("CREATE TABLE threads (thread_id); INSERT INTO threads VALUES (1)");
  assert.equal((await folderCheck(home)).status, "ok");
  writeFileSync(file, readFileSync(file).fill(7, 4096, 4200));
  const { status, detail } = await folderCheck(home);
  assert.match(`${status} ${detail}`, /^fail the database in .* is damaged: /);
  assert.deepEqual(readdirSync(home), ["holdpoint.db"]);
});

test("doctor fails for a trace store that accepts a trace and does not keep it, or refuses it (cli.3)", async () => {
  const home = join(folder, "doctor-of-traces");
  mkdirSync(home);
  for (const [accepts, says] of [
    [
      202,
      /^fail {2}traces +.* does not keep the trace that it accepted\n.*→ check its log, the disk, and the data folder$/m,
    ],
    [500, /^fail {2}traces +.* refused a trace \(500\)$/m],
  ] as const) {
    const forgetful = createServer((request, response) => {
      const status = request.method === "POST" ? accepts : request.url === "/info" ? 200 : 404;
      request.resume().on("end", () => response.writeHead(status).end("{}"));
    }).listen(0, "127.0.0.1");
    await once(forgetful, "listening");
    const { port } = forgetful.address() as AddressInfo;
    const { code, out } = await run(["doctor"], { TRACES_PORT: String(port) }, home);
    forgetful.close();
    assert.match(out, says);
    assert.equal(code, 1);
  }
});

test("validate loads every graph, names those that fail, and warns of unknown keys (cli.5)", async () => {
  const home = join(folder, "validate");
  mkdirSync(home);
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  writeFileSync(join(home, "package.json"), '{"type":"module"}');
  const source = 'import { StateGraph, MessagesAnnotation } from "@langchain/langgraph"; console.log("loading");\n';
  writeFileSync(
    join(home, "good.ts"),
    `${source}export const graph = new StateGraph(MessagesAnnotation).addNode("one", () => ({})).addEdge("__start__", "one").compile();\n`,
  );
  writeFileSync(join(home, "bad.ts"), "throw new Error('no such model');\n");
  const file = join(home, "langgraph.json");
  writeFileSync(
    file,
    JSON.stringify({
      graphs: { good: "./good.ts:graph", bad: "./bad.ts:graph", missing: "./good.ts:none" },
      auth: { path: "./none.ts:auth" },
      uo: 1,
    }),
  );
  const found = await run(["validate", "-c", file]);
  assert.equal(found.code, 1);
  assert.match(
    found.out,
    /^ok {4}good: one\nfail {2}graph "bad" .*no such model.*\nfail {2}graph "missing" .*\nfail {2}auth\.path: .*the file does not exist.*\nwarn {2}"uo" is not a known key and has no effect: did you mean "ui"\?\n$/,
  );
  const json = await run(["validate", "--json"], {}, home);
  assert.equal((JSON.parse(json.out) as { readonly valid: boolean }).valid, false);
  const absent = await run(["validate", "-c", join(folder, "none.json")]);
  assert.deepEqual([absent.code, /cannot be read/.test(absent.out)], [1, true]);
});

test("a new project is valid, and runs until it pauses for a person (cli.5)", async () => {
  const home = join(folder, "My Project");
  const made = await run(["new", "My Project"]);
  assert.deepEqual([made.code, made.err], [0, ""]);
  const ownPackage = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
    readonly name: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const { dependencies } = JSON.parse(
    readFileSync(join(ROOT, "packages/holdpoint/package.json"), "utf8"),
  ) as typeof ownPackage;
  assert.equal(ownPackage.name, "my-project");
  const fromPackage = /^(?:file:.*\/dist\/packages\/holdpoint-[\d.]+\.tgz|\^[\d.]+)$/;
  assert.match(ownPackage.dependencies["holdpoint"] ?? "", fromPackage); // published.test.ts has the switch
  for (const [name, version] of Object.entries(ownPackage.dependencies))
    assert.ok(name === "holdpoint" || version === dependencies[name], name);
  assert.match(readFileSync(join(home, ".gitignore"), "utf8"), /node_modules/);

  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules")); // as npm install would
  const valid = await run(["validate"], {}, home);
  assert.deepEqual([valid.code, valid.out], [0, "ok    agent: draft, review\n"]);
  const own = await startServerHere({ config: join(home, "langgraph.json") });
  try {
    const thread = await newThread(own, "agent");
    await thread.run({ input: { messages: [{ role: "user", content: "The release is out" }] } });
    const env = { HOLDPOINT_URL: own.url };
    const [item] = lines((await run(["inbox", "ls", "--json"], env)).out) as readonly { readonly id: string }[];
    const edited = await run(["inbox", "edit", item?.id ?? "", "--set", "urgent=true", "--wait"], env);
    assert.equal(edited.code, 0, edited.err);
    assert.match(
      (await run(["threads", "state", thread.threadId], env)).out,
      /Sent to team@example.com: The release is out \(urgent\)/,
    );
  } finally {
    await own.stop();
    removeFolder(own.dataDir);
  }

  writeFileSync(join(home, "agent.ts"), "mine");
  const again = await run(["new", "My Project"]);
  assert.deepEqual([again.code, again.err], [1, "holdpoint: My Project is not empty: choose a new or empty folder\n"]);
  assert.equal(readFileSync(join(home, "agent.ts"), "utf8"), "mine");
});
