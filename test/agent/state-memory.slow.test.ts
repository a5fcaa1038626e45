// Runs whose states together exceed the memory of the process wait for their turns (memory-turns.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { writeProject } from "../harness/project.ts";
import { call, removeFolder, startServer } from "../harness/server.ts";

const RUNS = 4;
/** Of text in the state of each run: one fits into the budget. */
const UNITS = 1_500_000;
/** 190 MB of it are for the server itself. */
const LIMIT_MEBIBYTES = 230;

const GRAPH = `
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation<string>(), isFirst: Annotation<boolean>() });
let arrived = 0;
const all = Promise.withResolvers<void>();
export const graph = new StateGraph(State)
  .addNode("make", async ({ isFirst }) => {
    if (isFirst) return {};
    if (++arrived === ${RUNS}) all.resolve();
    await all.promise; // all states at once
    return { text: "x".repeat(${UNITS}) };
  })
  .addNode("ask", () => { interrupt("Go on?"); return {}; })
  .addEdge("__start__", "make").addEdge("make", "ask").addEdge("ask", "__end__")
  .compile();
`;

test("states that do not fit together take turns, and each run ends (memory-turns.2)", PATIENCE, async (t) => {
  const project = writeProject({
    "package.json": { type: "module", private: true },
    "langgraph.json": { graphs: { large: "./graph.ts:graph" } },
    "graph.ts": GRAPH,
  });
  const limit = `data:text/javascript,process.constrainedMemory=()=>${LIMIT_MEBIBYTES * 1024 * 1024}`;
  const server = await startServer({ config: `${project}/langgraph.json`, nodeArgs: ["--import", limit] });
  t.after(async () => {
    await server.stop();
    removeFolder(server.dataDir);
    removeFolder(project);
  });
  const run = { assistant_id: "large", input: {}, on_completion: "keep" };
  await call(server, "POST", "/runs/wait", { ...run, input: { isFirst: true } }); // else they begin one by one
  const replies = await Promise.all(Array.from({ length: RUNS }, () => call(server, "POST", "/runs/wait", run)));
  for (const { status, text, body } of replies) {
    assert.equal(status, 200, text.slice(0, 200));
    assert.equal((body as { readonly text: string }).text.length, UNITS);
  }
  const waited = server.logs.filter(({ event }) => event === "run_waits_for_memory");
  assert.ok(waited.length > 0 && waited.length < 3 * RUNS, `${waited.length} waits`);
});
