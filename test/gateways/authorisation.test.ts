// Test of authorization: every method of MCP and A2A against every kind of caller, as test/agent/authorisation.test.ts
// does for the routes of the API.
// Rules:
//   gateways/authorisation.1. Without credentials, or with bad or expired ones, every call is rejected before any lookup.
//   gateways/authorisation.2. Another tenant's threads, tasks and assistants look absent: the reply equals that to an
//     unknown id, and no reply shows a trace of them.
//   gateways/authorisation.3. Attempts of another tenant, and of a read-only caller, change nothing.
//   gateways/authorisation.4. A read-only caller gets a refusal for each call that changes something, and for no other.
//   gateways/authorisation.5. A method that the protocol adds is missing from the table below, and fails the test.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { after, test } from "node:test";
import * as compat from "@a2a-js/sdk/compat/v0_3";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";
import { nameTool } from "@holdpoint/gateways/mcp/tools.ts";

const TENANTS = join(ROOT, "test", "graphs", "tenants", "langgraph.json");
/** In everything that Ann's tenant has. */
const CANARY = "canary-of-acme-5c20";
const toTool = (assistantId: string): string =>
  nameTool({ assistant_id: assistantId, graph_id: "agent", name: CANARY, metadata: {} });

const server = await startServerHere({ config: TENANTS });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

type Headers = Record<string, string>;
const as = (name: string): Headers => ({ authorization: `Bearer token-${name}` });

interface Ids {
  readonly thread: string;
  readonly run: string;
  readonly assistant: string;
  readonly interrupt: string;
}

async function createWorld(name: string, mark: string): Promise<Ids> {
  const post = async (path: string, body: unknown): Promise<Readonly<Record<string, string>>> =>
    (await call(server, "POST", path, body, as(name))).body;
  const { assistant_id: assistant = "" } = await post("/assistants", { graph_id: "agent", name: mark });
  const { thread_id: thread = "" } = await post("/threads", { metadata: { mark } });
  await post(`/threads/${thread}/runs/wait`, { assistant_id: assistant, input: { some_text: mark } });
  const get = async (path: string): Promise<never> => (await call(server, "GET", path, undefined, as(name))).body;
  const [run]: readonly { readonly run_id: string }[] = await get(`/threads/${thread}/runs`);
  const { items }: { readonly items: readonly { readonly id: string }[] } = await get(`/inbox?thread_id=${thread}`);
  return { thread, assistant, run: run?.run_id ?? "", interrupt: items[0]?.id ?? "" };
}

const ann = await createWorld("ann", CANARY);
const bob = await createWorld("bob", "mark-of-bolt");
const unknown: Ids = {
  thread: randomUUID(),
  run: randomUUID(),
  assistant: randomUUID(),
  interrupt: randomUUID().replaceAll("-", ""),
};

interface Entry {
  readonly method: string;
  readonly params: (ids: Ids) => object;
  /** It changes something. */
  readonly changes?: true;
  /** Its parameters name a canary: the reply to another tenant may repeat it. */
  readonly names?: true;
  /** An answer: a refusal by a handler is the task, as auth-required. */
  readonly answers?: true;
}

const said = (more: object) => ({
  message: { messageId: randomUUID(), role: "ROLE_USER", parts: [{ data: { some_text: "x" } }], ...more },
});
const answer = ({ run, interrupt }: Ids) => ({
  message: {
    messageId: randomUUID(),
    role: "ROLE_USER",
    taskId: run,
    parts: [{ data: { interrupt_id: interrupt, resume: "taken" } }],
  },
});
const push = { url: "https://hooks.example.com/x" };

/** Every method of A2A (gateways/authorisation.5), at the address of the tenant's own assistant. */
const A2A: readonly Entry[] = [
  { method: "SendMessage", params: () => said({}), changes: true },
  { method: "SendMessage", params: answer, changes: true, answers: true },
  { method: "SendStreamingMessage", params: () => said({}), changes: true },
  { method: "SendStreamingMessage", params: answer, changes: true, answers: true },
  { method: "GetTask", params: ({ run }) => ({ id: run }) },
  { method: "ListTasks", params: () => ({}) },
  { method: "ListTasks", params: ({ thread }) => ({ contextId: thread }) },
  { method: "CancelTask", params: ({ run }) => ({ id: run }), changes: true },
  { method: "CreateTaskPushNotificationConfig", params: ({ run }) => ({ taskId: run, ...push }), changes: true },
  { method: "GetTaskPushNotificationConfig", params: ({ run }) => ({ taskId: run, id: "none" }) },
  { method: "ListTaskPushNotificationConfigs", params: ({ run }) => ({ taskId: run }) },
  { method: "DeleteTaskPushNotificationConfig", params: ({ run }) => ({ taskId: run, id: "none" }), changes: true },
  { method: "GetExtendedAgentCard", params: () => ({}) },
];

/** Without an end for those who may. */
const SUBSCRIBE: Entry = { method: "SubscribeToTask", params: ({ run }) => ({ id: run }) };

const MCP: readonly Entry[] = [
  { method: "tools/list", params: () => ({}) },
  {
    method: "tools/call",
    params: ({ assistant }) => ({ name: toTool(assistant), arguments: { some_text: "x" } }),
    changes: true,
    names: true,
  },
  {
    method: "tools/call",
    params: ({ thread, interrupt }) => ({
      name: "resume",
      arguments: { thread_id: thread, interrupt_id: interrupt, answer: "taken" },
    }),
    changes: true,
  },
  { method: "tasks/get", params: ({ thread, run }) => ({ taskId: `${thread}.${run}` }) },
  { method: "tasks/result", params: ({ thread, run }) => ({ taskId: `${thread}.${run}` }) },
  { method: "tasks/cancel", params: ({ thread, run }) => ({ taskId: `${thread}.${run}` }) },
];

