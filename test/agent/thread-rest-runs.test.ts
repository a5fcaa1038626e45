// Tests of REST runs in event streams of the thread protocol, and of protocol runs in REST streams.
//   thread-rest-runs.1. The messages of a REST run stream as deltas, before the state that has them, in both of its forms;
//     a replay, also from the middle, has the same events.
//   thread-rest-runs.2. The stream of a REST run has the same bytes with and without readers of the thread.
//   thread-rest-runs.3. A REST reader of a protocol run gets its updates, tasks and custom events.
//   thread-rest-runs.4. No event of a REST run is older than a checkpoint before it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { readEvents } from "../harness/events.ts";
import { PATIENCE } from "../harness/patience.ts";
import { isEnd } from "../harness/protocol/thread-page.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { openEvents, type ProtocolEvent, sendCommand } from "../harness/thread-protocol.ts";

const server = await startServerHere();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const ALL = {
  channels: ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"],
};

async function newThread(): Promise<string> {
  return String((await call(server, "POST", "/threads", {})).body["thread_id"]);
}

const streamRun = async (threadId: string, modes: readonly string[]) => {
  const body = { assistant_id: "teller", input: {}, stream_mode: modes };
  return (await readEvents(server, `/threads/${threadId}/runs/stream`, { body })).rest();
};

const brief = ({ method, data }: ProtocolEvent): string => {
  const { event, delta, content } = data as { event?: string; delta?: { text: string }; content?: { text: string } };
  return [method, event, delta?.text ?? content?.text].filter((part) => part !== undefined).join(" ");
};

for (const modes of [["messages-tuple", "values"], ["messages"], ["messages-tuple"]]) {
  test(`deltas of a REST run with ${modes.join()} (thread-rest-runs.1)`, PATIENCE, async () => {
    const threadId = await newThread();
    const live = await openEvents(server, threadId, ALL);
    await streamRun(threadId, modes);
    const seen = await live.until(isEnd);
    const messages = seen.filter(({ method }) => method === "messages");
    assert.deepEqual(messages.map(brief), [
      "messages message-start",
      "messages content-block-start ",
      "messages content-block-delta H",
      "messages content-block-delta i",
      "messages content-block-delta !",
      "messages content-block-finish Hi!",
      "messages message-finish",
    ]);
    assert.ok(messages.every(({ namespace }) => namespace[0]?.startsWith("speaks:")));
    const state = seen.findIndex(({ method, data }) => method === "values" && JSON.stringify(data).includes("Hi!"));
    assert.ok(modes.length < 2 || state > seen.indexOf(messages.at(-1) as ProtocolEvent));
    for (const since of [undefined, seen[0]?.seq, messages[3]?.seq]) {
      const replay = await openEvents(server, threadId, since === undefined ? ALL : { ...ALL, since });
      assert.deepEqual(
        await replay.until(isEnd),
        seen.filter(({ seq }) => since === undefined || seq > since),
      );
      replay.close();
    }
    live.close();
  });
}

test("readers of the thread change nothing in a REST stream (thread-rest-runs.2)", PATIENCE, async () => {
  const modes = ["values", "updates", "tasks", "custom", "messages-tuple"];
  const withoutIds = (events: readonly object[]): string =>
    JSON.stringify(events).replaceAll(/[\da-f]{8}-[\da-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<id>");
  const alone = await streamRun(await newThread(), modes);
  const threadId = await newThread();
  const readers = [await openEvents(server, threadId, ALL), await openEvents(server, threadId, ALL)];
  const watched = await streamRun(threadId, modes);
  assert.equal(withoutIds(watched), withoutIds(alone));
  for (const one of readers) one.close();
});

test("a REST reader of a protocol run (thread-rest-runs.3)", PATIENCE, async () => {
  const threadId = randomUUID();
  const live = await openEvents(server, threadId, ALL);
  const { result } = await sendCommand(server, threadId, "run.start", { assistant_id: "teller", input: {} });
  await live.until(isEnd);
  const path = `/threads/${threadId}/runs/${String(result["run_id"])}/stream`;
  const joined = await (await readEvents(server, path)).rest();
  const names = new Set(joined.map(({ event }) => event.replace(/:.*/, "")));
  assert.deepEqual(
    names,
    new Set([
      "metadata",
      "tasks",
      "custom",
      "updates",
      "values",
      "values|inner",
      "tasks|inner",
      "custom|inner",
      "updates|inner",
    ]),
  );
  const of = (name: string) => joined.filter(({ event }) => event === name).map(({ data }) => data as unknown);
  assert.deepEqual(of("custom"), [{ n: 0 }, { n: 1 }]);
  assert.deepEqual(Object.keys(of("updates")[0] as object), ["tells"]);
  const updates = await (await readEvents(server, `${path}?stream_mode=updates`)).rest();
  assert.deepEqual([...new Set(updates.map(({ event }) => event.replace(/\|.*/, "")))], ["metadata", "updates"]);
  live.close();
});

test("times of derived events (thread-rest-runs.4)", PATIENCE, async () => {
  const threadId = await newThread();
  const live = await openEvents(server, threadId, ALL);
  await streamRun(threadId, ["updates", "custom", "values"]);
  let newest = 0;
  for (const { method, namespace, timestamp } of await live.until(isEnd)) {
    if (method === "checkpoints" && namespace.length === 0) newest = timestamp;
    assert.ok(timestamp >= newest, method);
  }
  assert.ok(newest > 0);
  live.close();
});
