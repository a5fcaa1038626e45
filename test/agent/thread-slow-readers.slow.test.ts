// Tests of readers of a thread that do not read, and of many that have nothing to read.
//   thread-slow-readers.1. A reader that stops reading slows neither the run nor other readers, over server-sent events and
//     over a socket; the server holds little for it, and it gets all that is kept once it reads again.
//   thread-slow-readers.2. 1,000 idle readers take little memory, and do not hinder a run.
//   thread-slow-readers.3. Comments come while the server works on a large run.
//   thread-slow-readers.4. Readers get the begin of a run before its graph can keep the event loop busy. (On PostgreSQL,
//     where they wait for the network, the graph does not wait for them.)
//   thread-slow-readers.5. A peer that sends commands and reads no reply is closed: the server keeps no replies for it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import { PATIENCE } from "../harness/patience.ts";
import { isRunEnd, isRunning } from "../harness/protocol/thread-page.ts";
import { call, removeFolder, startServer } from "../harness/server.ts";
import { openEvents, sendCommand } from "../harness/thread-protocol.ts";
import { createArrivals } from "../harness/arrivals.ts";

const server = await startServer();
const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
after(async () => {
  agent.destroy();
  await server.stop();
  removeFolder(server.dataDir);
});

const ALL = { channels: ["messages", "lifecycle", "values"] };
const EVENTS_MAX = 40;

/** Its events are read only by resume(). */
async function stuck(threadId: string, filter: object): Promise<IncomingMessage> {
  const payload = JSON.stringify(filter);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
  const sent = request(`${server.url}/threads/${threadId}/stream/events`, { method: "POST", agent, headers });
  sent.end(payload);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.pause();
  return response;
}

async function residentBytes(): Promise<number> {
  const { text } = await call(server, "GET", "/metrics");
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
}

const openSocket = (threadId: string): WebSocket =>
  new WebSocket(`${server.url.replace("http", "ws")}/threads/${threadId}/stream/events`);

test("readers that stop reading (thread-slow-readers.1)", PATIENCE, async () => {
  const threadId = randomUUID();
  const idle = [await stuck(threadId, ALL), await stuck(threadId, ALL)];
  const socket = openSocket(threadId);
  await once(socket, "open");
  const { list: frames, add, when } = createArrivals<string>();
  socket.on("message", (data) => add((data as Buffer).toString()));
  const replied = once(socket, "message");
  socket.send(JSON.stringify({ id: 1, method: "subscription.subscribe", params: ALL }));
  await replied;
  socket.pause();
  const reader = await openEvents(server, threadId, ALL);
  const ends: unknown[] = [];
  for (let run = 0; run < EVENTS_MAX / 10; run++) {
    const { result } = await sendCommand(server, threadId, "run.start", { assistant_id: "talks", input: {} });
    ends.push(result["run_id"]);
  }
  for (const runId of ends) await reader.until(isRunEnd(runId)); // nobody waits for those that do not read
  reader.close();
  const isLast = (text: string): boolean => text.includes(`synth:${String(ends.at(-1))}:completed`);
  assert.ok(!frames.some(isLast));
  socket.resume();
  await when("the end on the socket", () => isLast(frames.at(-1) ?? ""));
  assert.ok(frames.length > 100);
  socket.close();
  for (const one of idle) {
    let rest = "";
    for await (const piece of one as AsyncIterable<Buffer>) {
      rest = (rest + piece.toString("latin1")).slice(-100_000);
      if (isLast(rest)) break;
    }
    one.destroy();
  }
});

test("a flood of commands whose replies nobody reads (thread-slow-readers.5)", PATIENCE, async () => {
  const socket = openSocket(randomUUID());
  await once(socket, "open");
  const { add, when } = createArrivals<string>();
  socket.on("message", (data) => add((data as Buffer).toString()));
  socket.on("close", (code) => add(`closed ${code}`));
  socket.pause();
  const { _socket: raw } = socket as unknown as Raw;
  const gone = once(raw, "close");
  const last = 300_000; // their replies are more than the buffers of two sockets
  for (let id = 1; id <= last && !raw.destroyed; id++) {
    socket.send(JSON.stringify({ id, method: "x" }));
    if (raw.writableNeedDrain) await Promise.race([once(raw, "drain"), gone]);
  }
  socket.resume();
  const isEnd = (text: string): boolean => text.startsWith("closed") || text.includes(`"id":${last},`);
  const end = await when("an end", (list) => list.slice(-1).find(isEnd));
  assert.match(end, /^closed (4429|1006)$/); // 1006: the reader was so late that the server had cut the connection
});

interface Raw {
  readonly _socket: Duplex;
}

test("1,000 idle readers (thread-slow-readers.2)", PATIENCE, async () => {
  const threads = await Promise.all(
    Array.from({ length: 10 }, async () => String((await call(server, "POST", "/threads", {})).body["thread_id"])),
  );
  const before = await residentBytes();
  const open = await Promise.all(
    Array.from({ length: 1000 }, (_, at) => stuck(threads[at % threads.length] ?? "", ALL)),
  );
  const grown = (await residentBytes()) - before;
  assert.ok(grown < 150_000_000, `${grown} bytes`);
  const [threadId = ""] = threads;
  const reader = await openEvents(server, threadId, ALL);
  const { result } = await sendCommand(server, threadId, "run.start", { assistant_id: "teller", input: {} });
  await reader.until(isRunEnd(result["run_id"]));
  reader.close();
  for (const one of open) one.destroy();
});

test("comments while a large run is converted (thread-slow-readers.3)", PATIENCE, async () => {
  const [idle, busy] = [randomUUID(), randomUUID()];
  const stream = await stuck(idle, ALL);
  const comments: Buffer[] = [];
  stream.on("data", (piece: Buffer) => {
    if (piece.toString("latin1").startsWith(":")) comments.push(piece);
  });
  stream.resume();
  const reader = await openEvents(server, busy, ALL);
  for (let run = 0; run < 20 && comments.length < 2; run++) {
    const { result } = await sendCommand(server, busy, "run.start", { assistant_id: "talks", input: {} });
    await reader.until(isRunEnd(result["run_id"]));
  }
  assert.ok(comments.length >= 2, `${comments.length} comments`);
  reader.close();
  stream.destroy();
});

const skip = process.env["HOLDPOINT_TEST_STORAGE"] === "postgres";

test("the begin of a run whose graph blocks (thread-slow-readers.4)", { ...PATIENCE, skip }, async () => {
  const threadId = String((await call(server, "POST", "/threads", {})).body["thread_id"]);
  const gate = join(server.dataDir, "gate");
  const reader = await openEvents(server, threadId, ALL);
  const started = sendCommand(server, threadId, "run.start", { assistant_id: "blocks", input: { gate } });
  const [begin] = await reader.until(isRunning);
  writeFileSync(gate, "");
  const { result } = await started;
  assert.equal(begin?.data["run_id"], result["run_id"]);
  const events = await reader.until(isRunEnd(result["run_id"]));
  assert.equal(events.findLast(({ method }) => method === "values")?.data["answer"], true);
  reader.close();
});
