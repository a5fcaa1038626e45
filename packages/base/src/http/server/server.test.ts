// Tests of the HTTP service over real sockets: server.1 (slow peers are closed), server.5 (late reads), server.2
// (draining and cutting), server.3 (faults of the listening socket), the connection limit, and the error for a port in
// use.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createHttpService, ListenError, type HttpLimits, type HttpService } from "./server.ts";
import { PATIENCE } from "../../../../../test/harness/patience.ts";

const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
/** Far above the duration of any of these tests: a missing guard shows as a timeout. */
const FAR_MS = 60_000;

async function start(
  t: TestContext,
  listener: RequestListener,
  limits: Partial<HttpLimits> = {},
): Promise<HttpService> {
  const service = createHttpService({ name: "listener", host: "127.0.0.1", port: 0, listener, limits });
  await service.start();
  t.after(() => service.stop());
  return service;
}

interface Peer {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly received: () => string;
  /** Resolves once `text` has arrived. */
  readonly saw: (text: string) => Promise<void>;
  readonly closed: Promise<unknown>;
}

async function dial(t: TestContext, service: HttpService): Promise<Peer> {
  const socket = connect(service.address().port, "127.0.0.1");
  t.after(() => socket.destroy());
  let bytes = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (bytes += chunk));
  socket.on("error", () => undefined); // a closed connection may be reset: only the close matters
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  return {
    socket,
    closed,
    received: () => bytes,
    saw: async (text) => {
      while (!bytes.includes(text)) await once(socket, "data");
    },
  };
}

const answer: RequestListener = (_, response) => response.end("done");

const POST = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n";

/** What a peer sends, part by part: each but the first one during a block of the loop of several times its limit. */
const BLOCKED_PEERS: readonly { readonly name: string; readonly parts: readonly string[] }[] = [
  { name: "a request on a new connection", parts: ["", GET] },
  { name: "the end of a request's headers", parts: [GET.slice(0, 20), GET.slice(20)] },
  { name: "a request in three parts, over two blocks", parts: [GET.slice(0, 20), GET.slice(20, 30), GET.slice(30)] },
  { name: "a body", parts: [POST, "body"] },
  { name: "a body in parts, over three blocks", parts: [`${POST}b`, "o", "d", "y"] },
];

