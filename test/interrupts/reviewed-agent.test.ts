// Test of an agent of the langchain package with its human-in-the-loop middleware, over the official client: the
// reviewed tool call, and its outcome after approval, edit or rejection.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder } from "../harness/server.ts";
import type { Result } from "../harness/threads.ts";

const server = await startServerHere();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

type ToolCall = readonly [tool: string, args: object];
interface Request {
  readonly actionRequests: readonly { readonly name: string; readonly args: unknown; readonly description: string }[];
  readonly reviewConfigs: readonly { readonly actionName: string; readonly allowedDecisions: readonly string[] }[];
}

async function ask(calls: readonly ToolCall[]): Promise<{ readonly id: string; readonly paused: Result }> {
  const { thread_id: id } = await client.threads.create();
  const messages = [{ role: "user", content: JSON.stringify(calls) }];
  return { id, paused: (await client.runs.wait(id, "reviewed_agent", { input: { messages } })) as Result };
}

async function decide(id: string, decisions: readonly object[]): Promise<Result> {
  return (await client.runs.wait(id, "reviewed_agent", { command: { resume: { decisions } } })) as Result;
}

function readRequest(result: Result): Request {
  const [question, ...more] = result.__interrupt__ ?? [];
  assert.ok(question, JSON.stringify(result));
  assert.deepEqual(more, []);
  return question.value as Request;
}

const lastText = (result: Result): unknown =>
  (result["messages"] as readonly { readonly content: unknown }[]).at(-1)?.content;

const REFUND: ToolCall = ["refund", { order: "A-1", amount: 30 }];

test("a tool call waits for its review, with arguments and allowed decisions", async () => {
  const { id, paused } = await ask([REFUND]);
  const { actionRequests, reviewConfigs } = readRequest(paused);
  assert.deepEqual(
    actionRequests.map(({ name, args }) => [name, args]),
    [["refund", { order: "A-1", amount: 30 }]],
  );
  assert.deepEqual(reviewConfigs[0]?.allowedDecisions, ["approve", "edit", "reject"]);
  assert.equal((await client.threads.get(id)).status, "interrupted");
});

const DECISIONS: readonly [name: string, decision: object, said: RegExp][] = [
  ["approved, it is made as it was", { type: "approve" }, /^refunded 30 for A-1$/],
  [
    "edited, it is made as the person wrote it",
    { type: "edit", editedAction: { name: "refund", args: { order: "A-1", amount: 12.5 } } },
    /^refunded 12\.5 for A-1$/,
  ],
  ["rejected, it is not made, and the model hears why", { type: "reject", message: "too much" }, /too much/],
];

for (const [name, decision, said] of DECISIONS) {
  test(name, async () => {
    const { id } = await ask([REFUND]);
    const result = await decide(id, [decision]);
    if ((decision as { readonly type: string }).type === "reject") {
      assert.match(JSON.stringify(result["messages"]), said);
      assert.doesNotMatch(JSON.stringify(result["messages"]), /refunded/);
    } else assert.match(String(lastText(result)), said);
    assert.equal((await client.threads.get(id)).status, "idle");
  });
}

test("several calls are reviewed at once, one decision each; calls without review run anyway", async () => {
  const { id, paused } = await ask([REFUND, ["look_up", { order: "B-2" }], ["refund", { order: "C-3", amount: 7 }]]);
  assert.equal(readRequest(paused).actionRequests.length, 2);
  const result = await decide(id, [
    { type: "edit", editedAction: { name: "refund", args: { order: "A-1", amount: 1 } } },
    { type: "approve" },
  ]);
  const text = String(lastText(result));
  for (const part of ["refunded 1 for A-1", "refunded 7 for C-3", "B-2 is on its way"]) assert.ok(text.includes(part));
});

test("invalid decisions fail the node with its message; new input starts again", async () => {
  const { id } = await ask([REFUND]);
  await assert.rejects(decide(id, [{ type: "approve" }, { type: "approve" }]), /decisions/i);
  const messages = [{ role: "user", content: JSON.stringify([["look_up", { order: "B-2" }]]) }];
  const result = (await client.runs.wait(id, "reviewed_agent", { input: { messages } })) as Result;
  assert.equal(lastText(result), "B-2 is on its way");
});

test("a call without review causes no pause", async () => {
  const { id, paused } = await ask([["look_up", { order: "B-2" }]]);
  assert.equal(lastText(paused), "B-2 is on its way");
  assert.equal((await client.threads.get(id)).status, "idle");
});
