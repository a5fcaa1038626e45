// Tests of connections to the thread protocol: sockets, limits, positions, rights.
//   thread-connections.1. Frames and subscriptions beyond the limits, and ids that are no UUIDs, are refused by code.
//   thread-connections.2. A page of another origin opens no socket.
//   thread-connections.3. A caller has a limited number of streams of threads that do not exist.
//   thread-connections.4. A deleted thread ends its readers; its id can be used again.
//   thread-connections.5. Last-Event-ID with an id or a number continues after it; an unknown one replays all. After a
//     position above all events, later ones follow.
//   thread-connections.6. An idle stream gets its head and comments.
//   thread-connections.7. state.get by namespace, with and without task ids; state.listCheckpoints pages, newest first.
//   thread-connections.8. A thread that leaves the scope of its reader disconnects the reader; then it looks missing.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import { PATIENCE } from "../harness/patience.ts";
import { isRunEnd, isRunning } from "../harness/protocol/thread-page.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";
import { parseEvent, openEvents, type ProtocolEvent, sendCommand } from "../harness/thread-protocol.ts";
import { until } from "../harness/threads.ts";
import { createArrivals } from "../harness/arrivals.ts";

const KEY = "a-key-of-some-length";
const server = await startServerHere({ limits: { streamHeartbeatMs: 100 } });
const keyed = await startServerHere({ env: { HOLDPOINT_API_KEYS: `ann:${KEY}` } });
const owned = await startServerHere({ config: join(ROOT, "test", "graphs", "owners", "langgraph.json") });
after(async () => {
  for (const one of [server, keyed, owned]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
});

type Frame = Readonly<Record<string, unknown>>;

const address = (threadId: string): string => `${server.url.replace("http", "ws")}/threads/${threadId}/stream/events`;

async function open(threadId: string, headers: Readonly<Record<string, string>> = {}) {
  const socket = new WebSocket(address(threadId), { headers });
  const { list: frames, add, when } = createArrivals<Frame>();
  socket.on("message", (data) => add(JSON.parse((data as Buffer).toString()) as Frame));
  await once(socket, "open");
  return {
    socket,
    frames,
    when,
    send: (id: number, method: string, params: object) => socket.send(JSON.stringify({ id, method, params })),
    reply: (id: number) =>
      when(`reply ${id}`, () => frames.find((frame) => frame["id"] === id && frame["type"] !== "event")),
    ended: (runId: unknown) =>
      when("the end", () => {
        const at = frames.findIndex((frame) => frame["type"] === "event" && isRunEnd(runId)(wireEvent(frame)));
        return at < 0 ? undefined : at;
      }),
  };
}

const wireEvent = (frame: Frame): ProtocolEvent => parseEvent(JSON.stringify(frame));
const closeCode = async (socket: WebSocket): Promise<unknown> => (await once(socket, "close"))[0] as unknown;
const start = (threadId: string, assistant: string, input: object = {}) =>
  sendCommand(server, threadId, "run.start", { assistant_id: assistant, input });

test("frames, subscriptions and ids beyond the limits (thread-connections.1)", PATIENCE, async () => {
  const { socket, send, reply } = await open(randomUUID());
  for (let id = 1; id <= 101; id++) {
    send(id, "subscription.subscribe", { channels: ["lifecycle"] });
    const { type, error } = await reply(id);
    assert.deepEqual([type, error], id <= 100 ? ["success", undefined] : ["error", "invalid_argument"]);
  }
  socket.send("x".repeat(1024 * 1024 + 1));
  assert.equal(await closeCode(socket), 1009);
  const wrong = new WebSocket(address("not-a-uuid"));
  assert.equal(await closeCode(wrong), 4422);
  for (const [path, body] of [
    ["stream/events", { channels: ["values"] }],
    ["commands", { id: 1, method: "agent.getTree" }],
    ["stream/tickets", undefined],
  ] as const)
    assert.equal((await call(server, "POST", `/threads/not-a-uuid/${path}`, body)).status, 422);
  const body = { channels: ["values"], namespaces: [Array.from({ length: 33 }, () => "a")] };
  assert.equal((await call(server, "POST", `/threads/${randomUUID()}/stream/events`, body)).status, 422);
  const command = JSON.stringify({ id: 1, method: "agent.getTree" });
  const path = `/threads/${randomUUID()}/commands`;
  assert.equal((await call(server, "POST", path, command, { "content-type": "text/plain" })).status, 415);
  assert.equal((await call(server, "POST", path, "{")).status, 400);
  assert.equal((await call(server, "POST", path, { id: 1 })).status, 422);
  assert.equal((await call(server, "POST", path, command)).status, 404);
});

test("more sockets and commands than the limits (thread-connections.1)", PATIENCE, async () => {
  const threadId = randomUUID();
  const sockets = await Promise.all(Array.from({ length: 64 }, () => open(threadId)));
  assert.equal(await closeCode(new WebSocket(address(threadId))), 4429);
  const { frames, send, when } = sockets[0] ?? (await open(threadId));
  const count = 200; // in one packet
  for (let id = 1; id <= count; id++) send(id, "agent.getTree", {});
  await when("every reply", () => frames.length === count);
  const errors = new Set(frames.map(({ message }) => message));
  assert.ok(errors.has("too many commands at once"), [...errors].join());
  for (const { socket } of sockets) socket.terminate();
});

test("a page of another origin opens no socket (thread-connections.2)", PATIENCE, async () => {
  const foreign = new WebSocket(address(randomUUID()), { headers: { origin: "https://evil.example", cookie: "a=b" } });
  assert.equal(await closeCode(foreign), 4403);
  const { socket } = await open(randomUUID(), { origin: "http://localhost:5173" });
  socket.close();
});

test("streams of threads that do not exist are limited per caller (thread-connections.3)", PATIENCE, async () => {
  const attach = (threadId: string) =>
    fetch(`${keyed.url}/threads/${threadId}/stream/events`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": KEY },
      body: JSON.stringify({ channels: ["lifecycle"] }),
    });
  const streams = await Promise.all(Array.from({ length: 64 }, () => attach(randomUUID())));
  for (const { status } of streams) assert.equal(status, 200);
  const one = await attach(randomUUID());
  assert.equal(one.status, 429);
  assert.equal(((await one.json()) as { readonly code: string }).code, "too_many_streams");
  const made = await call(keyed, "POST", "/threads", {}, { "x-api-key": KEY });
  const known = await attach(String(made.body["thread_id"]));
  assert.equal(known.status, 200);
  await Promise.all([known, ...streams].map(async ({ body }) => body?.cancel()));
  await until("a place", async () => {
    const again = await attach(randomUUID());
    await again.body?.cancel();
    return again.status === 200 ? true : undefined;
  });
});

