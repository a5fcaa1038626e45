// Tests of long replies over a real socket: complete, and in pieces with a turn of the event loop between two (app.5).
import assert from "node:assert/strict";
import { ServerResponse } from "node:http";
import { test } from "node:test";
import { createLog } from "../../log/log.ts";
import { createApp } from "./app.ts";
import { LOOPBACK_CORS } from "./cors.ts";
import { createHttpService } from "./server.ts";

const BYTES_AT_ONCE_MAX = 2 * 1024 * 1024;

test("a long reply arrives complete, encoded piece by piece (app.5)", async (t) => {
  // Every piece of an even length would end between the halves of a character.
  const body = JSON.stringify("😀".repeat(1024 * 1024));
  const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
  const listener = createApp({
    routes: [{ method: "get", path: "/long", handle: async () => ({ status: 200, body }) }],
    custom: null,
    prefix: "",
    cors: LOOPBACK_CORS,
    bodyBytesMax: 1024,
    hosts: { loopback: true, allowed: [] },
    log,
    onReply: () => undefined,
    monotonic: () => 0,
  });
  const service = createHttpService({ name: "http", host: "127.0.0.1", port: 0, listener });
  await service.start();
  t.after(() => service.stop());
  const url = `http://127.0.0.1:${service.address().port}/long`;
  const sizes: number[] = [];
  for (const name of ["write", "end"] as const) {
    const original = ServerResponse.prototype[name] as (...given: unknown[]) => unknown;
    t.mock.method(ServerResponse.prototype, name, function (this: ServerResponse, ...given: unknown[]) {
      if (typeof given[0] === "string") sizes.push(Buffer.byteLength(given[0]));
      return original.apply(this, given);
    });
  }
  const reply = await fetch(url);
  assert.equal(Number(reply.headers.get("content-length")), Buffer.byteLength(body));
  assert.equal(await reply.text(), body);
  assert.ok(sizes.length > 1 && Math.max(...sizes) <= BYTES_AT_ONCE_MAX, `pieces of ${sizes.join(", ")} bytes`);
  const head = await fetch(url, { method: "HEAD" });
  assert.equal(Number(head.headers.get("content-length")), Buffer.byteLength(body));
});
