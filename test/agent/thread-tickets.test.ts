// Tests of tickets for WebSockets.
//   thread-tickets.1. The official client opens its sockets with the class of docs/how-to/front-ends.md, one ticket each.
//   thread-tickets.2. A ticket opens one socket of its thread, in the name of its caller. A used, foreign or invented one
//   closes the socket with 4401. Nobody gets a ticket without credentials.
//   thread-tickets.3. A ticket is in no log line, and in no URL that a handler gets. A socket is authenticated like a
//   call that changes something.
//   thread-tickets.4. A cookie opens a socket for pages of the own origin, and of origins that may send credentials.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";
import { whenAsked } from "../harness/thread-protocol.ts";
import { createArrivals } from "../harness/arrivals.ts";

const server = await startServerHere({ config: join(ROOT, "test", "graphs", "cookies", "langgraph.json") });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const ANN = { "x-user": "ann" };
const noted = globalThis as { handlerUrls?: string[] };

async function ticketFor(threadId: string, headers: Readonly<Record<string, string>> = ANN): Promise<string> {
  const reply = await call(server, "POST", `/threads/${threadId}/stream/tickets`, undefined, headers);
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get("cache-control"), "no-store");
  return String(reply.body["ticket"]);
}

function open(threadId: string, query = "", headers: Readonly<Record<string, string>> = {}): WebSocket {
  return new WebSocket(`${server.url.replace("http", "ws")}/threads/${threadId}/stream/events${query}`, { headers });
}

/** The reply to a command on the socket, or the code that closes it. */
async function readReply(socket: WebSocket, method = "state.get", params: object = {}): Promise<unknown> {
  socket.once("open", () => socket.send(JSON.stringify({ id: 1, method, params })));
  const [first] = (await Promise.race([once(socket, "message"), once(socket, "close")])) as [Buffer | number];
  if (typeof first === "number") return first;
  socket.close();
  return JSON.parse(first.toString()) as unknown;
}

test("the official client requests a ticket for each of its sockets (thread-tickets.1)", PATIENCE, async () => {
  const page = readFileSync(join(ROOT, "docs", "how-to", "front-ends.md"), "utf8");
  const source = /```ts\n(export class TicketSocket[^]*?)```/.exec(page)?.[1] ?? assert.fail("the page has no class");
  const { TicketSocket } = (await import(
    `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(source))}`
  )) as { TicketSocket: new (url: string, headers: object) => globalThis.WebSocket };
  const threadId = randomUUID();
  const client = new Client({ apiUrl: server.url, apiKey: null });
  let sockets = 0;
  const webSocketFactory = (url: string) => {
    sockets++;
    return new TicketSocket(url, ANN);
  };
  for (const answer of [null, "yes"]) {
    const stream = client.threads.stream(threadId, { assistantId: "echo", transport: "websocket", webSocketFactory });
    const ends = createArrivals<boolean>();
    stream.onEvent((event) => {
      if (event.method === "lifecycle" && event.params.data.event === "completed") ends.add(true);
    });
    if (answer === null) await stream.submitRun({ input: { payload: "sure?" } });
    else stream.startLifecycleWatcher();
    const asked = await whenAsked(stream);
    if (answer !== null) {
      await stream.respondInput({ namespace: [], interrupt_id: asked.interruptId, response: answer });
      await ends.when("the end", ([end]) => end);
    }
    await stream.close();
  }
  assert.equal(sockets, 2);
  const { body } = await call(server, "GET", `/threads/${threadId}/state`, undefined, ANN);
  assert.deepEqual((body["values"] as Readonly<Record<string, unknown>>)["answer"], ["yes"]);
});

test("a ticket is for one socket, one thread and one caller (thread-tickets.2)", PATIENCE, async () => {
  const made = await call(server, "POST", "/threads", {}, ANN);
  const threadId = String(made.body["thread_id"]);
  const ticket = await ticketFor(threadId);
  assert.equal(await readReply(open(randomUUID(), `?ticket=${ticket}`)), 4401);
  const twice = await Promise.all([1, 2].map(() => readReply(open(threadId, `?ticket=${ticket}`))));
  const outcomes = twice.map((one) => (typeof one === "number" ? one : (one as { readonly type: string }).type));
  assert.deepEqual(new Set(outcomes), new Set([4401, "success"]));
  assert.equal(await readReply(open(threadId, "?ticket=invented")), 4401);
  const ofBob = await ticketFor(threadId, { "x-user": "bob" }); // as if the thread were not there
  const reply = (await readReply(open(threadId, `?ticket=${ofBob}`))) as { readonly error: string };
  assert.equal(reply.error, "no_such_run");
  assert.equal((await call(server, "POST", `/threads/${threadId}/stream/tickets`)).status, 401);
});

test("a ticket stays secret (thread-tickets.3)", PATIENCE, async () => {
  const threadId = randomUUID();
  const ticket = await ticketFor(threadId);
  const socket = open(threadId, `?ticket=${ticket}&other=1`);
  await readReply(socket, "run.start", { assistant_id: "echo", input: {} });
  assert.equal(await readReply(open(threadId, `?ticket=${ticket}`)), 4401);
  const ofSockets = (noted.handlerUrls ?? []).filter((url) => url.includes("/stream/events"));
  assert.ok(ofSockets.length > 0 && ofSockets.every((url) => url.startsWith("POST ")));
  for (const text of [server.output(), ...(noted.handlerUrls ?? [])]) assert.ok(!text.includes(ticket));
});

for (const [origin, works] of [
  [null, true],
  ["own", true],
  ["https://front.example", true],
  ["https://other.example", false],
] as const) {
  test(`a cookie from ${origin ?? "no page"} (thread-tickets.4)`, PATIENCE, async () => {
    const from = origin === null ? {} : { origin: origin === "own" ? server.url : origin };
    const reply = await readReply(open(randomUUID(), "", { cookie: "user=ann", ...from }));
    assert.equal(typeof reply, works ? "object" : "number");
  });
}

test("a cookie of an origin that may send no credentials (thread-tickets.4)", PATIENCE, async () => {
  const config = join(ROOT, "test", "graphs", "cookies", "without-credentials.json");
  const strict = await startServerHere({ config });
  const address = `${strict.url.replace("http", "ws")}/threads/${randomUUID()}/stream/events`;
  const headers = { cookie: "user=ann", origin: "https://front.example" };
  assert.equal(await readReply(new WebSocket(address, { headers })), 4401);
  assert.notEqual(await readReply(new WebSocket(address, { headers: { ...headers, ...ANN } })), 4401);
  await strict.stop();
  removeFolder(strict.dataDir);
});
