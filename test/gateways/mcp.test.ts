// MCP: agents as tools of the official clients, of both generations of the protocol. Checked:
//   mcp.1. Each assistant with an object input is a tool; a call runs it and returns its last message and its values.
//   mcp.2. A pause is an elicitation where the client can ask its user, a task that waits where the client asked for
//          one, otherwise a result with thread, interrupts and link.
//   mcp.3. Every question dialect is answered over an elicitation as over the inbox.
//   mcp.4. A question for people only is never answered by the calling model.
//   mcp.5. Of two answers one counts, and the other side learns who answered.
//   mcp.6. The audit trail names MCP and the caller.
//   mcp.7. A repeated call with the same idempotency key finds the run of the first, also after a kill. A member of
//          `_meta` that names no thread, key or choice is refused, not ignored.
//   mcp.8. Without credentials the reply is 401 with a challenge; other tenants' threads are out of reach.
//   mcp.9. A request that cannot read the reply of the protocol gets 406 at once, with the headers that it needs.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { call, removeFolder, ROOT } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import {
  accept,
  allPages,
  type Asked,
  type Caller,
  type Connection,
  type Content,
  legacy as connectLegacy,
  modern as connectModern,
  type Outcome,
  type User,
} from "./mcp-client.ts";
import { isRunning } from "../harness/protocol/thread-page.ts";
import { openEvents } from "../harness/thread-protocol.ts";
import { followLog } from "../harness/threads.ts";

const server = await startServerHere({});
/** Lists of tools read the types of every graph. */
const small = await startServerHere({ config: join(ROOT, "examples", "langgraph.json") });
after(async () => {
  for (const one of [server, small]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
});

type Here = Partial<Connection>;
const legacy = (user: User, at: Here = {}): Promise<Caller> => connectLegacy(user, { url: server.url, ...at });
const modern = (user: User, at: Here = {}): Promise<Caller> => connectModern(user, { url: server.url, ...at });

const CLIENTS = { "2025": legacy, "2026": modern };

async function answeredVia(threadId: string): Promise<unknown> {
  const { body } = await call(server, "GET", `/threads/${threadId}/audit`);
  const { items } = body as { readonly items: readonly { readonly action: string; readonly via: string }[] };
  return items.find(({ action }) => action === "answered")?.via;
}

const QUESTION = { payload: "How many?" };
const tool = (name: string, config: object, args: object) => ({
  action_request: { action: name, args },
  config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true, ...config },
  description: "Pays.",
});

/** Payload of interrupt() → content of the form → answer that the node gets. */
const DIALECTS: Readonly<Record<string, readonly [payload: unknown, content: Content, answer: unknown]>> = {
  "a plain question": ["How many?", { answer: "3" }, "3"],
  "a form of primitives": [
    {
      response_schema: {
        type: "object",
        properties: { n: { type: "integer" }, ok: { type: "boolean" } },
        required: ["n"],
      },
    },
    { n: 3, ok: true },
    { n: 3, ok: true },
  ],
  "one value with a schema": [{ response_schema: { type: "number", minimum: 1 } }, { answer: 2 }, 2],
  "a choice with titles": [
    {
      response_schema: {
        oneOf: [
          { const: "a", title: "First" },
          { const: "b", title: "Second" },
        ],
      },
    },
    { answer: "b" },
    "b",
  ],
  "a choice": [{ response_schema: { enum: ["a", "b"] } }, { answer: "b" }, "b"],
  "human_interrupt, approved": [
    [tool("pay", {}, { n: 1 })],
    { decision: "approve" },
    [{ type: "accept", args: { action: "pay", args: { n: 1 } } }],
  ],
  "human_interrupt, edited": [
    [tool("pay", {}, { n: 1 })],
    { decision: "edit", arguments: '{"n":2}' },
    [{ type: "edit", args: { action: "pay", args: { n: 2 } } }],
  ],
  "middleware, rejected": [
    { action_requests: [{ name: "pay", args: { n: 1 } }], review_configs: [] },
    { decision: "reject", message: "no" },
    { decisions: [{ type: "reject", message: "no" }] },
  ],
  "middleware in camel case, two actions": [
    {
      actionRequests: [
        { name: "pay", args: {} },
        { name: "log", args: {} },
      ],
      reviewConfigs: [],
    },
    { decision_1: "approve", decision_2: "reject" },
    { decisions: [{ type: "approve" }, { type: "reject" }] },
  ],
};

