// Tests of the order of a thread's events over several runs.
//   thread-order.1. Events of the runs of a thread never mix, however the runs were started: over the protocol, over REST,
//     by a cron, by an answer in the inbox.
//   thread-order.2. While one run works and the next waits, a replay has `running` of the first only; the waiting run shows
//     nothing until a worker claims it.
//   thread-order.3. A run that exceeds its deadline fails, once.
//   thread-order.4. `since` in a frame of a socket, and a position before what is kept, work as in a stream.
//   thread-order.5. The replay of a long message after compaction is short, and its text is whole.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { WebSocket } from "ws";
import { answer } from "../harness/inbox.ts";
import { testInLong, testInShort } from "../harness/long.ts";
import { PATIENCE } from "../harness/patience.ts";
import { isEnd, isRunEnd, isRoot, isRunning } from "../harness/protocol/thread-page.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { parseEvent, openEvents, type ProtocolEvent, sendCommand } from "../harness/thread-protocol.ts";
import { until } from "../harness/threads.ts";
import { createArrivals } from "../harness/arrivals.ts";

const server = await startServerHere({ limits: { protocolCompactSecs: 0 } });
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const ALL = {
  channels: ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"],
};
const start = (threadId: string, assistant: string, input: object = {}, more: object = {}) =>
  sendCommand(server, threadId, "run.start", { assistant_id: assistant, input, ...more });
const newThread = async (): Promise<string> => String((await call(server, "POST", "/threads", {})).body["thread_id"]);

testInShort("runs of every origin, one after the other (thread-order.1)", PATIENCE, async () => {
  const threadId = await newThread();
  const reader = await openEvents(server, threadId, ALL);
  const seen: ProtocolEvent[] = [];
  const follow = async (runs: number): Promise<void> => {
    for (let run = 0; run < runs; run++) seen.push(...(await reader.until(isEnd)));
  };
  for (let run = 0; run < 2; run++) await start(threadId, "teller");
  const body = { assistant_id: "teller", input: {}, stream_mode: ["updates", "messages-tuple"] };
  for (let run = 0; run < 2; run++) await call(server, "POST", `/threads/${threadId}/runs`, body);
  await follow(4);
  const cron = { assistant_id: "echo", schedule: "* * * * * *", input: { payload: "?" } };
  const made = await call(server, "POST", `/threads/${threadId}/runs/crons`, cron);
  seen.push(...(await reader.until(isRunning)));
  await call(server, "DELETE", `/runs/crons/${String(made.body["cron_id"])}`);
  await follow(1);
  const question = seen.findLast(({ method }) => method === "input.requested");
  const item = { thread_id: threadId, interrupt_id: question?.data["interrupt_id"], resume: "yes" };
  assert.equal((await answer(server, [item]))[0]?.status, "answered");
  await follow(1);
  let running: unknown = null;
  let ended = 0;
  for (const event of seen) {
    if (isRunning(event)) {
      assert.equal(running, null);
      running = event.data["run_id"];
    } else if (event.method === "input.answered") assert.equal(running, null);
    else assert.notEqual(running, null, event.method);
    if (isEnd(event)) {
      assert.equal(event.data["run_id"], running);
      running = null;
      ended++;
    } else if (isRoot(event) || event.method === "messages" || event.method === "updates") {
      assert.ok(event.id.includes(String(running)), event.id);
    }
  }
  assert.equal(ended, 6);
  const replay = await openEvents(server, threadId, { channels: ["lifecycle"], since: 0 });
  const ends = seen.filter(isEnd);
  const replayed = await replay.until(isRunEnd(ends.at(-1)?.data["run_id"]));
  assert.deepEqual(replayed.filter(isEnd), ends);
  for (const one of [reader, replay]) one.close();
});

