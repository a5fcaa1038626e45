// Tests of `useStream` without React: the SDK's own StreamOrchestrator, behind every framework's hook.
//   use-stream.1. A conversation streams, pauses, gets its answer with `submit({}, {command})`, and ends, all in one
//        thread.
//   use-stream.2. A reloaded page finds the interrupt in the thread's history, and can answer it.
//   use-stream.3. Sending an earlier message again from its checkpoint branches the conversation.
//   use-stream.5. A reloaded page shows the error of the failed run, with its name and message.
//   use-stream.6. Messages submitted at once run in the order in which their requests arrive; the hook sends the first last.
//   use-stream.4. stop() ends the run; a join of a run in progress shows it from the requested position.
import { Client, type Interrupt } from "@langchain/langgraph-sdk";
import { StreamOrchestrator } from "@langchain/langgraph-sdk/ui";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { followLog, newNotes } from "../harness/threads.ts";
import { createArrivals } from "../harness/arrivals.ts";

const server = await startServerHere();
const folder = temporaryFolder();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

type State = Record<string, unknown>;

function page(assistantId: string, threadId?: string): StreamOrchestrator<State> {
  const orchestrator = new StreamOrchestrator<State>(
    { assistantId, client, fetchStateHistory: { limit: 100 } },
    { getClient: () => client, getAssistantId: () => assistantId, getMessagesKey: () => "messages" },
  );
  if (threadId !== undefined) orchestrator.initThreadId(threadId);
  return orchestrator;
}

/** Resolves when the page shows it. */
function shows(orchestrator: StreamOrchestrator<State>, what: string, done: () => boolean): Promise<void> {
  const changes = createArrivals<null>();
  const unsubscribe = orchestrator.subscribe(() => changes.add(null));
  return changes.when(what, done).then(() => unsubscribe());
}

const ask = (calls: readonly unknown[]): State => ({ messages: [{ type: "human", content: JSON.stringify(calls) }] });
const REFUND = [["refund", { order: "A-1", amount: 30 }]];
const APPROVE = { command: { resume: { decisions: [{ type: "approve" }] } } } as const;

const texts = (orchestrator: StreamOrchestrator<State>): readonly unknown[] =>
  orchestrator.messages.map(({ content }) => content).filter((content) => content !== "");

const names = (interrupt: Interrupt | undefined): readonly string[] => {
  const { value } = interrupt ?? {};
  return ((value as { readonly actionRequests?: readonly { readonly name: string }[] })?.actionRequests ?? []).map(
    ({ name }) => name,
  );
};

test("a conversation pauses for a review, is answered and ends (use-stream.1)", async () => {
  const chat = page("reviewed_agent");
  await chat.submit(ask(REFUND), { onDisconnect: "continue" });
  assert.ok(chat.threadId);
  assert.equal(chat.error, undefined);
  assert.deepEqual(names(chat.interrupt as Interrupt), ["refund"]);
  assert.equal((await client.threads.get(chat.threadId)).status, "interrupted");

  await chat.submit({}, APPROVE);
  assert.equal(chat.error, undefined);
  assert.equal(chat.interrupt, undefined);
  assert.equal(texts(chat).at(-1), "refunded 30 for A-1");
  assert.equal((await client.threads.get(chat.threadId)).status, "idle");
});

test("several questions in one thread, each answered in turn (use-stream.1)", async () => {
  const chat = page("series");
  await chat.submit({});
  for (const step of ["one", "two", "three", "four"]) {
    assert.deepEqual(chat.interrupt?.value, { step });
    await chat.submit({}, { command: { resume: step } });
  }
  assert.deepEqual(chat.values["answers"], ["one", "two", "three", "four"]);
});

test("a reloaded page shows the question, and its answer is accepted (use-stream.2)", async () => {
  const first = page("reviewed_agent");
  await first.submit(ask(REFUND));
  const second = page("reviewed_agent", first.threadId);
  await shows(second, "the question", () => second.interrupt !== undefined);
  assert.deepEqual(names(second.interrupt as Interrupt), ["refund"]);
  assert.equal(second.messages.length, first.messages.length);
  await second.submit({}, APPROVE);
  assert.equal(texts(second).at(-1), "refunded 30 for A-1");
});

