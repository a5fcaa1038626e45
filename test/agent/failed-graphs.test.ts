// Tests of graphs that do not load, each kind beside graphs that do.
//   failed-graphs.1. `dev` serves the others. It names each failed graph with its file, the export and the cause: in
//     the log, to the console, and to a call for the graph. A corrected file brings the graph back.
//   failed-graphs.2. `serve` does not start, with the same words; `validate` reports all of them.
//   failed-graphs.3. A RemoteGraph inside of a graph fails nothing: the graph is drawn, and a pause of the other
//     server is an item of the inbox here.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { holdpoint } from "../harness/cli.ts";
import { writeFiles } from "../harness/project.ts";
import { NotStarted, startServerHere } from "../harness/server-here.ts";
import { call, parseLine, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const HEAD = `
import { Annotation, StateGraph, interrupt } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
const State = Annotation.Root({ said: Annotation<string> });
const build = (node: never = (() => ({ said: "yes" })) as never) =>
  new StateGraph(State).addNode("node", node).addEdge("__start__", "node" as never).compile();
const remote = new RemoteGraph({ graphId: "elsewhere", url: process.env["ELSEWHERE"] ?? "http://127.0.0.1:9" });
`;

/** A file and, by graph id: the export that langgraph.json names, and what the failure says after the file's path. */
interface Kind {
  readonly file: string;
  readonly text: string;
  readonly graphs: Readonly<Record<string, readonly [exportName: string, failure: RegExp]>>;
}

const KINDS: readonly Kind[] = [
  {
    file: "exports.ts",
    text: `${HEAD}
export const fine = build();
export const nothing = undefined;
export const number = 7;
export const away = remote;
export const promised = Promise.reject(new Error("no model"));
export const throws = () => { throw new TypeError("no key"); };
export const rejects = async () => { throw new RangeError("no route"); };
export const empty = () => undefined;
export const dangling = new StateGraph(State).addNode("a", () => ({})).addEdge("a", "b" as never);
export const opaque = Object.assign(build(), { getSubgraphsAsync() { throw new Error("no inside"); } });
`,
    graphs: {
      missing: ["absent", /, export absent\) does not load: the file has no such export \(it has .*fine/],
      nothing: ["nothing", /, export nothing\) does not load: the export is undefined, neither a graph nor/],
      number: ["number", /, export number\) does not load: the export is a value of type number, neither/],
      away: ["away", /, export away\) does not load: the export is a graph of another server: make it a node/],
      promised: ["promised", /, export promised\) does not load: no model/],
      throws: ["throws", /, export throws\) does not load: the function threw TypeError: no key/],
      rejects: ["rejects", /, export rejects\) does not load: the function threw RangeError: no route/],
      empty: ["empty", /, export empty\) does not load: the function returned undefined, neither/],
      dangling: ["dangling", /, export dangling\) does not load: compiling it threw /],
      opaque: ["opaque", /, export opaque\) does not load: reading it threw Error: no inside/],
    },
  },
  {
    file: "second.ts",
    text: `${HEAD}
export const first = build();
function make(): never {
  throw new Error("second fails");
}
export const second =
  make();
`,
    graphs: {
      first: ["first", /, export second\) does not load: Error: second fails \(second\.ts:\d+\)/],
      second: ["second", /, export second\) does not load: Error: second fails/],
    },
  },
  {
    file: "top.ts",
    text: `${HEAD}
export const top = build();
throw new Error("at the top");
`,
    graphs: { top: ["top", /top\.ts\) does not load: Error: at the top/] },
  },
  {
    file: "syntax.ts",
    text: `${HEAD}
export const before = build();
export const broken = ;
`,
    graphs: { before: ["before", /, export broken\) does not load: SyntaxError: Unexpected ";" \(syntax\.ts:\d+\)/] },
  },
  {
    file: "imports.ts",
    text: `import { gone } from "./gone.ts";\nexport const graph = gone;\n`,
    graphs: { imports: ["graph", /imports\.ts\) does not load: imports\.ts imports "\.\/gone\.ts", which does not/] },
  },
  {
    file: "absent.ts",
    text: "",
    graphs: { nofile: ["graph", /, export graph\) does not load: the file has no such export \(it has nothing\)/] },
  },
];