testInShort("a run that waits for another one (thread-order.2)", PATIENCE, async () => {
  const threadId = randomUUID();
  const gate = join(folder, "gate");
  const first = await start(threadId, "teller", { gate });
  const live = await openEvents(server, threadId, { channels: ["lifecycle"] });
  const second = await start(threadId, "teller");
  const [running] = await live.until(isRunning);
  assert.equal(running?.data["run_id"], first.result["run_id"]);
  const replay = await openEvents(server, threadId, { channels: ["lifecycle"] });
  assert.deepEqual(await replay.until(isRunning), [running]);
  writeFileSync(gate, "");
  for (const reader of [live, replay]) {
    const roots = (await reader.until(isRunEnd(second.result["run_id"]))).filter(isRoot);
    assert.deepEqual(
      roots.map(({ data }) => [data["run_id"], data["event"]]),
      [
        [first.result["run_id"], "completed"],
        [second.result["run_id"], "running"],
        [second.result["run_id"], "completed"],
      ],
    );
    reader.close();
  }
  const later = await openEvents(server, threadId, { channels: ["lifecycle"], namespaces: [[]], depth: 0 });
  const left = await later.until(isEnd);
  assert.deepEqual(new Set(left.map(({ data }) => data["run_id"])), new Set([second.result["run_id"]]));
  later.close();
});

testInShort("a run over its deadline (thread-order.3)", PATIENCE, async (t) => {
  const hasty = await startServerHere({ env: { BG_JOB_TIMEOUT_SECS: "1" } });
  t.after(async () => {
    await hasty.stop();
    removeFolder(hasty.dataDir);
  });
  const threadId = randomUUID();
  const reader = await openEvents(hasty, threadId, { channels: ["lifecycle"] });
  await sendCommand(hasty, threadId, "run.start", { assistant_id: "slow", input: { waitMs: 600_000 } });
  const { data = {} } = (await reader.until(isEnd)).at(-1) ?? {};
  assert.deepEqual([data["event"], data["ended_by"], "reason" in data], ["failed", "timeout", false]);
  assert.match(String(data["error"]), /^Timeout: /);
  reader.close();
});

testInShort("since in a frame of a socket (thread-order.4)", PATIENCE, async () => {
  const threadId = randomUUID();
  const { result } = await start(threadId, "teller");
  const reader = await openEvents(server, threadId, ALL);
  const all = await reader.until(isRunEnd(result["run_id"]));
  reader.close();
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/threads/${threadId}/stream/events`);
  const { list: frames, add, when } = createArrivals<string>();
  socket.on("message", (data) => add((data as Buffer).toString()));
  await once(socket, "open");
  const since = all[3]?.seq;
  socket.send(JSON.stringify({ id: 1, method: "subscription.subscribe", params: { ...ALL, since } }));
  const isLast = (text: string): boolean => text.includes(`synth:${String(result["run_id"])}:completed`);
  await when("the end", () => frames.some(isLast));
  const [reply, ...events] = frames;
  assert.match(reply ?? "", /"type":"success"/);
  assert.ok(events.map(parseEvent).every(({ seq }) => seq > (since ?? 0)));
  assert.equal(parseEvent(events.at(-1) ?? "").id, all.at(-1)?.id);
  socket.close();
});

for (const [words, inForm] of [
  [200, testInShort],
  [2000, testInLong],
] as const)
  inForm(`${5 * words} deltas after compaction (thread-order.5)`, PATIENCE, async () => {
    const threadId = randomUUID();
    const filter = { channels: ["messages", "lifecycle"] };
    const { result } = await start(threadId, "talks", {}, { config: { configurable: { words } } });
    const small = await until("the compaction", async () => {
      const reader = await openEvents(server, threadId, filter);
      const events = await reader.until(isRunEnd(result["run_id"]));
      reader.close();
      return events.length > 20 ? undefined : events;
    });
    const block = small.find(({ data }) => data["event"] === "content-block-finish");
    assert.equal((block?.data["content"] as { readonly text: string } | undefined)?.text, "word ".repeat(words));
  });
