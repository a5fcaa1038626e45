// Tests of the call sequences of two common browser clients: Agent Inbox and agent-chat-ui.
//   inbox-clients.1. Agent Inbox lists interrupts, shows one, and accepts, edits, answers, ignores and resolves it.
//   inbox-clients.2. agent-chat-ui shows an approval card, and resumes with `input: {}` and the command.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import type { WireInterrupt } from "../harness/threads.ts";

const server = await startServerHere();
const client = new Client({ apiUrl: server.url, apiKey: null });
const ORIGIN = "http://localhost:3000";
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

/** The form that the Agent Inbox can show: a list of one. */
const REQUEST = [
  {
    action_request: { action: "send_mail", args: { to: "ann", copies: 2 } },
    config: { allow_ignore: true, allow_respond: true, allow_edit: true, allow_accept: true },
    description: "Please look at this mail",
  },
];

async function waiting(graph = "echo", payload: unknown = REQUEST): Promise<string> {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, graph, { input: { payload } });
  return id;
}

test("Agent Inbox: adding an inbox requests /info, also from another origin on this machine (inbox-clients.1)", async () => {
  const response = await fetch(`${server.url}/info`, { headers: { origin: ORIGIN } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("access-control-allow-origin"), ORIGIN);
  assert.ok(typeof ((await response.json()) as { readonly version: unknown }).version === "string");
});

test("Agent Inbox: the list is found by status and graph, or assistant, with the question in each row (inbox-clients.1)", async () => {
  const id = await waiting();
  const [{ assistant_id: assistantId } = { assistant_id: "" }] = await client.assistants.search({ graphId: "echo" });
  for (const metadata of [{ graph_id: "echo" }, { assistant_id: assistantId }]) {
    const rows = await client.threads.search({ status: "interrupted", metadata, limit: 100 });
    const row = rows.find((thread) => thread.thread_id === id);
    assert.ok(row, JSON.stringify(metadata));
    const [interrupts = []] = Object.values(row.interrupts);
    assert.deepEqual(interrupts.at(-1)?.value, REQUEST);
    const state = await client.threads.getState(id);
    assert.deepEqual(state.tasks.at(-1)?.interrupts.at(-1)?.value, REQUEST);
  }
});

const ANSWERS = [
  { type: "accept", args: { action: "send_mail", args: { to: "ann", copies: "2" } } },
  { type: "edit", args: { action: "send_mail", args: { to: "bob", copies: "3" } } },
  { type: "response", args: "not now" },
];
for (const answer of ANSWERS) {
  test(`Agent Inbox: ${answer.type} follows the run by its events to the end (inbox-clients.1)`, async () => {
    const id = await waiting();
    const nodes = new Set<string>();
    const stream = client.runs.stream(id, "echo", { command: { resume: [answer] }, streamMode: "events" });
    for await (const { event, data } of stream) {
      assert.notEqual(event, "error", JSON.stringify(data));
      const chunk = data as { readonly event?: string; readonly metadata?: { readonly langgraph_node?: string } };
      if (chunk.event === "on_chain_start" && chunk.metadata?.langgraph_node !== undefined)
        nodes.add(chunk.metadata.langgraph_node);
    }
    assert.ok(nodes.has("ask"), "the node that works is shown");
    const thread = await client.threads.get(id);
    assert.equal(thread.status, "idle");
    assert.deepEqual((thread.values as { readonly answer: unknown }).answer, [[answer]]);
  });
}

test("Agent Inbox: ignore is a background run; mark as resolved ends the interrupts (inbox-clients.1)", async () => {
  const ignored = await waiting();
  const run = await client.runs.create(ignored, "echo", { command: { resume: [{ type: "ignore", args: null }] } });
  await client.runs.join(ignored, run.run_id);
  assert.equal((await client.threads.get(ignored)).status, "idle");

  const resolved = await waiting();
  await client.threads.updateState(resolved, { values: null, asNode: "__end__" });
  const thread = await client.threads.get(resolved);
  assert.deepEqual([thread.status, thread.interrupts], ["idle", {}]);
  assert.deepEqual((await client.threads.getState(resolved)).next, []);
});

test("Agent Inbox: the second and the third question of a thread are answered like the first (inbox-clients.1)", async () => {
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "series", { input: {} });
  for (const step of ["one", "two", "three"]) {
    const [open] = Object.values((await client.threads.get(id)).interrupts).flat();
    assert.deepEqual(open?.value, { step });
    const resume = [{ type: "accept", args: null }];
    for await (const { event } of client.runs.stream(id, "series", { command: { resume }, streamMode: "events" }))
      assert.notEqual(event, "error");
  }
});

/** agent-chat-ui's submit(): input and command side by side, and the head of the thread as checkpoint. */
async function submit(id: string, body: object): Promise<readonly string[]> {
  const [head] = await client.threads.getHistory(id, { limit: 1 });
  const { thread_id: _thread, ...checkpoint } = head?.checkpoint ?? { thread_id: id };
  const response = await fetch(`${server.url}/threads/${id}/runs/stream`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: ORIGIN },
    body: JSON.stringify({
      assistant_id: "echo",
      input: {},
      stream_mode: ["values", "updates", "messages-tuple", "custom"],
      stream_subgraphs: true,
      stream_resumable: true,
      on_disconnect: "continue",
      ...(head === undefined ? {} : { checkpoint }),
      ...body,
    }),
  });
  assert.equal(response.status, 200);
  const text = await response.text();
  return [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name ?? "");
}

const CARD = {
  action_requests: [{ name: "refund", args: { order: "A-1" } }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve", "reject"] }],
};

test("agent-chat-ui: a card, and one decision with input {}, which answers and does not start anew (inbox-clients.2)", async () => {
  const id = await waiting("echo", CARD);
  const decision = { decisions: [{ type: "approve" }] };
  const events = await submit(id, { command: { resume: decision } });
  assert.ok(!events.includes("error"), events.join());
  const thread = await client.threads.get(id);
  assert.equal(thread.status, "idle");
  assert.deepEqual((thread.values as { readonly answer: unknown }).answer, [decision]);
  assert.equal((await client.runs.list(id)).length, 2, "one run asked, one answered");
});

test("agent-chat-ui: the loaded history has the interrupt at its checkpoint (inbox-clients.2)", async () => {
  const id = await waiting("echo", CARD);
  const [head] = await client.threads.getHistory(id);
  const interrupts = head?.tasks.flatMap((task) => task.interrupts) as readonly WireInterrupt[] | undefined;
  assert.deepEqual(interrupts?.[0]?.value, CARD);
  assert.deepEqual(head?.next, ["ask"]);
});

test("agent-chat-ui: Resolve ends the thread, and nothing waits any more (inbox-clients.2)", async () => {
  const id = await waiting("echo", CARD);
  const events = await submit(id, { command: { goto: "__end__" } });
  assert.ok(!events.includes("error"), events.join());
  const thread = await client.threads.get(id);
  assert.deepEqual([thread.status, thread.interrupts], ["idle", {}]);
  const audit = await call(server, "GET", `/threads/${id}/audit`);
  assert.match(audit.text, /abandoned/);
});
