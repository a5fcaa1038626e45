// The SDK's client.threads.stream(), unmodified, over server-sent events.
//   thread-stream.1. A run streams text and states; a second run of the same page ends as late as it works.
//   thread-stream.2. A page sees a question and answers it by id, also after a reload and a restart of the server.
//   thread-stream.3. A failed run appears as failed.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { removeFolder } from "../harness/server.ts";
import { whenAsked } from "../harness/thread-protocol.ts";
import { PATIENCE } from "../harness/patience.ts";
import { type Arrivals, createArrivals } from "../harness/arrivals.ts";

let server: ServerHere = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const page = (assistantId: string, threadId: string) =>
  new Client({ apiUrl: server.url, apiKey: null }).threads.stream(threadId, { assistantId });

type Page = ReturnType<typeof page>;

/** The root ends that a page sees, as they come. */
function listEnds(thread: Page): Arrivals<string> {
  const ends = createArrivals<string>();
  thread.onEvent((event) => {
    if (event.method !== "lifecycle" || event.params.namespace.length > 0) return;
    const { event: name } = event.params.data as { readonly event: string };
    if (name !== "running") ends.add(name);
  });
  return ends;
}

test("text and states of two runs in a row (thread-stream.1)", PATIENCE, async () => {
  const thread = page("teller", randomUUID());
  // The client ends an iteration of `thread.messages` with the run: its listeners see all runs.
  const texts = createArrivals<unknown>();
  thread.onEvent((event) => {
    if (event.method !== "messages") return;
    const data = event.params.data as { readonly event: string; readonly content?: { readonly text?: unknown } };
    if (data.event === "content-block-finish") texts.add(data.content?.text);
  });
  await thread.subscribe(["messages"]);
  const ends = listEnds(thread);
  await thread.submitRun({ input: {} });
  await ends.when("the first end", ({ length }) => length >= 1);
  await thread.submitRun({ input: {} });
  await ends.when("the second end", ({ length }) => length >= 2);
  assert.deepEqual(ends.list, ["completed", "completed"]);
  await texts.when("two texts", ({ length }) => length >= 2);
  assert.deepEqual(texts.list, ["Hi!", "Hi!"]);
  await thread.close();
});

test("a question is answered by a page that is loaded anew, after a restart (thread-stream.2)", PATIENCE, async () => {
  const threadId = randomUUID();
  const first = page("echo", threadId);
  const ends = listEnds(first);
  await first.submitRun({ input: { payload: "sure?" } });
  await ends.when("the pause", ({ length }) => length >= 1);
  assert.deepEqual(ends.list, ["interrupted"]);
  assert.equal(first.interrupts.length, 1);
  await first.close();

  const { dataDir } = server;
  await server.stop();
  server = await startServerHere({ dataDir });
  const second = page("echo", threadId);
  second.startLifecycleWatcher();
  const later = listEnds(second);
  const asked = await whenAsked(second);
  assert.deepEqual(asked.payload, "sure?");
  await second.respondInput({ namespace: asked.namespace, interrupt_id: asked.interruptId, response: "yes" });
  await later.when("the end", (ends) => ends.includes("completed"));
  const { values } = await second.state.get({ namespace: [] });
  assert.deepEqual((values as { readonly answer: unknown }).answer, ["yes"]);
  await assert.rejects(
    second.respondInput({ namespace: [], interrupt_id: asked.interruptId, response: "no" }),
    ({ code }: { code: string }) => code === "no_such_interrupt",
  );
  await second.close();
});

test("a failed run appears as failed (thread-stream.3)", PATIENCE, async () => {
  const thread = page("throwing", randomUUID());
  const ends = listEnds(thread);
  await thread.submitRun({ input: {} });
  await ends.when("the end", ({ length }) => length >= 1);
  assert.deepEqual(ends.list, ["failed"]);
  await thread.close();
});