const SECRETS = {
  "a payload marked as sensitive": { sensitive: true, question: "Which token?" },
  "an answer with a password": { question: "Which token?", response_schema: { type: "string", format: "password" } },
};

for (const [revision, connect] of Object.entries(CLIENTS)) {
  test(`revision ${revision}: assistants are tools with an input schema (mcp.1)`, async () => {
    const listed = await connect(null, small);
    const names = (await listed.tools()).map(({ name }) => name);
    await listed.close();
    for (const name of ["resume", "refund-approval", "trip-planner"]) assert.ok(names.includes(name), names.join());
    assert.equal(new Set(names).size, names.length);
    const client = await connect(null);
    const result = await client.run("teller", { messages: [{ role: "user", content: "hello" }] });
    assert.equal(result.structuredContent?.status, "completed", JSON.stringify(result));
    await client.close();
  });

  for (const [title, [payload, content, answer]] of Object.entries(DIALECTS)) {
    test(`revision ${revision}: ${title} is answered by an elicitation (mcp.2, mcp.3)`, async () => {
      const seen: Asked[] = [];
      const client = await connect((asked) => {
        seen.push(asked);
        return accept(content);
      });
      const { structuredContent } = await client.run("echo", { payload });
      assert.deepEqual(structuredContent?.values?.["answer"], [answer]);
      assert.equal(seen.length, 1);
      assert.equal(await answeredVia(structuredContent?.thread_id ?? ""), "mcp"); // mcp.6
      await client.close();
    });
  }

  test(`revision ${revision}: a refused answer is asked again with the reason (mcp.2)`, async () => {
    const messages: string[] = [];
    const client = await connect(({ message }) => {
      messages.push(message);
      return accept(messages.length === 1 ? { decision: "edit", arguments: "no JSON" } : { decision: "ignore" });
    });
    const { structuredContent } = await client.run("echo", { payload: [tool("pay", {}, { n: 1 })] });
    assert.deepEqual(structuredContent?.values?.["answer"], [[{ type: "ignore", args: null }]]);
    assert.match(messages[1] ?? "", /was refused/);
    await client.close();
  });

  test(`revision ${revision}: declined, the run stays paused and the answering tool continues it (mcp.2)`, async () => {
    const client = await connect(() => ({ action: "decline" }));
    const paused = await client.run("echo", QUESTION);
    assert.equal(paused.structuredContent?.status, "paused");
    const { thread_id, interrupts } = paused.structuredContent ?? {};
    const answer = { thread_id, interrupt_id: interrupts?.[0]?.id, answer: "4" };
    const ended = await client.run("resume", answer);
    assert.deepEqual(ended.structuredContent?.values?.["answer"], ["4"]);
    const late = await client.run("resume", answer);
    assert.equal(late.isError, true);
    await client.close();
  });

  test(`revision ${revision}: a client without elicitation gets the paused run and its link (mcp.2)`, async () => {
    const client = await connect(null);
    const { structuredContent, content } = await client.run("echo", QUESTION);
    const [one] = structuredContent?.interrupts ?? [];
    assert.equal(one?.link, `${server.url}/console/inbox/${structuredContent?.thread_id}/${one?.id}`);
    assert.match(content[0]?.text ?? "", /paused/);
    await client.close();
  });

  test(`revision ${revision}: a question for people only is refused to the model (mcp.4)`, async () => {
    const client = await connect(null);
    const { structuredContent } = await client.run("echo", { payload: { audience: "human", question: "Pay?" } });
    assert.equal(structuredContent?.interrupts?.[0]?.people_only, true);
    const refused = await client.run("resume", { thread_id: structuredContent?.thread_id, answer: true });
    assert.equal(refused.isError, true);
    assert.match(refused.content[0]?.text ?? "", /Only a person/);
    await client.close();
  });

  test(`revision ${revision}: a form that does not fit is a link, and the inbox's answer ends the call (mcp.2, mcp.5)`, async () => {
    const nested = { type: "object", properties: { a: { type: "object", properties: { b: { type: "string" } } } } };
    const client = await connect(
      async ({ mode, url }) => {
        assert.equal(mode, "url");
        const [thread_id, interrupt_id] = (url ?? "").split("/").slice(-2);
        await call(server, "POST", "/inbox/answers", [{ thread_id, interrupt_id, resume: { a: { b: "x" } } }]);
        return { action: "accept" };
      },
      { modes: { form: {}, url: {} } },
    );
    const { structuredContent } = await client.run("echo", { payload: { response_schema: nested } });
    assert.deepEqual(structuredContent?.values?.["answer"], [{ a: { b: "x" } }]);
    await client.close();
  });

  for (const [title, payload] of Object.entries(SECRETS)) {
    test(`revision ${revision}: ${title} is asked with a link, never with a form (mcp.2)`, async () => {
      const client = await connect(
        async ({ mode, url }) => {
          assert.equal(mode, "url");
          const [thread_id, interrupt_id] = (url ?? "").split("/").slice(-2);
          await call(server, "POST", "/inbox/answers", [{ thread_id, interrupt_id, resume: "s3cret" }]);
          return { action: "accept" };
        },
        { modes: { form: {}, url: {} } },
      );
      const { structuredContent } = await client.run("echo", { payload });
      assert.deepEqual(structuredContent?.values?.["answer"], ["s3cret"]);
      await client.close();
      const formOnly = await connect(() => assert.fail("the client was asked with a form"));
      assert.equal((await formOnly.run("echo", { payload })).structuredContent?.status, "paused");
      await formOnly.close();
    });
  }

  test(`revision ${revision}: of two answers one counts, and the result follows it (mcp.5)`, async () => {
    const client = await connect(async () => {
      const { body } = await call(server, "GET", "/inbox?limit=1&sort=newest");
      const [item] = (body as { readonly items: readonly { readonly thread_id: string; readonly id: string }[] }).items;
      await call(server, "POST", "/inbox/answers", [
        { thread_id: item?.thread_id, interrupt_id: item?.id, resume: "inbox" },
      ]);
      return accept({ answer: "client" });
    });
    const { structuredContent } = await client.run("echo", QUESTION);
    assert.deepEqual(structuredContent?.values?.["answer"], ["inbox"]);
    await client.close();
  });

  test(`revision ${revision}: a repeated call with the same key finds the run of the first (mcp.7)`, async () => {
    const meta = { idempotency_key: `key-${revision}` };
    const first = await connect(null);
    const paused = await first.run("echo", QUESTION, meta);
    await first.close();
    const second = await connect(() => accept({ answer: "5" }));
    const ended = await second.run("echo", QUESTION, meta);
    assert.equal(ended.structuredContent?.thread_id, paused.structuredContent?.thread_id);
    assert.deepEqual(ended.structuredContent?.values?.["answer"], ["5"]);
    for (const [name, value] of [
      ["thread_id", "../ok"],
      ["thread_id", 7],
      ["idempotency_key", {}],
      ["on_paused", "ask"],
    ] as const) {
      const refused = await second.run("echo", QUESTION, { [name]: value });
      assert.equal(refused.isError, true);
      assert.match(refused.content[0]?.text ?? "", new RegExp(`${name}.*invalid_request`));
    }
    await second.close();
  });
}

