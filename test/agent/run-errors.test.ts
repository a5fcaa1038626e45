// Tests of the stack of a failed run, with a compiled TypeScript project.
// Rules:
//   run-errors.1. The run and the log name the user's file and line, relative to the project; causes too, all within
//        limits.
//   run-errors.2. Streams, waiting calls and threads have the message without the place.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { writeProject } from "../harness/project.ts";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";

const folder = writeProject({
  "package.json": { private: true },
  "langgraph.json": { graphs: { agent: "./src/graph.ts:graph" } },
  "src/graph.ts": `
import { Annotation, StateGraph } from "@langchain/langgraph";
import { State, fail } from "./parts";
export const graph = new StateGraph(Annotation.Root({ a: Annotation<string>() }))
  .addNode("node", async (state: State) => fail(state.a))
  .addEdge("__start__", "node")
  .compile();
`,
  "src/parts/index.ts": `
// These lines have no place in what is compiled.
export interface State {
  readonly a: string;
}

enum Kind { Deep = "deep" }

export function fail(kind: string): never {
  if (kind === Kind.Deep) return again(2000);
  try {
    JSON.parse("{");
  } catch (error) {
    throw new Error("the part failed", { cause: error });
  }
  throw new Error("never");
}

function again(depth: number): never {
  if (depth === 0) throw new RangeError("x".repeat(10_000));
  return again(depth - 1);
}
`,
});
const server = await startServerHere({ config: join(folder, "langgraph.json") });
after(async () => {
  await server.stop();
  removeFolder(folder);
});

async function failedRun(input: object) {
  const thread = (await call(server, "POST", "/threads", {})).body as { readonly thread_id: string };
  const path = `/threads/${thread.thread_id}`;
  const stream = await call(server, "POST", `${path}/runs/stream`, { assistant_id: "agent", input });
  const [run] = (await call(server, "GET", `${path}/runs`)).body as readonly {
    readonly run_id: string;
    readonly error: { readonly error: string; readonly message: string; readonly stack: string };
  }[];
  assert.ok(run !== undefined);
  return { path, stream: stream.text, run };
}

test("a failed run names the user's file and line (run-errors.1, run-errors.2)", async () => {
  const { path, stream, run } = await failedRun({ a: "shallow" });
  assert.match(run.error.stack, /^Error: the part failed\n {4}at fail \(src\/parts\/index\.ts:14:11\)\n/);
  assert.match(run.error.stack, /\(src\/graph\.ts:5:44\)\n/);
  assert.match(run.error.stack, /\ncaused by SyntaxError: .*\n(.*\n)*? {4}at fail \(src\/parts\/index\.ts:12:10\)/);
  assert.doesNotMatch(run.error.stack, /node:|\?holdpoint/);
  const logged = server.logs.find((entry) => entry["event"] === "run_failed" && entry["run_id"] === run.run_id);
  assert.equal(logged?.["stack"], run.error.stack);
  const thread = (await call(server, "GET", path)).body as { readonly error: object };
  const waited = await call(server, "POST", `${path}/runs/wait`, { assistant_id: "agent", input: { a: "again" } });
  assert.deepEqual(Object.keys(thread.error), ["error", "message"]);
  assert.match(stream, /event: error\r?\ndata: \{"error":"Error","message":"the part failed"\}/);
  assert.deepEqual(JSON.parse(waited.text), { __error__: { error: "Error", message: "the part failed" } });
});

test("a long stack is cut (run-errors.1)", async () => {
  const { run } = await failedRun({ a: "deep" });
  assert.equal(run.error.message.length, 10_000);
  assert.ok(run.error.stack.length <= 4002, `${run.error.stack.length}`);
  assert.match(run.error.stack, /^RangeError: x{500} …\n {4}at again \(src\/parts\/index\.ts:20:26\)\n/);
});
