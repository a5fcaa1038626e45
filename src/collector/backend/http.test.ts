import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import type { Body } from "../body.ts";
import { createHttpBackend } from "./http.ts";

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
  const backend = createHttpBackend(
    {
      endpoint: `http://127.0.0.1:${port}`,
      timeoutMs: 20_000,
      connectionsMax: 1,
      userAgent: "test",
      ca: null,
      httpsProxy: null,
      noProxy: null,
    },
    systemClock,
  );
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