const REPLY_HEADERS = {
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
};
const FORGED = { action: "accept", content: { answer: "yes" } };
const FORGERIES: readonly (readonly [
  name: string,
  forge: (threadId: string, interruptId: string) => Promise<unknown>,
])[] = [
  [
    "a reply to a request of the 2025 revisions",
    (threadId, interruptId) => {
      const message = { jsonrpc: "2.0", id: `elicit:${threadId}:${interruptId}:1`, result: FORGED };
      return call(server, "POST", "/mcp", message, REPLY_HEADERS);
    },
  ],
  [
    "a repeated call of the 2026 revision",
    async (threadId, interruptId) => {
      const { body: runs } = await call(server, "GET", `/threads/${threadId}/runs`);
      const [run] = runs as unknown as readonly { readonly run_id: string }[];
      const requestState = Buffer.from(JSON.stringify({ t: threadId, r: run?.run_id })).toString("base64url");
      const client = new ModernClient(
        { name: "test", version: "2" },
        { capabilities: {}, versionNegotiation: { mode: "auto" } },
      );
      await client.connect(new ModernTransport(new URL(`${server.url}/mcp`)));
      const forged = { inputResponses: { [interruptId]: FORGED }, requestState };
      const reply = await client.callTool({ name: "echo", arguments: QUESTION, ...forged }).catch(String);
      await client.close();
      return reply;
    },
  ],
];
const HUMANS = { question: "Really?", audience: "human" };