interface Seen {
  readonly status: number;
  readonly text: string;
}

async function ask(path: string, { method, params }: Entry, ids: Ids, headers: Headers): Promise<Seen> {
  const body = { jsonrpc: "2.0", id: 1, method, params: params(ids) };
  const more = path === "/mcp" ? { "mcp-protocol-version": "2025-11-25" } : { "a2a-version": "1.0" };
  const accept = "application/json, text/event-stream";
  const { status, text } = await call(server, "POST", path, body, { ...headers, ...more, accept });
  return { status, text };
}

const choosePath = (entry: Entry, { assistant }: Ids): string => (MCP.includes(entry) ? "/mcp" : `/a2a/${assistant}`);
const nameEntry = (entry: Entry): string => `${MCP.includes(entry) ? "MCP" : "A2A"} ${entry.method}`;

/** Ids as their names, and new ids and times as such. */
function settled({ status, text }: Seen, ids: Ids): Seen {
  let same = text;
  for (const [name, id] of Object.entries(ids)) same = same.replaceAll(id, `<${name}>`);
  same = same
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<new id>")
    .replaceAll(/_[0-9a-f]{8}\b/g, "_<start of an id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  return { status, text: same };
}

async function snapshot(): Promise<unknown> {
  const paths = ["", "/state", "/history", "/runs", "/audit", `/runs/${ann.run}/webhooks`];
  const seen = [];
  for (const path of paths) seen.push(await call(server, "GET", `/threads/${ann.thread}${path}`, undefined, as("ann")));
  return seen.map(({ status, text }) => [status, text]);
}

const before = await snapshot();
const OUTSIDERS: readonly Headers[] = [{}, as("nobody"), as("expired"), as("broken"), { "x-auth-scheme": "langsmith" }];

test("every method of A2A is in the table (gateways/authorisation.5)", () => {
  const methods = Object.entries(compat).flatMap(([name, value]) =>
    name.startsWith("LEGACY_METHOD_") ? [compat.legacyJsonRpcToV1Method(value as never)] : [],
  );
  const table = new Set([...A2A, SUBSCRIBE].map(({ method }) => method));
  assert.deepEqual([...methods, "ListTasks"].toSorted(), [...table].toSorted());
});

for (const entry of [...A2A, SUBSCRIBE, ...MCP]) {
  test(`${nameEntry(entry)}: unknown callers are rejected (gateways/authorisation.1)`, PATIENCE, async () => {
    for (const headers of OUTSIDERS) {
      const { status, text } = await ask(choosePath(entry, ann), entry, ann, headers);
      assert.equal(status, 401, text);
      assert.ok(!text.includes(CANARY));
    }
  });

  test(`${nameEntry(entry)}: another tenant sees none of the data (gateways/authorisation.2)`, PATIENCE, async () => {
    const paths = MCP.includes(entry) ? ["/mcp"] : ["/a2a/agent", `/a2a/${bob.assistant}`];
    for (const path of paths) {
      const [accepted, missing] = [await ask(path, entry, ann, as("bob")), await ask(path, entry, unknown, as("bob"))];
      assert.ok(entry.names === true || !accepted.text.includes(CANARY), accepted.text);
      if (entry.params(ann) !== undefined && JSON.stringify(entry.params(ann)).includes(ann.run.slice(0, 8)))
        assert.deepEqual(settled(accepted, ann), settled(missing, unknown));
    }
    if (MCP.includes(entry)) return;
    const [foreign, none] = [
      await ask(`/a2a/${ann.assistant}`, entry, ann, as("bob")),
      await ask(`/a2a/${unknown.assistant}`, entry, unknown, as("bob")),
    ];
    assert.deepEqual(settled(foreign, ann), settled(none, unknown));
  });
}

for (const entry of [...A2A, ...MCP]) {
  const may = entry.changes !== true;
  test(
    `${nameEntry(entry)}: a read-only caller ${may ? "may" : "may not"} (gateways/authorisation.4)`,
    PATIENCE,
    async () => {
      const { status, text } = await ask(choosePath(entry, ann), entry, ann, as("eve"));
      const refused = status === 403 || text.includes("forbidden") || text.includes("TASK_STATE_AUTH_REQUIRED");
      assert.equal(refused, !may, text);
      if (entry.answers === true) assert.match(text, /TASK_STATE_AUTH_REQUIRED/);
      else if (!may && !MCP.includes(entry)) assert.equal(status, 403, text);
    },
  );
}

test("the cards of another tenant's assistant and of none are alike (gateways/authorisation.2)", async () => {
  for (const headers of [...OUTSIDERS, as("bob")]) {
    const readCard = async (ids: Ids): Promise<Seen> => {
      const path = `/.well-known/agent-card.json?assistant_id=${ids.assistant}`;
      return settled(await call(server, "GET", path, undefined, headers), ids);
    };
    const foreign = await readCard(ann);
    assert.deepEqual(foreign, await readCard(unknown));
    assert.ok(!foreign.text.includes(CANARY));
  }
});

test("after all that, everything of the other tenant is as it was (gateways/authorisation.3)", PATIENCE, async () => {
  assert.deepEqual(await snapshot(), before);
});
