// Tests of the MCP tools that ask people, with the official clients of both generations.
// Rules:
//   mcp-ask.1. A call waits for a person, and returns the answer in the form that its caller expects.
//   mcp-ask.2. The same arguments find the question again, after an end of the server (a kill: restarts.slow.test.ts) and
//        of the client; an answer is handed out once.
//   mcp-ask.4. A call as a task is its request: it waits over every end of the client and of the server. To other callers,
//        whatever their role, it is no task.
//   mcp-ask.3. The agent cannot answer its own question, and a key limited to requests is enough.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { call, removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { PATIENCE } from "../harness/patience.ts";
import { legacy, modern, type Caller, type Connection } from "./mcp-client.ts";

const env = { HOLDPOINT_API_KEYS: "agent:agent-key:requester,ann:ann-key:reviewer,otto:otto-key:operator" };
let server = await startServerHere({ env });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

interface Asked {
  readonly request_id: string;
  readonly title: string;
  readonly payload: unknown;
}

const as = (name: string) => ({ "x-api-key": `${name}-key` });
const connection = (name = "agent"): Connection => ({ url: server.url, headers: as(name) });

/** The open question, once it is there. */
async function findOpen(): Promise<Asked> {
  for (;;) {
    const { body } = await call(server, "POST", "/requests/search", { status: "open" }, as("ann"));
    const [asked] = (body as { readonly items: readonly Asked[] }).items;
    if (asked !== undefined) return asked;
  }
}

async function give(answer: unknown): Promise<Asked> {
  const asked = await findOpen();
  const reply = await call(server, "POST", `/requests/${asked.request_id}/answer`, { answer }, as("ann"));
  assert.equal(reply.status, 200, reply.text);
  return asked;
}

const CLIENTS: readonly (readonly [name: string, connect: (to: Connection) => Promise<Caller>])[] = [
  ["a client of 2025", (to) => legacy(null, to)],
  ["a client of 2026", (to) => modern(null, to)],
];

const CALL = { tool_name: "Bash", input: { command: "rm -r build" } };
const DECISIONS: readonly (readonly [decision: object, behaviour: object])[] = [
  [{ type: "approve" }, { behavior: "allow", updatedInput: CALL.input }],
  [
    { type: "edit", edited_action: { name: "Bash", args: { command: "ls build" } } },
    { behavior: "allow", updatedInput: { command: "ls build" } },
  ],
  [
    { type: "reject", message: "not today" },
    { behavior: "deny", message: "not today" },
  ],
];

for (const [name, connect] of CLIENTS) {
  test(`${name} asks a person and gets the answer (mcp-ask.1, mcp-ask.3)`, PATIENCE, async () => {
    const client = await connect(connection());
    const names = (await client.tools()).map((tool) => tool.name);
    assert.deepEqual(names, ["resume", "ask_human", "approve"]);
    const asking = client.run("ask_human", { question: `Deploy, ${name}?`, choices: ["yes", "no"] });
    const asked = await give("yes");
    assert.equal(asked.title, `Deploy, ${name}?`);
    const { content, structuredContent } = await asking;
    assert.deepEqual(
      [content[0]?.text, structuredContent?.["answer"], structuredContent?.["answered_by"]],
      ["yes", "yes", "ann"],
    );
    await client.close();
  });

  for (const [decision, behaviour] of DECISIONS) {
    test(
      `${name}: ${JSON.stringify(decision)} is ${JSON.stringify(behaviour)} (mcp-ask.1, mcp-ask.2)`,
      PATIENCE,
      async () => {
        const client = await connect(connection());
        const asking = client.run("approve", CALL); // the same arguments each time: a new question
        await give({ decisions: [decision] });
        const { content } = await asking;
        assert.deepEqual(JSON.parse(content[0]?.text ?? ""), behaviour);
        await client.close();
      },
    );
  }
}

test("the agent cannot answer its own question (mcp-ask.3)", PATIENCE, async () => {
  const client = await modern(null, connection("otto"));
  const asking = client.run("ask_human", { question: "Really?" });
  const asked = await findOpen();
  const { isError, content } = await client.run("resume", { thread_id: asked.request_id, answer: "yes" });
  assert.equal(isError, true, content[0]?.text ?? "");
  await give("no");
  assert.equal((await asking).content[0]?.text, "no");
  await client.close();
});

/** The model would decide in place of the person. */
const OWN_ANSWER = { expires_in_seconds: 0.1, on_expiry: { answer: true } };

test("wrong arguments are an error of the call", PATIENCE, async () => {
  const client = await modern(null, connection());
  for (const [tool, args] of [
    ["ask_human", {}],
    ["approve", { tool_name: "Bash" }],
    ["ask_human", { question: "?", schema: { type: "string", pattern: "(?=a)" } }],
    ["ask_human", { question: "?", schema: { type: "boolean", "x-holdpoint-deadline": OWN_ANSWER } }],
  ] as const)
    assert.equal((await client.run(tool, args)).isError, true, tool);
  await client.close();
});