for (const [name, forge] of FORGERIES) {
  for (const payload of [QUESTION.payload, HUMANS]) {
    test(`${name} without the server's question answers nothing: ${JSON.stringify(payload)} (mcp.4)`, async () => {
      const client = await modern(null);
      const paused = await client.run("echo", { payload });
      await client.close();
      const { thread_id: threadId, interrupts } = paused.structuredContent ?? assert.fail();
      const [{ id: interruptId } = { id: "" }] = interrupts ?? [];
      const reply = await forge(threadId, interruptId);
      const { body } = await call(server, "GET", `/inbox/${threadId}/${interruptId}`);
      assert.equal(body["state"], "open", JSON.stringify(reply));
    });
  }
}

test("a call as a task waits for input, and ends with the answer (mcp.2)", async () => {
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => accept({ answer: "6" }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
  await client.listTools();
  const seen: string[] = [];
  const stream = client.experimental.tasks.callToolStream({ name: "echo", arguments: QUESTION }, undefined, {
    task: {},
  });
  for await (const message of stream) {
    seen.push(message.type === "taskStatus" ? message.task.status : message.type);
    if (message.type !== "result") continue;
    const { structuredContent } = message.result as unknown as Outcome;
    assert.deepEqual(structuredContent?.values?.["answer"], ["6"]);
  }
  assert.deepEqual([seen[0], seen.at(-1)], ["taskCreated", "result"]);
  assert.ok(seen.includes("input_required"), seen.join());
  await client.close();
});

test("a new assistant is announced to a client that listens (mcp.1)", async () => {
  const client = new Client({ name: "test", version: "1" }, { capabilities: {} });
  const announced = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${small.url}/mcp`)));
  const poll = setInterval(() => void call(small, "POST", "/assistants", { graph_id: "steps", name: "new one" }), 500);
  await announced.finally(() => clearInterval(poll));
  const tools = await allPages((cursor) => client.listTools(cursor === undefined ? {} : { cursor }));
  assert.ok(tools.some(({ name }) => name.startsWith("new_one_")));
  await client.close();
});

test("a request without the needed Accept gets 406, and no stream stays open (mcp.9)", async () => {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const [method, accept, status] of [
    ["GET", "*/*", 406],
    ["GET", "text/html,application/json;q=0.9", 406],
    ["GET", "application/json, text/event-stream", 200],
    ["POST", "*/*", 406],
    ["POST", "application/json, text/event-stream", 200],
  ] as const) {
    const over = new AbortController();
    const body = method === "POST" ? { body: JSON.stringify(list) } : {};
    const headers = { accept, "content-type": "application/json" };
    const response = await fetch(`${server.url}/mcp`, { method, headers, signal: over.signal, ...body });
    assert.equal(response.status, status, `${method} ${accept}`);
    if (status === 406) assert.match(await response.text(), /"message":"Not acceptable:.*text\/event-stream/i);
    over.abort();
  }
});

test("cancellation of a call cancels its run (mcp.2)", async () => {
  const client = new Client({ name: "test", version: "1" }, { capabilities: {} });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
  const over = new AbortController();
  const threadId = crypto.randomUUID();
  const events = await openEvents(server, threadId, { channels: ["lifecycle"] });
  const running = client.callTool({ name: "hanging", arguments: {}, _meta: { thread_id: threadId } }, undefined, {
    signal: over.signal,
  });
  const readRunStatus = async (): Promise<string | undefined> => {
    const { body } = await call(server, "GET", `/threads/${threadId}/runs`);
    return (body as unknown as readonly { readonly status: string }[])[0]?.status;
  };
  await events.until(isRunning);
  events.close();
  over.abort("enough");
  await assert.rejects(running);
  await followLog(server, "the run is cancelled", async () => (await readRunStatus()) === "interrupted" || undefined);
  await client.close();
});

test("a key is required where the server requires one, and reaches only its own threads (mcp.8)", async () => {
  const keyed = await startServerHere({ env: { HOLDPOINT_API_KEYS: "ann:0123456789abcdef0123" } });
  try {
    const refused = await call(keyed, "POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    assert.deepEqual([refused.status, refused.headers.get("www-authenticate")], [401, "Bearer"]);
    const client = await legacy(null, { url: keyed.url, headers: { "x-api-key": "0123456789abcdef0123" } });
    assert.equal((await client.run("echo", QUESTION)).structuredContent?.status, "paused");
    await client.close();
  } finally {
    await keyed.stop();
    removeFolder(keyed.dataDir);
  }
});
