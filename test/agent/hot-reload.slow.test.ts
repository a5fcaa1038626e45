// Test of `holdpoint dev` with a project whose files change.
// Rules:
//   agent/hot-reload.1. A changed file and its importers load again; a paused thread continues in the new code.
//   agent/hot-reload.2. A run in progress ends in its first code.
//   agent/hot-reload.3. The log has one line for a file that does not load, with its position, and the old graph stays.
//   agent/hot-reload.4. The server loads a new graph in langgraph.json; for other changes there the log requests a
//   restart, and names an unknown key.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { testInLong, testInShort } from "../harness/long.ts";
import { call, parseLine, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const GRAPH = `
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { word } from "WORD";
const State = Annotation.Root({ gate: Annotation<string>(), said: Annotation<string>() });
async function node({ gate }: typeof State.State) {
  if (gate !== undefined) await (await fetch(gate)).text();
  else interrupt("Go on?");
  return { said: word };
}
export const graph = new StateGraph(State).addNode("node", node).addEdge(START, "node").addEdge("node", END).compile();
`;

for (const [kind, packageJson, specifier, inForm] of [
  ["a project of modules", { type: "module" }, "./parts/word.js", testInShort],
  ["a project without a type", {}, "./parts/word", testInLong],
] as const)
  inForm(`in ${kind}, graphs are loaded anew when their files change, and nothing that waits or runs is lost`, (t) =>
    reloads(t, packageJson, specifier),
  );

async function reloads(t: TestContext, packageJson: object, specifier: string): Promise<void> {
  const folder = temporaryFolder();
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, "parts"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  write("package.json", JSON.stringify(packageJson));
  write("graph.ts", GRAPH.replace("WORD", specifier));
  write("parts/word.ts", 'export const word = "old";\n');
  const config = (more: object) =>
    write("langgraph.json", JSON.stringify({ graphs: { talk: "./graph.ts:graph" }, ...more }));
  config({});

  let held: ServerResponse | undefined;
  const gate = createServer((_, response) => void (held = response)).listen(0, "127.0.0.1");
  const asked = once(gate, "request");
  const { LANGGRAPH_CONFIG: _config, ...env } = process.env;
  const child = spawn(process.execPath, [join(ROOT, "packages/holdpoint/src/main.ts"), "dev"], {
    cwd: folder,
    env: {
      ...env,
      PORT: "0",
      HTTP_PORT: "0",
      TRACES_PORT: "0",
      HOLDPOINT_DATA_DIR: join(folder, "data"),
      LOG_JSON: "true",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => {
    child.kill("SIGKILL");
    gate.close();
    removeFolder(folder);
  });
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const told = async (event: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`it ended before it told ${event}`);
      const entry = parseLine(value); // null for a warning of Node's
      if (entry?.["event"] === event) return entry;
    }
  };
  const server = { url: String((await told("listening"))["url"]) };
  const post = async (path: string, body: object): Promise<Record<string, unknown>> =>
    (await call(server, "POST", path, body)).body;
  const newThread = async (): Promise<string> => `/threads/${String((await post("/threads", {}))["thread_id"])}`;

  const [waits, runs] = [await newThread(), await newThread()];
  await post(`${waits}/runs/wait`, { assistant_id: "talk", input: {} });
  const address = `http://127.0.0.1:${(gate.address() as AddressInfo).port}/`;
  const running = post(`${runs}/runs/wait`, { assistant_id: "talk", input: { gate: address } });
  await asked;

  write("parts/word.ts", 'export const word = "new";\n');
  assert.deepEqual((await told("graphs_reloaded"))["graphs"], ["talk"]);
  held?.end("go");
  assert.equal((await running)["said"], "old", "agent/hot-reload.2");

  write("parts/word.ts", "\nexport const word = ;\n");
  const fault = await told("graph_not_reloaded");
  assert.match(String(fault["reason"]), /Unexpected ";" \(parts\/word\.ts:2\)/, "agent/hot-reload.3");
  const answered = await post(`${waits}/runs/wait`, { assistant_id: "talk", command: { resume: true } });
  assert.equal(answered["said"], "new", "agent/hot-reload.1, agent/hot-reload.3");

  config({ htp: {} });
  assert.match(String((await told("config_key_ignored"))["remark"]), /"htp" is not a known key.*"http"/);
  config({ graphs: { talk: "./graph.ts:graph", other: "./graph.ts:graph" }, store: { ttl: { default_ttl: 5 } } });
  await told("restart_needed");
  write("parts/word.ts", 'export const word = "mended";\n');
  await told("graphs_reloaded");
  const thread = await newThread();
  await post(`${thread}/runs/wait`, { assistant_id: "other", input: {} });
  assert.equal(
    (await post(`${thread}/runs/wait`, { assistant_id: "other", command: { resume: 1 } }))["said"],
    "mended",
  );

  child.kill("SIGINT");
  assert.deepEqual(await once(child, "exit"), [0, null]);
}