test("the server stops while a call waits: the same arguments find the question (mcp-ask.2)", PATIENCE, async () => {
  const args = { ...CALL, tool_use_id: "toolu_1" };
  const first = await modern(null, connection());
  const lost = first.run("approve", args).catch(() => null);
  const { request_id: id } = await findOpen();
  const { dataDir } = server;
  await server.stop();
  await lost;
  server = await startServerHere({ env, dataDir });
  const second = await modern(null, connection());
  const asking = second.run("approve", args);
  const asked = await give({ decisions: [{ type: "approve" }] });
  assert.equal(asked.request_id, id);
  assert.deepEqual(JSON.parse((await asking).content[0]?.text ?? ""), {
    behavior: "allow",
    updatedInput: CALL.input,
  });
  await second.close();
});

test("an answer that came while nobody waited is handed out once (mcp-ask.2)", PATIENCE, async () => {
  const args = { question: "Which region?" };
  const leaving = await modern(null, connection());
  const lost = leaving.run("ask_human", args).catch(() => null);
  const { request_id: id } = await findOpen();
  await leaving.close();
  await lost;
  await give("eu");
  const client = await modern(null, connection());
  const { content, structuredContent } = await client.run("ask_human", args);
  assert.deepEqual([content[0]?.text, structuredContent?.["request_id"]], ["eu", id]);
  const again = client.run("ask_human", args);
  const next = await give("us");
  assert.notEqual(next.request_id, id);
  assert.equal((await again).content[0]?.text, "us");
  await client.close();
});

const TASKS: readonly (readonly [tool: string, args: object, answer: unknown, text: string])[] = [
  ["ask_human", { question: "Deploy as a task?", choices: ["yes", "no"] }, "yes", "yes"],
  [
    "approve",
    { ...CALL, tool_use_id: "task" },
    { decisions: [{ type: "approve" }] },
    JSON.stringify({ behavior: "allow", updatedInput: CALL.input }),
  ],
];

async function connectAs(name: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { capabilities: {} });
  const requestInit = { headers: as(name) };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  await client.listTools();
  return client;
}

for (const [tool, args, answer, text] of TASKS)
  test(`${tool} as a task outlives its client and its server (mcp-ask.4)`, PATIENCE, async () => {
    const first = await connectAs("agent");
    let taskId = "";
    for await (const message of first.experimental.tasks.callToolStream(
      { name: tool, arguments: { ...args } },
      undefined,
      {
        task: {},
      },
    )) {
      if (message.type !== "taskCreated") continue;
      ({ taskId } = message.task);
      break;
    }
    await first.close();
    await server.stop();
    server = await startServerHere({ env, dataDir: server.dataDir });
    const second = await connectAs("agent");
    assert.equal((await second.experimental.tasks.getTask(taskId)).status, "working");
    const asked = await give(answer);
    assert.equal(asked.request_id, taskId);
    const result = await second.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    const [content] = result.content as readonly { readonly text?: string }[];
    assert.equal(content?.text, text);
    assert.equal((await second.experimental.tasks.getTask(taskId)).status, "completed");
    await assert.rejects(second.experimental.tasks.cancelTask(taskId), /already completed/);
    await second.close();
  });

test("a cancelled task cancels its question, and another request is no task (mcp-ask.4)", PATIENCE, async () => {
  const client = await connectAs("agent");
  const stranger = await connectAs("otto");
  const { body: other } = await call(server, "POST", "/requests", { payload: "Own?" }, as("agent"));
  await assert.rejects(client.experimental.tasks.getTask(String(other["request_id"])), /Task not found/);
  await call(server, "POST", `/requests/${String(other["request_id"])}/cancel`, {}, as("agent"));
  for await (const message of client.experimental.tasks.callToolStream(
    { name: "ask_human", arguments: { question: "Never mind?" } },
    undefined,
    { task: {} },
  )) {
    if (message.type !== "taskCreated") continue;
    const { taskId } = message.task;
    const { tasks } = stranger.experimental;
    for (const act of [
      tasks.getTask(taskId),
      tasks.cancelTask(taskId),
      tasks.getTaskResult(taskId, CallToolResultSchema),
    ])
      await assert.rejects(act, /Task not found/);
    assert.equal((await client.experimental.tasks.cancelTask(taskId)).status, "cancelled");
    const { body } = await call(server, "GET", `/requests/${taskId}`, undefined, as("agent"));
    assert.equal(body["status"], "cancelled");
    break;
  }
  await stranger.close();
  await client.close();
});
