// Tests of refused bodies over real sockets (body.5): the client reads the reply although it still sends.
import assert from "node:assert/strict";
import { Agent, request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { suite, test, type TestContext } from "node:test";
import { PATIENCE } from "../../../../../test/harness/patience.ts";
import { ApiError } from "../../api-error.ts";
import { readUpload } from "@holdpoint/collector/traces/upload-body.ts";
import { findShapeFault, readJsonBody } from "./body.ts";
import { callFetchApp } from "./fetch-app.ts";
import { createHttpService } from "./server.ts";
import * as fc from "fast-check";
import { fitsDepth } from "../../json/json.ts";

const BYTES_MAX = 100_000;
const MEBIBYTE = Buffer.alloc(1024 * 1024, 32);
/** More than fits into the buffers of a loopback connection. */
const LONG_MEBIBYTES = 24;

/** Eight times the bytes that a refusal discards. */
const SENT_MEBIBYTES_MAX = 2048;
/** A mebibyte as a chunk of HTTP. */
const CHUNK = Buffer.concat([Buffer.from("100000\r\n"), MEBIBYTE, Buffer.from("\r\n")]);

type Reader = (incoming: IncomingMessage) => Promise<unknown>;

const readByApp: Reader = (incoming) =>
  callFetchApp(
    { claim: () => "first", fetch: async (asked) => new Response(await asked.text()) },
    { incoming, target: "/", bytesMax: BYTES_MAX, inner: null as never, onDisconnect: () => undefined },
  );

const READERS: readonly (readonly [name: string, read: Reader])[] = [
  ["a call of the API", (incoming) => readJsonBody(incoming, BYTES_MAX)],
  ["an upload of traces", (incoming) => readUpload(incoming, BYTES_MAX)],
  ["a route of a custom app", readByApp],
];

async function start(t: TestContext, read: Reader): Promise<string> {
  const service = createHttpService({
    name: "reader",
    host: "127.0.0.1",
    port: 0,
    listener: (incoming, outgoing) => {
      read(incoming).then(
        () => outgoing.end("read"),
        (error: unknown) => {
          const headers = error instanceof ApiError ? error.headers : {};
          outgoing.writeHead(error instanceof ApiError ? error.status : 500, headers).end(String(error));
        },
      );
    },
  });
  await service.start();
  t.after(() => service.stop());
  return `http://127.0.0.1:${service.address().port}/`;
}

function* mebibytes(count: number): Generator<Buffer> {
  for (let at = 0; at < count; at++) yield MEBIBYTE;
}

const asSent = (body: Buffer<ArrayBuffer> | ReadableStream): RequestInit => ({
  method: "POST",
  body,
  duplex: "half",
  headers: { "Content-Type": "application/json" },
});

for (const [name, read] of READERS)
  suite(`a body above the limit of ${name} (body.5)`, () => {
    for (const [kind, buildBody] of [
      ["with its length", () => Buffer.concat([...mebibytes(LONG_MEBIBYTES)])],
      ["in chunks", () => Readable.toWeb(Readable.from(mebibytes(LONG_MEBIBYTES))) as ReadableStream],
    ] as const)
      test(`sent ${kind}, is answered with 413 each time`, PATIENCE, async (t) => {
        const url = await start(t, read);
        for (let time = 0; time < 2; time++) assert.equal((await fetch(url, asSent(buildBody()))).status, 413);
      });
  });

test("after a refused body, its connection takes the next request (body.5)", PATIENCE, async (t) => {
  const url = await start(t, (incoming) => readJsonBody(incoming, BYTES_MAX));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const post = (bytes: number): Promise<{ readonly status: number; readonly reused: boolean }> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { agent, method: "POST", headers: { "Content-Type": "application/json" } }, (reply) => {
        reply.resume().on("end", () => resolve({ status: reply.statusCode ?? 0, reused: sent.reusedSocket }));
      });
      sent.on("error", reject).end(`"${"x".repeat(bytes)}"`);
    });
  assert.deepEqual(await post(4 * BYTES_MAX), { status: 413, reused: false });
  assert.deepEqual(await post(10), { status: 200, reused: true });
});

test("a refused body without an end is cut off (body.5)", PATIENCE, async (t) => {
  const url = new URL(await start(t, (incoming) => readJsonBody(incoming, BYTES_MAX)));
  const socket = connect(Number(url.port), url.hostname);
  t.after(() => socket.destroy());
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.on("error", () => undefined).resume();
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  let sentMebibytes = 0;
  const send = (): void => {
    while (!socket.destroyed && sentMebibytes < SENT_MEBIBYTES_MAX) {
      sentMebibytes++;
      if (!socket.write(CHUNK)) return void socket.once("drain", send);
    }
    socket.end();
  };
  send();
  await closed;
  assert.ok(sentMebibytes < SENT_MEBIBYTES_MAX, "the server took all");
});

// Tests of the shape of a JSON text, against the value that the engine reads.

function countWidest(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Math.max(0, ...Object.values(value).map(countWidest));
  return Array.isArray(value) ? inside : Math.max(inside, Object.keys(value).length);
}

test("a text has the depth and the width of its value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(6), fc.nat({ max: 5 }), (value, levels, members) => {
      const fault = findShapeFault(JSON.stringify(value, null, 1), levels, members + 1);
      const isDeep = !fitsDepth(value, levels);
      const isWide = countWidest(value) > members + 1;
      assert.equal(fault !== null, isDeep || isWide);
      if (isDeep !== isWide) assert.equal(fault, isDeep ? "too_deep" : "too_wide");
    }),
  );
});

const ROWS: readonly (readonly [text: string, fault: string | null])[] = [
  ['{"a":"[[[[{{{{,,,,","b":"\\"[[[["}', null],
  ['{"a":"\\\\","b":[[[]]]}', "too_deep"],
  ["[[[[", "too_deep"],
  ["]]]][[[", null],
  ['{"a":1,"b":2,"c":3,"d":4}', "too_wide"],
  ['{"a":[1,2,3,4,5],"b":[1,2,3,4,5]}', null],
  ['{"a":1,"b":{},"c":2,"d":3', "too_wide"],
  ['"', null],
  ["", null],
];

for (const [text, fault] of ROWS)
  test(`the shape of ${text}: ${fault ?? "fits"}`, () => assert.equal(findShapeFault(text, 3, 3), fault));