for (const { name, parts } of BLOCKED_PEERS)
  test(`${name} is in time, although a busy server reads it late (server.5)`, PATIENCE, async (t) => {
    const listener: RequestListener = (request, response) => {
      request.resume().once("end", () => response.end("done"));
    };
    const service = await start(t, listener, { headersTimeoutMs: 100, requestTimeoutMs: 100 });
    const peer = await dial(t, service);
    const accepted = new Promise((resolve) => setImmediate(resolve)); // the server's end of the connection, too
    await accepted;
    for (const [at, part] of parts.entries()) {
      peer.socket.write(part);
      if (at > 0) for (const until = performance.now() + 250; performance.now() < until;);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.race([peer.saw("\r\n\r\n"), peer.closed]);
    assert.match(peer.received(), /^HTTP\/1.1 200 OK\r\n/);
  });

test("a silent peer of a server that is often busy is closed (server.1)", PATIENCE, async (t) => {
  const service = await start(t, answer, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
  const { closed, received } = await dial(t, service);
  const busy = setInterval(() => {
    for (const until = performance.now() + 40; performance.now() < until;);
  }, 50);
  t.after(() => clearInterval(busy));
  await closed;
  assert.doesNotMatch(received(), /200 OK/);
});

const SLOW_PEERS: readonly { readonly name: string; readonly sends: string; readonly drips: string }[] = [
  { name: "sends nothing", sends: "", drips: "" },
  { name: "stops in the middle of the headers", sends: "GET / HTTP/1.1\r\nHost: lo", drips: "" },
  { name: "drips header bytes for ever", sends: "GET / HTTP/1.1\r\nX-Long: ", drips: "a" },
  {
    name: "stops in the middle of the body",
    sends: "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc",
    drips: "",
  },
  {
    name: "drips body bytes for ever",
    sends: "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n",
    drips: "a",
  },
];

for (const peer of SLOW_PEERS) {
  test(`a peer that ${peer.name} is closed (server.1)`, PATIENCE, async (t) => {
    const listener: RequestListener = (request, response) => {
      request.resume().once("end", () => response.end("done"));
    };
    const service = await start(t, listener, { headersTimeoutMs: 100, requestTimeoutMs: 200, drainMs: 0 });
    const { socket, closed, received } = await dial(t, service);
    socket.write(peer.sends);
    const drip = setInterval(() => socket.write(peer.drips), 20);
    t.after(() => clearInterval(drip));
    await closed;
    assert.doesNotMatch(received(), /200 OK/);
  });
}

test("a reply may take longer than the limit of the request (server.1)", PATIENCE, async (t) => {
  const listener: RequestListener = (request, response) => {
    request.resume();
    setTimeout(() => response.end("done"), 500);
  };
  const service = await start(t, listener, { headersTimeoutMs: 50, requestTimeoutMs: 100, drainMs: 0 });
  const peer = await dial(t, service);
  peer.socket.write(GET);
  await peer.saw("done");
});

test("a connection above the limit is closed, and accepted again when there is room", PATIENCE, async (t) => {
  const service = await start(t, answer, { connectionsMax: 2, drainMs: 0 });
  const first = await dial(t, service);
  const second = await dial(t, service);
  for (const peer of [first, second]) {
    peer.socket.write(GET);
    await peer.saw("done");
  }
  const third = await dial(t, service);
  third.socket.write(GET);
  await third.closed;
  assert.equal(third.received(), "");

  second.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  await second.closed;
  const fourth = await dial(t, service);
  fourth.socket.write(GET);
  await fourth.saw("done");
});

/** A listener that writes the head and "begun"; the test ends each reply. */
function heldReplies(): { readonly listener: RequestListener; readonly replies: ServerResponse[] } {
  const replies: ServerResponse[] = [];
  return {
    replies,
    listener: (_, response) => {
      response.write("begun");
      replies.push(response);
    },
  };
}

test(
  "stop() completes a reply in progress and closes its connection, well before the drain ends (server.2)",
  PATIENCE,
  async (t) => {
    const { listener, replies } = heldReplies();
    const service = await start(t, listener, { drainMs: FAR_MS });
    const peer = await dial(t, service);
    peer.socket.write(GET);
    await peer.saw("begun");
    const stopped = service.stop();
    replies[0]?.end("ended");
    await peer.closed;
    assert.match(peer.received(), /ended/);
    await stopped;
  },
);

test("a reply that starts after stop() announces the end of its connection (server.2)", PATIENCE, async (t) => {
  const replies: ServerResponse[] = [];
  const service = await start(t, (_, response) => replies.push(response), { drainMs: FAR_MS });
  const peer = await dial(t, service);
  peer.socket.write(GET);
  while (replies.length === 0) await new Promise(setImmediate);
  const stopped = service.stop();
  replies[0]?.end("done");
  await peer.closed;
  assert.match(peer.received(), /Connection: close/);
  await stopped;
});

test("stop() does not cut a finished reply in transit to a slow reader (server.2)", PATIENCE, async (t) => {
  const body = Buffer.alloc(32 * 1024 * 1024, "x"); // more than the sockets' buffers hold
  const service = await start(t, (_, response) => response.end(body), { drainMs: FAR_MS });
  const socket = connect(service.address().port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.write(GET);
  await once(socket, "readable"); // and read nothing yet
  const stopped = service.stop();
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
  await once(socket, "close");
  assert.ok(bytes > body.length, `only ${bytes} bytes arrived`);
  await stopped;
});

test(
  "stop() closes connections without a request at once: fresh, half a header, kept alive (server.2)",
  PATIENCE,
  async (t) => {
    const service = await start(t, answer, { drainMs: FAR_MS });
    const fresh = await dial(t, service);
    const half = await dial(t, service);
    half.socket.write("GET / HT");
    const keptAlive = await dial(t, service);
    keptAlive.socket.write(GET);
    await keptAlive.saw("done");
    await service.stop();
    await Promise.all([fresh.closed, half.closed, keptAlive.closed]);
  },
);

test("stop() cuts running requests at the end of the drain (server.2)", PATIENCE, async (t) => {
  const { listener } = heldReplies();
  const service = await start(t, listener, { drainMs: 50 });
  const peer = await dial(t, service);
  peer.socket.write(GET);
  await peer.saw("begun");
  await service.stop();
  await peer.closed;
  assert.match(peer.received(), /begun/);
});

test(
  "a drain accepts no new connection, and answers further requests on open ones with close (server.2)",
  PATIENCE,
  async (t) => {
    const { listener, replies } = heldReplies();
    const service = await start(t, listener, { drainMs: FAR_MS });
    const { port } = service.address();
    const peer = await dial(t, service);
    peer.socket.write(GET);
    await peer.saw("begun");
    const stopped = service.stop();
    const [refusal] = (await once(connect(port, "127.0.0.1"), "error")) as [NodeJS.ErrnoException];
    assert.equal(refusal.code, "ECONNREFUSED");
    peer.socket.write(GET);
    while (replies.length < 2) await new Promise(setImmediate);
    for (const reply of replies) reply.end("ended");
    await peer.closed;
    assert.equal(peer.received().match(/ended/g)?.length, 2);
    assert.match(peer.received(), /Connection: close/);
    await stopped;
  },
);

test("stop() before start() and a second stop() do nothing", async (t) => {
  const service = createHttpService({ name: "listener", host: "127.0.0.1", port: 0, listener: answer });
  await service.stop();
  assert.throws(() => service.address(), /listener is not listening/);
  const started = await start(t, answer);
  await started.stop();
  await started.stop();
  assert.throws(() => started.address(), /listener is not listening/);
});

test("a stopped service can start again", PATIENCE, async (t) => {
  const service = await start(t, answer, { drainMs: 0 });
  await service.stop();
  await service.start();
  const peer = await dial(t, service);
  peer.socket.write(GET);
  await peer.saw("done");
});

test("the error for a port in use names it and the remedy", async (t) => {
  const first = await start(t, answer);
  const { port } = first.address();
  const second = createHttpService({ name: "other", host: "127.0.0.1", port, listener: answer });
  await assert.rejects(second.start(), (error) => {
    assert.ok(error instanceof ListenError);
    assert.equal(error.message, `port ${port} on 127.0.0.1 is in use by another process: stop it, or set another port`);
    return true;
  });
});

test("the error for a foreign address names it and the cause", async () => {
  const service = createHttpService({ name: "listener", host: "192.0.2.1", port: 0, listener: answer });
  await assert.rejects(service.start(), /^ListenError: cannot listen on 192\.0\.2\.1:0: .*EADDRNOTAVAIL/);
});

test("faults of the listening socket after the start leave the service running (server.3)", PATIENCE, async (t) => {
  const service = await start(
    t,
    (request, response) => {
      const server: unknown = Reflect.get(request.socket, "server");
      assert.ok(server instanceof Object && "emit" in server && typeof server.emit === "function");
      server.emit("error", new Error("accept EMFILE"));
      server.emit("error", new Error("accept EMFILE"));
      response.end("done");
    },
    { drainMs: 0 },
  );
  const peer = await dial(t, service);
  peer.socket.write(GET);
  await peer.saw("done");
});