test("a deleted thread ends its readers, and its id is free (thread-connections.4)", PATIENCE, async () => {
  const threadId = randomUUID();
  const { result } = await start(threadId, "echo", { payload: 1 });
  const { socket, send, ended } = await open(threadId);
  send(1, "subscription.subscribe", { channels: ["lifecycle"] });
  await ended(result["run_id"]);
  const stream = await openEvents(server, threadId, { channels: ["lifecycle"] });
  await stream.until(isRunEnd(result["run_id"]));
  const closed = closeCode(socket);
  assert.equal((await call(server, "DELETE", `/threads/${threadId}`)).status, 204);
  assert.equal(await closed, 4404);
  await assert.rejects(stream.until(() => false));
  const again = await start(threadId, "echo", { payload: 2 });
  const fresh = await openEvents(server, threadId, { channels: ["lifecycle"] });
  const events = await fresh.until(isRunEnd(again.result["run_id"]));
  assert.deepEqual(
    events.map(({ data }) => data["event"]),
    ["running", "interrupted"],
  );
  fresh.close();
});

test("Last-Event-ID continues, by id or by number (thread-connections.5)", PATIENCE, async () => {
  const threadId = randomUUID();
  const filter = { channels: ["lifecycle", "values", "custom", "input"] };
  const { result } = await start(threadId, "teller");
  const first = await openEvents(server, threadId, filter);
  const all = await first.until(isRunEnd(result["run_id"]));
  first.close();
  const idsAfter = async (position: string): Promise<readonly string[]> => {
    const stream = await openEvents(server, threadId, filter, { "last-event-id": position });
    const events = await stream.until(isRunEnd(result["run_id"]));
    stream.close();
    return events.map(({ id }) => id);
  };
  const ids = all.map(({ id }) => id);
  for (const at of [0, 2, all.length - 2]) {
    assert.deepEqual(await idsAfter(ids[at] ?? ""), ids.slice(at + 1));
    assert.deepEqual(await idsAfter(String(all[at]?.seq)), ids.slice(at + 1));
  }
  assert.deepEqual(await idsAfter("nonesuch"), ids);

  const never = randomUUID(); // the end of a run that never began has a log of its own
  const life = await openEvents(server, never, { channels: ["lifecycle"], since: 0 });
  const slow = await start(never, "slow", { waitMs: 60_000 });
  await life.until(isRunning);
  const queued = await start(never, "teller");
  await call(server, "POST", `/threads/${never}/runs/${String(queued.result["run_id"])}/cancel`);
  const end = (await life.until(isRunEnd(queued.result["run_id"]))).at(-1);
  life.close();
  const later = await openEvents(server, never, { channels: ["lifecycle"] }, { "last-event-id": end?.id ?? "" });
  await call(server, "POST", `/threads/${never}/runs/${String(slow.result["run_id"])}/cancel`);
  assert.deepEqual(
    (await later.until(isRunEnd(slow.result["run_id"]))).map(({ data }) => data["event"]),
    ["interrupted"],
  );
  later.close();
});