test("a reloaded page shows the error of a failed run (use-stream.5)", async () => {
  const { thread_id: threadId } = await client.threads.create();
  await client.runs.wait(threadId, "failing", { input: {}, raiseError: false });
  const reloaded = page("failing", threadId);
  await shows(reloaded, "the error", () => reloaded.error !== undefined);
  const { message, name } = reloaded.error as Error;
  assert.deepEqual([name, message], ["NodeFault", "this node always fails"]);
});

test("an earlier message is sent anew from its checkpoint: the conversation branches (use-stream.3)", async () => {
  const chat = page("reviewed_agent");
  await chat.submit(ask([["look_up", { order: "B-2" }]]));
  const [asked] = chat.messages;
  assert.ok(asked);
  const before = chat.getMessagesMetadata(asked)?.firstSeenState?.parent_checkpoint;
  await chat.submit(ask([["look_up", { order: "C-3" }]]), { checkpoint: before ?? null });
  assert.equal(texts(chat).at(-1), "C-3 is on its way");
  assert.doesNotMatch(JSON.stringify(chat.messages), /B-2/);
  const again = chat.messages[0];
  assert.ok(again);
  assert.equal(chat.getMessagesMetadata(again)?.branchOptions?.length, 2);
});

test("stop() ends the run, and the thread takes the next message (use-stream.4)", async () => {
  const notes = newNotes(folder);
  const chat = page("slow");
  const sent = chat.submit({ notes: notes.notes, waitMs: 600_000 });
  await notes.reached("waits");
  await chat.stop();
  await sent;
  const threadId = chat.threadId ?? "";
  await followLog(server, "the run has ended", async () =>
    (await client.threads.get(threadId)).status === "idle" ? true : undefined,
  );
  assert.equal(notes.count("waited"), 0);
});

test("a run that is under way is joined from its beginning (use-stream.4)", async () => {
  const notes = newNotes(folder);
  const { thread_id: threadId } = await client.threads.create();
  const input = { notes: notes.notes, waitMs: 300 };
  const run = await client.runs.create(threadId, "slow", { input, streamMode: ["values"], streamResumable: true });
  const chat = page("slow", threadId);
  await chat.joinStream(run.run_id, "-1");
  assert.equal(chat.error, undefined);
  assert.equal(chat.values["result"], "whole");
});

test("of messages at once the hook sends the first last, and the server keeps that order (use-stream.6)", async () => {
  const sent: string[] = [];
  let previous: Promise<unknown> = Promise.resolve();
  /** Requests arrive in the order in which they are sent. */
  const inOrder: typeof fetch = (url, init) => {
    const [, text] = /order\\":\\"(\w+)/.exec(typeof init?.body === "string" ? init.body : "") ?? [];
    if (text === undefined) return fetch(url, init);
    sent.push(text);
    const reply = previous.then(() => fetch(url, init));
    previous = reply;
    return reply;
  };
  const { thread_id: threadId } = await client.threads.create();
  const ordered = new Client({ apiUrl: server.url, apiKey: null, callerOptions: { fetch: inOrder } });
  const chat = new StreamOrchestrator<State>(
    { assistantId: "reviewed_agent", client: ordered },
    { getClient: () => ordered, getAssistantId: () => "reviewed_agent", getMessagesKey: () => "messages" },
  );
  chat.initThreadId(threadId);
  await Promise.all(["first", "second", "third"].map((order) => chat.submit(ask([["look_up", { order }]]))));
  assert.deepEqual(sent, ["second", "third", "first"]);
  for (const { run_id: id } of await client.runs.list(threadId)) await client.runs.join(threadId, id);
  await shows(chat, "the end of all", () => chat.queueSize === 0 && !chat.isLoading);
  const { values } = await client.threads.getState<{ messages: { type: string; content: string }[] }>(threadId);
  const asked = values.messages.filter(({ type }) => type === "human").map(({ content }) => content);
  assert.deepEqual(
    asked,
    sent.map((order) => JSON.stringify([["look_up", { order }]])),
  );
});
