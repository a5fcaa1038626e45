// Tests of the thread protocol over WebSocket.
//   thread-socket.1. The official client runs, pauses and answers over a socket, also after a reload of the page.
//   thread-socket.2. Two sockets and a stream on one thread all get all; closing one changes nothing for the others.
//   thread-socket.3. Every malformed frame gets an error; the socket stays open.
//   thread-socket.4. A caller without credentials gets an open socket and then close code 4401; a bearer subprotocol
//   authenticates.
//   thread-socket.5. The wire of the Python SDK: a reader of a thread that does not exist yet, commands over HTTP, and
//   after a break the position of all that was seen or applied. No event is missing or comes twice, over a socket and a
//   stream.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder } from "../harness/server.ts";
import { isEnd } from "../harness/protocol/thread-page.ts";
import { parseEvent, openEvents, type ProtocolEvent, sendCommand, whenAsked } from "../harness/thread-protocol.ts";
import { PATIENCE } from "../harness/patience.ts";
import { createArrivals } from "../harness/arrivals.ts";

const server = await startServerHere();
const keyed = await startServerHere({ env: { HOLDPOINT_API_KEYS: "ann:a-key-of-some-length" } });
after(async () => {
  for (const one of [server, keyed]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
});

type Frame = Readonly<Record<string, unknown>>;

async function open(threadId: string, on = server, protocols: string[] = []) {
  const socket = new WebSocket(`${on.url.replace("http", "ws")}/threads/${threadId}/stream/events`, protocols);
  const arrivals = createArrivals<Frame>();
  socket.on("message", (data) => arrivals.add(JSON.parse((data as Buffer).toString()) as Frame));
  await once(socket, "open");
  return { socket, frames: arrivals.list, when: arrivals.when };
}

const ended = (frames: readonly Frame[]): boolean =>
  frames.some((frame) => JSON.stringify(frame).includes('"event":"completed"'));

test("the official client over a socket, with a reload while paused (thread-socket.1)", PATIENCE, async () => {
  const threadId = randomUUID();
  const page = () =>
    new Client({ apiUrl: server.url, apiKey: null }).threads.stream(threadId, {
      assistantId: "echo",
      transport: "websocket",
    });
  const first = page();
  await first.submitRun({ input: { payload: "sure?" } });
  await whenAsked(first);
  await first.close();
  const second = page();
  second.startLifecycleWatcher();
  const asked = await whenAsked(second);
  const ends = createArrivals<boolean>();
  second.onEvent((event) => {
    if (event.method === "lifecycle" && event.params.data.event === "completed") ends.add(true);
  });
  await second.respondInput({ namespace: asked.namespace, interrupt_id: asked.interruptId, response: "yes" });
  await ends.when("the end", ([end]) => end);
  await second.close();
});

test("sockets and streams side by side (thread-socket.2)", PATIENCE, async () => {
  const threadId = randomUUID();
  const [one, other] = [await open(threadId), await open(threadId)];
  const subscribe = { id: 1, method: "subscription.subscribe", params: { channels: ["lifecycle"] } };
  for (const { socket } of [one, other]) socket.send(JSON.stringify(subscribe));
  await other.when("the reply", ([frame]) => frame);
  const stream = await openEvents(server, threadId, { channels: ["lifecycle"] });
  one.socket.send(JSON.stringify({ id: 2, method: "run.start", params: { assistant_id: "teller", input: {} } }));
  await one.when("the end on one", ended);
  await other.when("the end on the other", ended);
  await stream.until(({ data, namespace }) => data["event"] === "completed" && namespace.length === 0);
  one.socket.close();
  await once(one.socket, "close");
  const before = other.frames.length;
  await sendCommand(server, threadId, "run.start", { assistant_id: "teller", input: {} });
  await other.when("the second end", (frames) => ended(frames.slice(before)));
  other.socket.close();
  stream.close();
});

test("malformed frames are answered (thread-socket.3)", PATIENCE, async () => {
  const { socket, frames, when } = await open(randomUUID());
  const bad = ["{", "[]", '{"id":1.5,"method":"x"}', '{"id":3}', '{"id":4,"method":"nonesuch"}'];
  const more = [
    '{"id":5,"method":"subscription.subscribe","params":{"channels":["nonesuch"]}}',
    '{"id":6,"method":"subscription.unsubscribe","params":{"subscription_id":"x"}}',
    '{"id":7,"method":"run.start","params":{"assistant_id":"nonesuch"}}',
    '{"id":8,"method":"state.get"}',
  ];
  for (const text of [...bad, ...more]) socket.send(text);
  await when("all replies", () => frames.length === bad.length + more.length);
  assert.deepEqual(
    frames.map(({ id, error }) => [id, error]),
    [
      [null, "invalid_argument"],
      [null, "invalid_argument"],
      [null, "invalid_argument"],
      [3, "invalid_argument"],
      [4, "unknown_command"],
      [5, "invalid_argument"],
      [6, "no_such_subscription"],
      [7, "invalid_argument"],
      [8, "no_such_run"],
    ],
  );
  assert.equal(socket.readyState, WebSocket.OPEN);
  socket.close();
});

test("authentication of a socket (thread-socket.4)", PATIENCE, async () => {
  const { socket } = await open(randomUUID(), keyed);
  const [code] = (await once(socket, "close")) as [number];
  assert.equal(code, 4401);
  const token = `bearer.${Buffer.from("a-key-of-some-length").toString("base64url")}`;
  const allowed = await open(randomUUID(), keyed, ["holdpoint", token]);
  assert.equal(allowed.socket.protocol, "holdpoint");
  allowed.socket.send('{"id":1,"method":"run.start","params":{"assistant_id":"echo"}}');
  await allowed.when("the reply", ([frame]) => frame);
  allowed.socket.close();
});

test("refused sockets hold no place of their thread (thread-socket.4)", PATIENCE, async () => {
  const threadId = randomUUID();
  const refused = Array.from({ length: 70 }, async () => {
    const socket = new WebSocket(`${keyed.url.replace("http", "ws")}/threads/${threadId}/stream/events`);
    await once(socket, "open");
    socket.pause(); // this peer never takes part in closing
    return socket;
  });
  const sockets = await Promise.all(refused);
  const token = `bearer.${Buffer.from("a-key-of-some-length").toString("base64url")}`;
  const allowed = await open(threadId, keyed, ["holdpoint", token]);
  allowed.socket.send('{"id":1,"method":"run.start","params":{"assistant_id":"echo"}}');
  assert.equal((await allowed.when("the reply", ([frame]) => frame))["id"], 1);
  for (const socket of [...sockets, allowed.socket]) socket.terminate();
});

const FOLLOWED = { channels: ["lifecycle", "input"] };

/** @returns the events after a position, up to the end of a run; then the connection breaks */
async function overSocket(
  threadId: string,
  since: number | null,
  send: () => Promise<unknown>,
): Promise<readonly ProtocolEvent[]> {
  const { socket, when } = await open(threadId);
  const params = since === null ? FOLLOWED : { ...FOLLOWED, since };
  socket.send(JSON.stringify({ id: 1, method: "subscription.subscribe", params }));
  const reply = await when("the reply", ([frame]) => frame);
  assert.deepEqual([reply["id"], reply["type"]], [1, "success"]);
  await send();
  const events = await when("the end", (frames) => {
    const seen = frames.slice(1).map((frame) => parseEvent(JSON.stringify(frame)));
    return seen.some(isEnd) ? seen : undefined;
  });
  socket.terminate();
  return events;
}

async function overStream(
  threadId: string,
  since: number | null,
  send: () => Promise<unknown>,
): Promise<readonly ProtocolEvent[]> {
  const stream = await openEvents(server, threadId, since === null ? FOLLOWED : { ...FOLLOWED, since });
  await send();
  const events = await stream.until(isEnd);
  stream.close();
  return events;
}

for (const [transport, follow] of [
  ["a socket", overSocket],
  ["a stream", overStream],
] as const) {
  test(`the wire of the Python SDK over ${transport} (thread-socket.5)`, PATIENCE, async () => {
    const threadId = randomUUID();
    let position: number | null = null;
    const seen: ProtocolEvent[] = [];
    const command = async (method: string, params: object): Promise<void> => {
      const { type, meta } = await sendCommand(server, threadId, method, params);
      assert.equal(type, "success");
      position = Math.max(position ?? 0, meta.applied_through_seq);
    };
    const take = (events: readonly ProtocolEvent[]): void => {
      seen.push(...events);
      position = Math.max(position ?? 0, ...events.map(({ seq }) => seq));
    };
    take(await follow(threadId, null, () => command("run.start", { assistant_id: "series", input: {} })));
    for (const response of ["1", "2", "3", "4"]) {
      const asked = seen.findLast(({ method }) => method === "input.requested");
      const answer = { namespace: [], interrupt_id: asked?.data["interrupt_id"], response };
      if (response === "2") await command("input.respond", answer); // no reader is there
      const send = response === "2" ? async () => undefined : () => command("input.respond", answer);
      take(await follow(threadId, position, send));
    }
    assert.equal(seen.at(-1)?.data["event"], "completed");
    const tape = await openEvents(server, threadId, { ...FOLLOWED, since: 0 });
    const whole = await tape.until(({ id }) => id === seen.at(-1)?.id);
    tape.close();
    assert.deepEqual(seen, whole);
  });
}
