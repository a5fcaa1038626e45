// Tests of calls with large values: they must not keep other calls waiting. Checked:
//   large-values.1. No call parses or writes a large value in one piece. The measure is the longest text of one
//     JSON.parse or JSON.stringify in the process of the server: it depends on the code, not on time or load.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { writeProject } from "../harness/project.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder } from "../harness/server.ts";

const VALUE_UNITS = 2_600_000;

/** More than the longest text that is read or written at once (base/lazy-json.ts). */
const PIECE_UNITS_MAX = 2_200_000;

const GRAPH = `import { Annotation, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ ...MessagesAnnotation.spec, payload: Annotation() });
export const graph = new StateGraph(State)
  .addNode("one", ({ payload }) => ({ payload: payload === undefined ? null : [...payload] }))
  .addNode("two", () => ({}))
  .addEdge("__start__", "one")
  .addEdge("one", "two")
  .addEdge("two", "__end__")
  .compile();
`;

const folder = writeProject({
  "package.json": { name: "large-values", private: true, type: "module" },
  "langgraph.json": { dependencies: ["."], graphs: { large: "./graph.mjs:graph" } },
  "graph.mjs": GRAPH,
});
const server = await startServerHere({ config: join(folder, "langgraph.json") });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

function listOf(item: (at: number) => object, unitsMin = VALUE_UNITS): string {
  const items: string[] = [];
  for (let units = 0; units < unitsMin; units += items.at(-1)?.length ?? 0)
    items.push(JSON.stringify(item(items.length)));
  return `[${items.join(",")}]`;
}

const plain = listOf((at) => ({ id: at, name: `item ${at}`, tags: ["a", "b"], open: at % 2 === 0 }));
const messages = listOf((at) => ({ type: "human", id: `m${at}`, content: `message ${at} ${"x".repeat(2000)}` }));

/** The answer as text, and the longest text of one JSON call of the server meanwhile. */
async function measured(method: string, path: string, body: string | null): Promise<readonly [string, number]> {
  const { parse, stringify } = JSON;
  let longest = 0;
  const note = (text: unknown): void => void (longest = Math.max(longest, typeof text === "string" ? text.length : 0));
  JSON.parse = (text: string, ...more: []) => {
    note(text);
    return parse(text, ...more) as unknown;
  };
  JSON.stringify = (...given: readonly unknown[]) => {
    const text = (stringify as (...given: readonly unknown[]) => string)(...given);
    note(text);
    return text;
  };
  try {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const response = await fetch(`${server.url}${path}`, { method, headers, ...(body === null ? {} : { body }) });
    const text = await response.text();
    assert.ok(response.ok, text.slice(0, 500));
    return [text, longest];
  } finally {
    Object.assign(JSON, { parse, stringify });
  }
}

async function newId(path: string, body: string): Promise<string> {
  const [text] = await measured("POST", path, body);
  return (JSON.parse(text.slice(0, text.indexOf(",")) + "}") as { readonly thread_id: string }).thread_id;
}

const run = (input: string, ...modes: readonly string[]): string =>
  `{"assistant_id":"large","stream_mode":${JSON.stringify(modes)},"input":${input}}`;

const INPUTS = { "plain JSON": `{"payload":${plain}}`, messages: `{"messages":${messages}}` };

/** A message of a gateway with a long list; the SDK of MCP writes a result of up to 4 MiB in one piece. */
const GATEWAY_UNITS = 6_000_000;
const GATEWAY_UNITS_MAX = 4_500_000;

test("no gateway reads or writes a large message in one piece (large-values.1)", PATIENCE, async () => {
  const data = `{"payload":${listOf((at) => ({ id: at, name: `item ${at}` }), GATEWAY_UNITS)}}`;
  const message = `{"messageId":"m1","role":"ROLE_USER","parts":[{"data":${data}}]}`;
  const rpc = (method: string, params: string) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params}}}`;
  const [task, sent] = await measured("POST", "/a2a/large", rpc("SendMessage", `"message":${message}`));
  assert.match(task.slice(0, 2000), /TASK_STATE_COMPLETED/);
  const [result, called] = await measured("POST", "/mcp", rpc("tools/call", `"name":"large","arguments":${data}`));
  assert.match(result, /"status":"completed".*"values_omitted":true/);
  assert.match(result, /GET \/threads\/[-0-9a-f]{36}\/state/);
  assert.ok(Math.max(sent, called) < GATEWAY_UNITS_MAX, `${sent}, ${called}`);
});

suite("no call with a large value reads or writes it in one piece (large-values.1)", PATIENCE, () => {
  for (const [kind, input] of Object.entries(INPUTS)) {
    test(kind, async () => {
      const id = await newId("/threads", "{}");
      const thread = `/threads/${id}`;
      const calls: readonly (readonly [string, string, string | null])[] = [
        ["POST", `${thread}/runs/wait`, run(input, "values")],
        ["POST", "/runs/stream", run(input, "values", "updates", "tasks", "checkpoints", "debug")],
        ["POST", "/runs/stream", run(input, "events")],
        ["GET", thread, null],
        ["GET", `${thread}/state`, null],
        ["GET", `${thread}/history?limit=3`, null],
        ["GET", `${thread}/runs`, null],
        ["POST", "/threads/search", `{"ids":["${id}"]}`],
        ["POST", "/threads/search", `{"ids":["${id}"],"values":{"no":1}}`],
        ["POST", "/threads/search", `{"ids":["${id}"],"select":["thread_id"],"extract":{"a":"values.payload[0].id"}}`],
        ["POST", `${thread}/state`, `{"values":${input},"as_node":"one"}`],
        ["POST", `${thread}/copy`, null],
      ];
      const tooLong: string[] = [];
      for (const [method, path, body] of calls) {
        const [, longest] = await measured(method, path, body);
        if (longest > PIECE_UNITS_MAX) tooLong.push(`${method} ${path} ${body?.slice(0, 60) ?? ""}: ${longest}`);
      }
      assert.deepEqual(tooLong, []);
    });
  }
});
