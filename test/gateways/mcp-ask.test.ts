// Tests of the MCP tools that ask people, with the official clients of both generations.
// Rules:
//   mcp-ask.1. A call waits for a person, and returns the answer in the form that its caller expects.
//   mcp-ask.2. The same arguments find the question again, after a kill of the server and of the client; an answer is
//        handed out once.
//   mcp-ask.3. The agent cannot answer its own question, and a key limited to requests is enough.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, removeFolder, startServer, type TestServer } from "../harness/server.ts";
import { PATIENCE } from "../harness/patience.ts";
import { legacy, modern, type Caller, type Connection } from "./mcp-client.ts";

const env = { HOLDPOINT_API_KEYS: "agent:agent-key:requester,ann:ann-key:reviewer,otto:otto-key:operator" };
let server = await startServer({ env });
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
async function findOpen(on: TestServer = server): Promise<Asked> {
  for (;;) {
    const { body } = await call(on, "POST", "/requests/search", { status: "open" }, as("ann"));
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

test("wrong arguments are an error of the call", PATIENCE, async () => {
  const client = await modern(null, connection());
  for (const [tool, args] of [
    ["ask_human", {}],
    ["approve", { tool_name: "Bash" }],
    ["ask_human", { question: "?", schema: { type: "string", pattern: "(?=a)" } }],
  ] as const)
    assert.equal((await client.run(tool, args)).isError, true, tool);
  await client.close();
});

test(
  "the server is killed while a call waits: the same arguments find the question (mcp-ask.2)",
  PATIENCE,
  async () => {
    const args = { ...CALL, tool_use_id: "toolu_1" };
    const first = await modern(null, connection());
    const lost = first.run("approve", args).catch(() => null);
    const { request_id: id } = await findOpen();
    const { dataDir } = server;
    await server.kill();
    await lost;
    server = await startServer({ env, dataDir });
    const second = await modern(null, connection());
    const asking = second.run("approve", args);
    const asked = await give({ decisions: [{ type: "approve" }] });
    assert.equal(asked.request_id, id);
    assert.deepEqual(JSON.parse((await asking).content[0]?.text ?? ""), {
      behavior: "allow",
      updatedInput: CALL.input,
    });
    await second.close();
  },
);

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
