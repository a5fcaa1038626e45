import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Body } from "../body.ts";
import { createHttpBackend } from "./http.ts";
import type { Backend } from "./port.ts";

const BODY_BYTES = 32 * 1024 * 1024; // more than the sockets' buffers take

const body: Body = {
  tenant: { id: "t", apiKey: "key-1", tenantId: "" },
  createdMs: 0,
  boundary: "b",
  encoding: "identity",
  bytes: Buffer.allocUnsafeSlow(BODY_BYTES).fill(1),
  rawBytes: BODY_BYTES,
  offsets: [0],
  first: 0,
};

function backendOf(port: number, clock: Clock = systemClock): Backend {
  return createHttpBackend(
    {
      endpoint: `http://127.0.0.1:${port}`,
      timeoutMs: 20_000,
      connectionsMax: 1,
      userAgent: "test",
      ca: null,
      httpsProxy: null,
      noProxy: null,
    },
    clock,
  );
}

test("HB5 a reply that comes before the body was read ends the connection: nothing reads the body after `sent`", async (t) => {
  const peers: Socket[] = [];
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (chunk) => {
      bytes += chunk.length;
      socket.pause().write("HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}");
    });
    peers.push(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const backend = backendOf(port);
  t.after(() => {
    backend.close();
    for (const peer of peers) peer.destroy();
    server.close();
  });
  assert.deepEqual(await backend.send(body, new AbortController().signal), { kind: "sent" });
  const [peer] = peers;
  assert.ok(peer !== undefined);
  const closed = once(peer, "close");
  peer.on("data", (chunk) => (bytes += chunk.length)).resume();
  await closed;
  assert.ok(bytes < BODY_BYTES);
});

interface Asked {
  readonly requests: string[];
  readonly backend: Backend;
}

/** A backend that answers from a script, by path. */
async function answering(
  t: TestContext,
  answer: (path: string) => {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly text?: string;
  },
  clock: Clock = systemClock,
): Promise<Asked> {
  const requests: string[] = [];
  const server = createHttpServer((incoming, reply) => {
    const path = incoming.url ?? "";
    requests.push(path);
    const { status, headers = {}, text = "{}" } = answer(path);
    incoming.resume().once("end", () => reply.writeHead(status, headers).end(text));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const backend = backendOf((server.address() as AddressInfo).port, clock);
  t.after(() => {
    backend.close();
    server.closeAllConnections();
    server.close();
  });
  return { requests, backend };
}

const small: Body = { ...body, bytes: Buffer.from("--b--\r\n"), rawBytes: 0 };
const { signal } = new AbortController();

test("404 for the multipart form asks for another attempt at once, which goes to the older form", async (t) => {
  const { requests, backend } = await answering(t, (path) => ({ status: path === "/runs/multipart" ? 404 : 202 }));
  const first = await backend.send(small, signal);
  assert.deepEqual(first, { kind: "retry", reason: "404 for the multipart form", afterMs: 0 });
  assert.deepEqual(await backend.send(small, signal), { kind: "sent" });
  assert.deepEqual(requests, ["/runs/multipart", "/runs/batch"]);
});

test("a backend whose /info has no multipart form is never asked for it", async (t) => {
  let told = (): void => undefined;
  const infoRead = new Promise<void>((resolve) => (told = resolve));
  const { requests, backend } = await answering(t, (path) => {
    if (path !== "/info") return { status: 202 };
    setImmediate(told);
    return { status: 200, text: '{"batch_ingest_config":{"use_multipart_endpoint":false,"size_limit":7}}' };
  });
  backend.limits();
  await infoRead;
  while (backend.limits().runsMax !== 7) await new Promise((resolve) => setImmediate(resolve));
  await backend.send(small, signal);
  assert.deepEqual(requests, ["/info", "/runs/batch"]);
});

for (const skewMs of [-86_400_000, 0, 86_400_000])
  test(`HB6 a Retry-After date means the same with a wall clock that is ${skewMs / 3_600_000} hours off`, async (t) => {
    const at = Date.UTC(2026, 10, 21);
    const { backend } = await answering(
      t,
      () => ({
        status: 503,
        headers: { date: new Date(at).toUTCString(), "retry-after": new Date(at + 5000).toUTCString() },
      }),
      { ...systemClock, now: () => at + skewMs },
    );
    assert.deepEqual(await backend.send(small, signal), { kind: "retry", reason: "503 {}", afterMs: 5000 });
  });
