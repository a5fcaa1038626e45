// Hostile requests: bombs, depth, width, slow senders, many keys. The receiver accepts or refuses every request while
// /live replies. HOLDPOINT_FAULTS=full: fifty bombs at once, 200 keys × 20,000 spans with restarts, thousands of slow
// connections.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { after, before, describe, test } from "node:test";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { decompress, TooLargeError } from "@holdpoint/collector/receive/decode-body.ts";
import { readBody, createProgressWatch } from "@holdpoint/collector/receive/read-body.ts";
import { type FakeBackend, startBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { field, jsonRequest, protobufRequest, buildSpan, varint } from "../fakes/otlp.ts";
import { startCollectorProcess } from "../fakes/processes.ts";
import { EventEmitter, once } from "node:events";
import type { IncomingMessage } from "node:http";

const full = process.env["HOLDPOINT_FAULTS"] === "full";
const MIB = 1024 * 1024;

describe("bombs, with MAX_BODY_BYTES at 8 MiB", () => {
  let backend: FakeBackend;
  let collector: TestCollector;
  before(async () => {
    backend = await startBackend();
    collector = await startCollector(backend.url, { MAX_BODY_BYTES: String(8 * MIB) });
  });
  after(async () => {
    await collector.stop();
    await backend.close();
    assert.deepEqual(backend.violations, []);
  });

  const zeros = Buffer.alloc((full ? 200 : 40) * MIB);
  const bombs: readonly (readonly [string, string, Buffer])[] = [
    ["gzip", "gzip", gzipSync(zeros)],
    ["deflate", "deflate", deflateSync(zeros)],
    ["zstd", "zstd", zstdCompressSync(zeros)],
    ["gzip in gzip", "gzip", gzipSync(gzipSync(zeros))],
  ];
  for (const [name, encoding, bomb] of bombs)
    test(`a ${name} bomb is refused, many at once, while /live answers`, async () => {
      const before = process.memoryUsage().rss;
      const sending = Array.from({ length: full ? 50 : 8 }, () =>
        collector.send(bomb, { "content-encoding": encoding }),
      );
      let answered = 0;
      const all = Promise.all(sending).then((responses) => responses.map((response) => response.status));
      const watching = (async () => {
        for (; answered < 5; answered++) assert.equal((await fetch(`${collector.url}/live`)).status, 200);
      })();
      const statuses = await all;
      await watching;
      assert.ok(
        statuses.every((status) => [413, 503, 400].includes(status)),
        statuses.join(),
      );
      assert.ok(process.memoryUsage().rss - before < 256 * MIB);
    });

  test("decompression stops at the limit, before the memory is used", async () => {
    for (const [, encoding, bomb] of bombs.slice(0, 3)) {
      let grown = 0;
      const grow = (bytes: number): boolean => (grown += bytes) > 0;
      await assert.rejects(decompress(bomb, encoding as "gzip", { bytesMax: 4 * MIB, grow }), TooLargeError);
      assert.ok(grown <= 4 * MIB, `${grown} bytes of ${encoding}`);
    }
  });

  test("refuses a body at the chunk that exceeds the limit, not at its end", async () => {
    const request = new EventEmitter() as IncomingMessage;
    const limits = { bytesMax: 2048, contentLength: null, grow: () => true };
    const reading = readBody(request, limits, createProgressWatch(createFakeClock()));
    for (let chunk = 0; chunk < 3; chunk++) request.emit("data", Buffer.alloc(1024));
    assert.equal((await reading).kind, "too_large");
  });

  test("a body over the limit on the wire is 413, announced or chunked, and a lying length is cut", async () => {
    const small = await startCollector(backend.url, { MAX_BODY_BYTES: "2048" });
    assert.equal((await small.send(Buffer.alloc(4096))).status, 413);
    const stream = new ReadableStream({
      start(controller) {
        for (let chunk = 0; chunk < 8; chunk++) controller.enqueue(new Uint8Array(1024));
        controller.close();
      },
    });
    const init = {
      method: "POST",
      body: stream,
      duplex: "half",
      headers: { "x-api-key": "k", "content-type": "application/x-protobuf" },
    };
    assert.equal((await fetch(`${small.url}/v1/traces`, init as RequestInit)).status, 413);
    await small.stop();
  });

  for (const depth of full ? [500, 10_000, 100_000, 1_000_000] : [500, 100_000])
    test(`JSON nested ${depth} deep is 400, wherever it is`, async () => {
      const deep = "[".repeat(depth) + "]".repeat(depth);
      const nested = '{"arrayValue":{"values":['.repeat(depth) + "]}}".repeat(depth);
      for (const body of [
        deep,
        `{"resourceSpans":[{"scopeSpans":[{"spans":[${deep}]}]}]}`,
        `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"","attributes":[{"key":"a","value":${nested}}]}]}]}]}`,
      ])
        assert.ok([400, 413].includes((await collector.send(body)).status));
    });

  test("protobuf values nested deeply are 400", async () => {
    let value = field(1, "x");
    for (let depth = 0; depth < 2000; depth++) value = field(5, field(1, value));
    const span = Buffer.concat([
      field(1, Buffer.alloc(16, 1)),
      field(2, Buffer.alloc(8, 1)),
      field(9, Buffer.concat([field(1, "k"), field(2, value)])),
    ]);
    assert.equal((await collector.send(field(1, field(2, field(2, span))))).status, 400);
  });

  test("JSON and protobuf made of millions of empty values are refused", async () => {
    assert.equal((await collector.send(`{"resourceSpans":[${"{},".repeat(2 * MIB)}{}]}`)).status, 400);
    const empties = Buffer.alloc(4 * MIB, Buffer.from([0x5a, 0]));
    const span = Buffer.concat([field(1, Buffer.alloc(16, 1)), field(2, Buffer.alloc(8, 1)), empties]);
    // cut at the limit of events, reported as dropped
    assert.equal((await collector.send(field(1, field(2, field(2, span))))).status, 200);
    const list = Buffer.concat([field(1, "k"), field(2, field(5, Buffer.alloc(4 * MIB, Buffer.from([0x0a, 0]))))]);
    const wide = Buffer.concat([field(1, Buffer.alloc(16, 2)), field(2, Buffer.alloc(8, 2)), field(9, list)]);
    assert.equal((await collector.send(field(1, field(2, field(2, wide))))).status, 400);
  });

  test("lengths and numbers that point outside the message are 400", async () => {
    const bodies = [
      Buffer.concat([Buffer.from([0x0a]), varint(1n << 40n)]),
      Buffer.concat([Buffer.from([0x0a]), varint((1n << 64n) - 1n)]),
      Buffer.alloc(20, 0xff),
      field(1, field(2, Buffer.concat([Buffer.from([0x12]), varint(100), Buffer.alloc(5)]))),
    ];
    for (const body of bodies) assert.equal((await collector.send(body)).status, 400);
  });
});

describe("hostile keys and values", () => {
  test("keys like __proto__ stay data, and the prototype stays as it is", async () => {
    const before = Object.getOwnPropertyNames(Object.prototype).join();
    const backend = await startBackend();
    const collector = await startCollector(backend.url);
    const names = [
      "__proto__",
      "__proto__.polluted",
      "constructor.prototype.polluted",
      "toString",
      "hasOwnProperty",
      "a.__proto__.b",
    ];
    const attributes = Object.fromEntries([
      ...names.map((name) => [name, "x"]),
      ["gen_ai.prompt", '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'],
      ...["__proto__", "constructor.prototype"].map((name) => [`gen_ai.completion.0.${name}.polluted`, "1"]),
      ...["__proto__", "constructor"].map((name) => [`langsmith.metadata.${name}`, '{"polluted":1}']),
    ]) as Record<string, string>;
    const buildSpans = (trace: number) => [buildSpan(trace, 0, undefined, { attributes }), buildSpan(trace, 1, 0)];
    for (const body of [jsonRequest(buildSpans(1)), protobufRequest(buildSpans(2))])
      assert.equal((await collector.send(body)).status, 200);
    const map =
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","attributes":{"__proto__":{"polluted":1}}}]}]}]}';
    assert.equal((await collector.send(map)).status, 200);
    await backend.whenRuns(5);
    await collector.stop();
    await backend.close();
    assert.deepEqual(backend.violations, []);
    assert.equal(Object.getOwnPropertyNames(Object.prototype).join(), before);
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  });

  test("no text of a sender breaks an upload: the backend sees the parts that are meant, and neighbours arrive", async () => {
    const backend = await startBackend();
    const collector = await startCollector(backend.url);
    const pieces = [
      "\r\n",
      "\r\n\r\n",
      "--",
      '"',
      "\\",
      "\u0000",
      "\u0085",
      "\u2028",
      "\ud800",
      "é日👩‍🚀",
      "%0d%0a",
      "../",
      ";",
      "post.",
      "<!--",
    ];
    const nasty = pieces.flatMap((one) =>
      pieces.map((other) => `${one}Content-Disposition: form-data; name="x"${other}`),
    );
    let accepted = 0;
    let refused = 0;
    for (const [index, text] of nasty.entries()) {
      const spans = [
        buildSpan(index, 0, undefined, {
          name: text,
          attributes: {
            [text]: text,
            "gen_ai.prompt": text,
            "langsmith.span.tags": text,
            "langsmith.trace.session_name": text,
            "langsmith.attachments": JSON.stringify([{ name: text, mime_type: text, content: "AAAA" }]),
          },
        }),
        buildSpan(index, 1, 0),
      ];
      assert.equal((await collector.send(index % 2 === 0 ? jsonRequest(spans) : protobufRequest(spans))).status, 200);
      // Valid characters of a header: clients reject control characters; all others must succeed or get 400.
      const project = Buffer.from(text.replaceAll(/[\u0000-\u001f\ud800]/g, "")).toString("latin1");
      const status = (await collector.send(jsonRequest([buildSpan(index, 2, 0)]), { "tracing-project": project }))
        .status;
      if (status === 200) accepted++;
      else refused++;
      assert.ok(status === 200 || (status === 400 && text.includes("\u0085")), `${status} for ${JSON.stringify(text)}`);
    }
    await backend.whenRuns(2 * nasty.length + accepted);
    await collector.stop();
    await backend.close();
    assert.deepEqual(backend.violations, []);
    assert.ok(refused > 0 && accepted > refused);
    assert.equal(collector.collector.accounting.delivered, collector.collector.accounting.received);
    assert.ok(backend.runs.some((run) => run.attachments.length > 0));
  });

  test("broken text and odd numbers never break a batch", async () => {
    const backend = await startBackend();
    const collector = await startCollector(backend.url);
    const odd = [
      NaN,
      Infinity,
      -Infinity,
      -0,
      2n ** 63n - 1n,
      -(2n ** 63n),
      "\u0000",
      "\ud800",
      "\ufeff",
      "--boundary\r\n",
      '"',
      "\u2028",
    ];
    for (const [index, value] of odd.entries())
      for (const make of [jsonRequest, protobufRequest])
        await collector.send(
          make([
            buildSpan(index + (make === jsonRequest ? 0 : 100), 0, undefined, {
              name: typeof value === "string" ? value : "n",
              attributes: {
                "gen_ai.prompt": String(value),
                "gen_ai.request.model": String(value),
                [`gen_ai.request.${String(value)}`]: value,
                "langsmith.metadata.x": value,
                "llm.invocation_parameters": `{"x":"${String(value)}"}`,
              },
            }),
          ]),
        );
    await backend.whenRuns(2 * odd.length);
    await collector.stop();
    await backend.close();
    assert.deepEqual(backend.violations, []);
  });
});

describe("slow senders", () => {
  test("times out a stalled or dripping body after ten seconds, not a flowing one", async () => {
    const clock = createFakeClock();
    const watch = createProgressWatch(clock);
    const limits = { bytesMax: 1e9, contentLength: null, grow: () => true };
    const slow = new EventEmitter() as IncomingMessage;
    const fast = new EventEmitter() as IncomingMessage;
    const slowly = readBody(slow, limits, watch);
    const quickly = readBody(fast, limits, watch);
    for (let second = 0; second < 30; second++) {
      slow.emit("data", Buffer.alloc(10));
      fast.emit("data", Buffer.alloc(2000));
      await clock.advance(1000);
    }
    fast.emit("end");
    assert.deepEqual([(await slowly).kind, (await quickly).kind], ["too_slow", "read"]);
    assert.equal(slow.listenerCount("data"), 0);
    await clock.advance(20_000);
    assert.equal(clock.timers(), 0);
  });

  test("hundreds of unfinished requests do not keep others out", async () => {
    const backend = await startBackend();
    const collector = await startCollector(backend.url);
    const { port } = new URL(collector.url);
    const sockets: Socket[] = [];
    for (let index = 0; index < (full ? 2500 : 200); index++) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write(
        index % 5 === 0
          ? "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nX-API-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
          : "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nX-API",
      );
      sockets.push(socket);
    }
    for (const socket of sockets)
      if (socket.connecting) await new Promise((resolve) => socket.once("connect", resolve));
    for (let trace = 0; trace < 20; trace++)
      assert.equal((await collector.send(jsonRequest([buildSpan(trace, 0)]))).status, 200);
    await backend.whenRuns(20);
    if (full) {
      // Their timeout: the receiver closes all of them.
      const since = performance.now();
      for (const socket of sockets) {
        socket.resume();
        if (!socket.closed) await once(socket, "close");
      }
      console.log(`${sockets.length} slow connections closed within ${Math.round(performance.now() - since)} ms`);
    }
    for (const socket of sockets) socket.destroy();
    await collector.stop();
    await backend.close();
  });
});