const GOOD = `${HEAD}
export const fine = build();
const child = new StateGraph(State).addNode("there", remote as never).addEdge("__start__", "there" as never).compile();
export const node = build(remote as never);
export const nested = build(child as never);
export const named = new StateGraph(State)
  .addNode("node", () => ({}), { subgraphs: [remote as never] }).addEdge("__start__", "node").compile();
export const undrawn = Object.assign(build(), { getGraphAsync() { throw new Error("no drawing"); } });
`;
const GOOD_GRAPHS = ["fine", "node", "nested", "named", "undrawn"];

const FAILURES = KINDS.flatMap(({ file, graphs }) =>
  Object.entries(graphs).map(([graphId, [exportName, failure]]) => ({ graphId, file, exportName, failure })),
);

/** @param only graphs of langgraph.json; without it all */
function writeProject(t: TestContext, only?: readonly string[]): string {
  const folder = temporaryFolder();
  t.after(() => removeFolder(folder));
  const failing = FAILURES.map(({ graphId, file, exportName }) => [graphId, `./${file}:${exportName}`] as const);
  const good = GOOD_GRAPHS.map((name) => [name, `./good.ts:${name}`] as const);
  const graphs = [...failing, ...good].filter(([graphId]) => only?.includes(graphId) ?? true);
  writeFiles(folder, {
    "package.json": { type: "module" },
    "langgraph.json": { graphs: Object.fromEntries(graphs) },
    "good.ts": GOOD,
    ...Object.fromEntries(KINDS.map(({ file, text }) => [file, text])),
  });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

async function startDev(t: TestContext, folder: string) {
  const { LANGGRAPH_CONFIG: _config, HOLDPOINT_DATA_DIR: _data, ...env } = process.env;
  const child = spawn(process.execPath, [join(ROOT, "packages/holdpoint/src/main.ts"), "dev"], {
    cwd: folder,
    env: { ...env, PORT: "0", HTTP_PORT: "0", TRACES_PORT: "0", LOG_JSON: "true" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let banner = "";
  child.stdout.on("data", (chunk: Buffer) => (banner += chunk.toString()));
  const logs: Record<string, unknown>[] = [];
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const told = async (event: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`it ended before it told ${event}: ${JSON.stringify(logs)}`);
      const entry = parseLine(value);
      if (entry !== null) logs.push(entry);
      if (entry?.["event"] === event) return entry;
    }
  };
  const url = String((await told("listening"))["url"]);
  const stop = async (): Promise<string> => {
    child.kill("SIGINT");
    assert.deepEqual(await once(child, "exit"), [0, null]);
    return banner;
  };
  return { url, logs, told, stop };
}

interface About {
  readonly graphs: readonly { readonly graph_id: string; readonly problem: string | null }[];
}

test("dev serves the graphs that load, and names the others with file, export and cause (failed-graphs.1)", async (t) => {
  const folder = writeProject(t);
  const server = await startDev(t, folder);
  const found: readonly { readonly graph_id: string }[] = (await call(server, "POST", "/assistants/search", {})).body;
  const served = found.map(({ graph_id: id }) => id);
  assert.deepEqual(served.toSorted(), GOOD_GRAPHS.toSorted());
  const logged = server.logs.filter(({ event }) => event === "graph_not_loaded");
  const { graphs } = (await call(server, "GET", "/console/api/about")).body as About;
  for (const { graphId, file, failure } of FAILURES) {
    const reason = logged.find(({ graph }) => graph === graphId)?.["reason"];
    assert.match(String(reason), new RegExp(`^graph "${graphId}" \\(${join(folder, file)}`));
    assert.match(String(reason), failure);
    assert.equal(graphs.find(({ graph_id: id }) => id === graphId)?.problem, reason);
    const refused = await call(server, "POST", "/runs/wait", { assistant_id: graphId, input: {} });
    assert.equal(refused.status, 404);
    assert.match((refused.body as { readonly detail: string }).detail, new RegExp(`^graph "${graphId}" \\(`));
  }
  assert.equal(logged.length, FAILURES.length);
  const fine = await call(server, "POST", "/runs/wait", { assistant_id: "fine", input: {} });
  assert.deepEqual(fine.body, { said: "yes" });

  writeFileSync(join(folder, "top.ts"), `${HEAD}\nexport const top = build();\n`);
  await server.told("graphs_reloaded");
  assert.deepEqual((await call(server, "POST", "/runs/wait", { assistant_id: "top", input: {} })).body, {
    said: "yes",
  });
  const after = (await call(server, "GET", "/console/api/about")).body as About;
  assert.equal(after.graphs.find(({ graph_id: id }) => id === "top")?.problem, null);
  const banner = await server.stop();
  for (const { graphId } of FAILURES) assert.match(banner, new RegExp(`not loaded .*\\b${graphId}\\b`));
});

test("serve does not start with a graph that does not load, and says the same (failed-graphs.2)", async (t) => {
  const names = new Set(["opaque", ...KINDS.map(({ graphs }) => Object.keys(graphs)[0])]); // others: load-graph.test.ts
  for (const { graphId, failure } of FAILURES.filter((one) => names.has(one.graphId))) {
    const folder = writeProject(t, [graphId, "fine"]);
    await assert.rejects(startServerHere({ config: join(folder, "langgraph.json") }), (error) => {
      assert.ok(error instanceof NotStarted);
      assert.equal(error.code, 1, error.message);
      assert.match(error.message, new RegExp(`^holdpoint: graph "${graphId}" \\(${folder}`, "m"));
      assert.match(error.message, failure);
      return true;
    });
  }
});

test("validate reports every graph that does not load, and passes the others (failed-graphs.2)", async (t) => {
  const { out, err, code } = await holdpoint(["validate", "--json"], { cwd: writeProject(t) });
  assert.equal(code, 1, err);
  const { graphs } = JSON.parse(out) as About;
  for (const { graphId, failure } of FAILURES)
    assert.match(String(graphs.find(({ graph_id: id }) => id === graphId)?.problem), failure);
  for (const name of GOOD_GRAPHS) assert.equal(graphs.find(({ graph_id: id }) => id === name)?.problem, null, name);
});

test("a graph with a RemoteGraph inside is drawn, runs, and asks what the other server asks (failed-graphs.3)", async (t) => {
  const elsewhere = await startServerHere({ config: join(writeElsewhere(t), "langgraph.json") });
  t.after(() => elsewhere.stop());
  process.env["ELSEWHERE"] = elsewhere.url;
  t.after(() => delete process.env["ELSEWHERE"]);
  const server = await startServerHere({ config: join(writeProject(t, GOOD_GRAPHS), "langgraph.json") });
  t.after(() => server.stop());
  for (const name of ["node", "nested", "named", "undrawn"]) {
    const { assistant_id: id } = (await call(server, "POST", "/assistants/search", { graph_id: name })).body[0] as {
      readonly assistant_id: string;
    };
    for (const path of ["graph", "graph?xray=true", "schemas", "subgraphs?recurse=true"])
      assert.equal((await call(server, "GET", `/assistants/${id}/${path}`)).status, 200, `${name} ${path}`);
  }
  for (const name of ["node", "nested"]) {
    const { thread_id: thread } = (await call(server, "POST", "/threads", {})).body as { readonly thread_id: string };
    await call(server, "POST", `/threads/${thread}/runs/wait`, { assistant_id: name, input: {} });
    const { items } = (await call(server, "GET", `/inbox?thread_id=${thread}`)).body as {
      readonly items: readonly { readonly value: unknown }[];
    };
    assert.deepEqual(
      items.map(({ value }) => value),
      ["Go on?"],
      name,
    );
    for (const path of ["state", "state?subgraphs=true", "history"])
      assert.equal((await call(server, "GET", `/threads/${thread}/${path}`)).status, 200, `${name} ${path}`);
  }
});

function writeElsewhere(t: TestContext): string {
  const folder = temporaryFolder();
  t.after(() => removeFolder(folder));
  writeFiles(folder, {
    "package.json": { type: "module" },
    "langgraph.json": { graphs: { elsewhere: "./graph.ts:graph" } },
    "graph.ts": `${HEAD}\nexport const graph = build((() => ({ said: interrupt("Go on?") })) as never);\n`,
  });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}