test("a position after the newest event (thread-connections.5)", PATIENCE, async () => {
  const threadId = randomUUID();
  const filter = { channels: ["lifecycle"] };
  const first = await start(threadId, "teller");
  const before = await openEvents(server, threadId, filter);
  await before.until(isRunEnd(first.result["run_id"]));
  const ahead = await openEvents(server, threadId, { ...filter, since: 2 ** 52 });
  const second = await start(threadId, "teller");
  const [next] = await ahead.until(isRunEnd(second.result["run_id"]));
  assert.deepEqual([next?.data["run_id"], next?.data["event"]], [second.result["run_id"], "running"]);
  for (const one of [before, ahead]) one.close();
});

test("an idle stream shows that it lives (thread-connections.6)", PATIENCE, async () => {
  const response = await fetch(`${server.url}/threads/${randomUUID()}/stream/events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ channels: ["lifecycle"] }),
  });
  assert.match(response.headers.get("cache-control") ?? "", /no-store.*no-transform/);
  assert.equal(response.headers.get("x-accel-buffering"), "no");
  const text = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while ((seen.match(/^:/gm) ?? []).length < 3) seen += (await text?.read())?.value ?? assert.fail(seen);
  assert.equal(seen.replaceAll(/^:.*\n/gm, ""), "");
  assert.match(seen, /^: heartbeat$/m);
  await text?.cancel();
});

test("states by namespace, and lists of checkpoints (thread-connections.7)", PATIENCE, async () => {
  const threadId = randomUUID();
  const { result } = await start(threadId, "teller", { ask: true });
  const stream = await openEvents(server, threadId, { channels: ["lifecycle", "input"] });
  const events = await stream.until(isRunEnd(result["run_id"]));
  stream.close();
  const namespace = events.find(({ data }) => data["event"] === "started")?.namespace.slice(0, 1) ?? [];
  const [segment = ""] = namespace;
  const get = (params: object) => sendCommand(server, threadId, "state.get", params);
  const whole = await get({ namespace });
  assert.deepEqual(await get({ namespace: [segment.split(":")[0]] }).then((reply) => reply.result), whole.result);
  assert.equal((await get({ namespace: ["nonesuch"] })).error, "no_such_namespace");
  assert.deepEqual(Object.keys((await get({ keys: ["ask", "nonesuch"] })).result["values"] as object), ["ask"]);

  type Listed = readonly { readonly id: string; readonly step: number; readonly node_name?: string }[];
  const list = async (params: object): Promise<Listed> =>
    (await sendCommand(server, threadId, "state.listCheckpoints", params)).result["checkpoints"] as Listed;
  const all = await list({});
  assert.deepEqual(
    all.map(({ step, node_name: node }) => [step, node]),
    [
      [2, "speaks"],
      [1, "tells"],
      [0, "__start__"],
      [-1, undefined],
    ],
  );
  const paged = [...(await list({ limit: 3 })), ...(await list({ limit: 3, before: all[2]?.id }))];
  assert.deepEqual(
    paged.map(({ id }) => id),
    all.map(({ id }) => id),
  );
  const unknown = await sendCommand(server, threadId, "state.listCheckpoints", { before: randomUUID() });
  assert.equal(unknown.error, "no_such_checkpoint");
});

test("a thread that gets another owner (thread-connections.8)", PATIENCE, async () => {
  const as = (name: string) => ({ authorization: `Bearer ${name}` });
  const make = (owner: string) => call(owned, "POST", "/threads", { metadata: { owner } }, as("admin"));
  const threadId = String((await make("ann")).body["thread_id"]);
  const filter = { channels: ["lifecycle"] };
  const run = async (name: string): Promise<unknown> => {
    const body = { assistant_id: "echo", input: { payload: 1 } };
    return (await call(owned, "POST", `/threads/${threadId}/runs`, body, as(name))).body["run_id"];
  };
  const [ann, bob] = [
    await openEvents(owned, threadId, filter, as("ann")),
    await openEvents(owned, threadId, filter, as("bob")),
  ];
  const socket = new WebSocket(`${owned.url.replace("http", "ws")}/threads/${threadId}/stream/events`, {
    headers: as("ann"),
  });
  await once(socket, "open");
  const replied = once(socket, "message");
  socket.send(JSON.stringify({ id: 1, method: "subscription.subscribe", params: filter }));
  await replied;
  const event = once(socket, "message");
  await ann.until(isRunEnd(await run("ann")));
  await event; // both readers of ann are attached
  const closed = closeCode(socket);
  await call(owned, "PATCH", `/threads/${threadId}`, { metadata: { owner: "bob" } }, as("admin"));
  await assert.rejects(ann.until(() => false)); // reset, not ended
  assert.equal(await closed, 4403);
  assert.ok((await bob.until(isRunEnd(await run("bob")))).length >= 2);
  const command = { id: 1, method: "agent.getTree" };
  for (const id of [threadId, randomUUID()]) {
    assert.equal((await call(owned, "POST", `/threads/${id}/commands`, command, as("ann"))).status, 404);
    const missing = await openEvents(owned, id, filter, as("ann")); // as silent as an unknown one
    missing.close();
    const silent = new WebSocket(`${owned.url.replace("http", "ws")}/threads/${id}/stream/events`, {
      headers: as("ann"),
    });
    await once(silent, "open");
    const answered = once(silent, "message");
    silent.send(JSON.stringify({ id: 1, method: "subscription.subscribe", params: { ...filter, since: 0 } }));
    const { result } = JSON.parse(String((await answered)[0])) as {
      readonly result: { readonly replayed_events: number };
    };
    assert.deepEqual(Object.keys(result), ["subscription_id", "replayed_events"]); // nothing is missed
    assert.equal(result.replayed_events, 0);
    silent.close();
  }
  bob.close();
});