test(`${full ? 200 : 20} keys, ${full ? 20_000 : 1000} spans, restarts in between: no run travels with another's key`, async () => {
  const keys = full ? 200 : 20;
  const traces = full ? 4000 : 200;
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-keys-`);
  const backend = await startBackend();
  // Two keys in trouble, which must neither cross nor delay the others.
  backend.script = (upload) => ({ status: upload.key === "key-0" ? 401 : upload.key === "key-1" ? 429 : 202 });
  const env = {
    TRACING_ENDPOINT: backend.url,
    SPOOL_DIR: dir,
    retryCooldownMs: "50",
    BATCH_SIZE: "7",
    TRACING_API_KEY: "env-key",
  };
  let collector = (await startCollectorProcess(env)) ?? assert.fail();
  const acked = new Set<string>();
  let restarts = 0;
  const one = async (trace: number): Promise<void> => {
    const key = `key-${trace % keys}`;
    const spans = Array.from({ length: 5 }, (_, span) =>
      buildSpan(trace, span, span === 0 ? undefined : 0, {
        attributes: { "gen_ai.prompt": JSON.stringify({ owner: key, project: `p${trace % 5}` }) },
      }),
    );
    for (;;) {
      try {
        const response = await fetch(`${collector.url}/v1/traces`, {
          method: "POST",
          body: new Uint8Array(protobufRequest(spans)),
          headers: { "content-type": "application/x-protobuf", "x-api-key": key, "tracing-project": `p${trace % 5}` },
        });
        if (response.status === 200) for (const span of spans) acked.add(`${key} ${span.name}`);
        return;
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  for (let trace = 0; trace < traces; trace += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, index) => one(trace + index)));
    if (trace % (traces / (full ? 20 : 2)) !== 0) continue;
    collector.child.kill("SIGKILL");
    await collector.ended;
    collector = (await startCollectorProcess(env)) ?? assert.fail();
    restarts++;
  }
  const arrived = (): Set<string> => new Set(backend.runs.map((run) => `${run.key} ${String(run.main["name"])}`));
  const well = new Set([...acked].filter((name) => !/^key-[01] /.test(name)));
  await backend.when(() => arrived().isSupersetOf(well)); // while key-0 and key-1 still fail
  backend.script = () => ({ status: 202 });
  await backend.when(() => arrived().isSupersetOf(acked));
  collector.child.kill("SIGTERM");
  await collector.ended;
  await backend.close();
  await rm(dir, { recursive: true });
  assert.deepEqual(backend.violations, []);
  for (const run of backend.runs) {
    assert.equal(run.inputs["owner"], run.key);
    assert.equal(run.inputs["project"], run.main["session_name"]);
  }
  assert.ok(restarts >= 2);
});
