// Sessions of the gRPC service that are only held: none of them keeps a sender out.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { createGrpcService, type GrpcServiceOptions } from "./grpc-service.ts";

/** Ends every call but those to `/held`. */
async function started(context: TestContext, limits: Partial<GrpcServiceOptions>): Promise<number> {
  const service = createGrpcService({
    host: "127.0.0.1",
    port: 0,
    drainMs: 10,
    listener: (stream, headers) => {
      stream.on("error", () => undefined);
      stream.respond({ ":status": 200 }, { endStream: headers[":path"] !== "/held" });
    },
    ...limits,
  });
  await service.start();
  context.after(() => service.stop());
  return service.address().port;
}

async function session(port: number): Promise<ClientHttp2Session> {
  const opened = connect(`http://127.0.0.1:${port}`);
  opened.on("error", () => undefined);
  await once(opened, "remoteSettings");
  return opened;
}

/** The status of a call; null when its session has ended. */
async function call(on: ClientHttp2Session, path = "/"): Promise<number | null> {
  if (on.destroyed) return null;
  const stream = on.request({ ":path": path });
  let status: number | null = null;
  stream.on("response", (headers) => (status = headers[":status"] ?? null));
  stream.on("error", () => undefined);
  stream.resume().end();
  await once(stream, "close");
  return status;
}

async function socket(port: number): Promise<Socket> {
  const opened = connectTcp(port, "127.0.0.1");
  opened.on("error", () => undefined).resume();
  await once(opened, "connect");
  return opened;
}

describe("sessions", () => {
  test("grpc-service.4 a new one takes the place of the one without a call for longest", async (context) => {
    const port = await started(context, { sessionsMax: 3 });
    const [first, second, third] = [await session(port), await session(port), await session(port)];
    assert.equal(await call(first), 200);
    const gone = once(second, "close");
    assert.equal(await call(await session(port)), 200);
    await gone;
    assert.deepEqual(await Promise.all([first, second, third].map((one) => call(one))), [200, null, 200]);
  });

  test("grpc-service.4 connections that send nothing keep no sender out", async (context) => {
    const port = await started(context, { sessionsMax: 3 });
    for (let index = 0; index < 6; index++) await socket(port);
    assert.equal(await call(await session(port)), 200);
  });

  test("grpc-service.4 a session with an active call stays", async (context) => {
    const port = await started(context, { sessionsMax: 1 });
    const busy = await session(port);
    const held = busy.request({ ":path": "/held" });
    held.on("error", () => undefined);
    await once(held, "response");
    const other = connect(`http://127.0.0.1:${port}`);
    other.on("error", () => undefined);
    await once(other, "close");
    assert.equal(busy.destroyed, false);
    busy.destroy();
  });

  test("grpc-service.1 one that never begins HTTP/2 ends, the others stay", async (context) => {
    const port = await started(context, { prefaceMs: 50 });
    const good = await session(port);
    const silent = await socket(port);
    await once(silent, "close");
    assert.equal(await call(good), 200);
    good.destroy();
  });
});
