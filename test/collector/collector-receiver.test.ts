// Tests of the receiver: accepted and rejected requests, and no effect of a rejection on others.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { startBackend, type FakeBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { field, jsonRequest, number64, protobufRequest, buildSpan } from "../fakes/otlp.ts";

let backend: FakeBackend;
let collector: TestCollector;
const post = (body: Uint8Array | string, headers: Record<string, string> = {}): Promise<Response> =>
  collector.send(body, headers);

async function post404(path: string): Promise<Response> {
  return fetch(collector.url + path, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json", "x-api-key": "k" },
  });
}

before(async () => {
  backend = await startBackend();
  collector = await startCollector(backend.url);
});
after(async () => {
  await collector.stop();
  await backend.close();
  assert.deepEqual(backend.violations, []);
});

describe("replies", () => {
  test("an accepted export is 200 with an empty response in the encoding of the request", async () => {
    const json = await post(jsonRequest([buildSpan(1, 0)]));
    assert.deepEqual(
      [json.status, json.headers.get("content-type"), await json.text()],
      [200, "application/json", "{}"],
    );
    const protobuf = await post(protobufRequest([buildSpan(1, 1, 0)]));
    assert.deepEqual(
      [protobuf.status, protobuf.headers.get("content-type"), await protobuf.text()],
      [200, "application/x-protobuf", ""],
    );
  });

  test("an empty request is a success", async () => {
    for (const body of ["{}", '{"resourceSpans":[]}', Buffer.alloc(0)]) assert.equal((await post(body)).status, 200);
  });

  test("partial_success reports spans without ids, and their neighbours are accepted", async () => {
    const good = buildSpan(2, 0);
    const bad = { ...buildSpan(2, 1), traceId: "0".repeat(32) };
    const json = await post(jsonRequest([good, bad]));
    assert.equal(json.status, 200);
    const { partialSuccess } = (await json.json()) as {
      partialSuccess: { rejectedSpans: string; errorMessage: string };
    };
    assert.equal(partialSuccess.rejectedSpans, "1");
    assert.match(partialSuccess.errorMessage, /id is missing/);
    const protobuf = Buffer.from(await (await post(protobufRequest([good, bad]))).arrayBuffer());
    assert.deepEqual([...protobuf.subarray(0, 1), ...protobuf.subarray(2, 4)], [0x0a, 0x08, 1]);
    await backend.when(() => backend.runs.some((run) => run.main["name"] === "span 2.0"));
  });

  const malformed = buildSpan(4, 1, 0, { attributes: { a: "b" } });
  const badProtobuf = Buffer.concat([protobufRequest([malformed]), field(1, Buffer.from([16, 1]))]);
  const badJson = jsonRequest([malformed]).replace(/"attributes":\[[^\]]*\],"dropped/, '"attributes":"x","dropped');
  for (const [name, body, path, count] of [
    ["JSON", '{"resourceSpans":"x"}', "traces", "rejectedSpans"],
    ["JSON with a mark in front", '\ufeff{"resourceSpans":[5]}', "traces", "rejectedSpans"],
    ["attributes in JSON", badJson, "traces", "rejectedSpans"],
    ["JSON of log records", '{"resourceLogs":{"scopeLogs":[]}}', "logs", "rejectedLogRecords"],
    ["protobuf", badProtobuf, "traces", null],
    ["protobuf of log records", field(1, Buffer.from([16, 1])), "logs", null],
  ] as const)
    test(`partial_success reports malformed ${name}`, async () => {
      const response = await fetch(`${collector.url}/v1/${path}`, {
        method: "POST",
        body: body as string | Uint8Array<ArrayBuffer>,
        headers: {
          "content-type": count === null ? "application/x-protobuf" : "application/json",
          "x-api-key": "key-1",
        },
      });
      const text = await response.text();
      assert.equal(response.status, 200);
      assert.match(text, /1 (?:spans|log records) rejected: malformed/);
      if (count !== null) assert.ok(text.includes(`"${count}":"1"`), text);
    });

  const undecodable: readonly { readonly name: string; readonly body: string | Buffer; readonly says: RegExp }[] = [
    { name: "cut JSON", body: '{"resourceSpans":[', says: /malformed|ends inside/ },
    { name: "JSON that is no object", body: "[]", says: /object/ },
    {
      name: "JSON with a trailing comma between spans",
      body: '{"resourceSpans":[{"scopeSpans":[{"spans":[{},]}]}]}',
      says: /malformed/,
    },
    { name: "JSON that is no UTF-8", body: Buffer.from([0x7b, 0xff, 0x7d]), says: /UTF-8/ },
    { name: "logs as JSON", body: '{"resourceLogs":[]}', says: /log records/ },
    { name: "metrics as JSON", body: '{"resourceMetrics":[]}', says: /metrics/ },
    { name: "cut protobuf", body: protobufRequest([buildSpan(3, 0)]).subarray(0, 60), says: /cut off/ },
    { name: "text as protobuf", body: Buffer.from("hello"), says: /./ },
    {
      name: "logs as protobuf",
      body: field(1, field(2, field(2, Buffer.concat([number64(1, 5n), field(5, "body")])))),
      says: /log records/,
    },
    {
      name: "metrics as protobuf",
      body: field(1, field(2, field(2, Buffer.concat([field(1, "m"), field(7, "")])))),
      says: /metrics/,
    },
  ];
  for (const { name, body, says } of undecodable)
    test(`${name} is 400 with a google.rpc.Status`, async () => {
      const isJson = name.includes("JSON");
      const response = await post(body, { "content-type": isJson ? "application/json" : "application/x-protobuf" });
      assert.equal(response.status, 400);
      if (isJson) {
        const status = (await response.json()) as { code: number; message: string };
        assert.equal(status.code, 3);
        assert.match(status.message, says);
      } else {
        const bytes = Buffer.from(await response.arrayBuffer());
        assert.deepEqual([...bytes.subarray(0, 3)], [0x08, 3, 0x12]);
        assert.match(bytes.toString("utf8", 4), says);
      }
    });

  test("aliases used by misconfigured exporters accept traces; other paths name the remedy", async () => {
    for (const path of ["/v1/traces/v1/traces", "/otel/v1/traces"]) assert.equal((await post404(path)).status, 200);
    const response = await post404("/nowhere");
    assert.equal(response.status, 404);
    assert.match(await response.text(), /\/v1\/traces, log records to \/v1\/logs/);
    const get = await fetch(`${collector.url}/v1/traces`);
    assert.deepEqual([get.status, get.headers.get("allow")], [405, "POST"]);
  });
});

describe("media types and encodings", () => {
  const body = protobufRequest([buildSpan(4, 0)]);
  for (const [encoding, wire] of [
    ["gzip", gzipSync(body)],
    ["x-gzip", gzipSync(body)],
    ["deflate", deflateSync(body)],
    ["deflate", deflateRawSync(body)],
    ["zstd", zstdCompressSync(body)],
    ["identity", body],
    [" GZIP ", gzipSync(body)],
  ] as const)
    test(`Content-Encoding ${encoding.trim()} is read`, async () => {
      assert.equal((await post(wire, { "content-encoding": encoding })).status, 200);
    });

  for (const type of ["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"])
    test(`Content-Type ${type} is JSON`, async () => {
      assert.equal((await post("{}", { "content-type": type })).status, 200);
    });

  for (const [header, value] of [
    ["content-encoding", "br"],
    ["content-encoding", "gzip, gzip"],
    ["content-type", "text/plain"],
    ["content-type", "application/json, application/x-protobuf"],
    ["content-type", ""],
  ] as const)
    test(`${header} "${value}" is 415`, async () => {
      assert.equal((await post("{}", { [header]: value })).status, 415);
    });

  test("a body that contradicts its Content-Encoding is 400", async () => {
    for (const encoding of ["gzip", "deflate", "zstd"])
      assert.equal((await post(Buffer.from("not compressed"), { "content-encoding": encoding })).status, 400);
    assert.equal((await post(gzipSync(body).subarray(0, 40), { "content-encoding": "gzip" })).status, 400);
  });
});

describe("keys", () => {
  /** Raw, because fetch cannot send a header twice or empty. */
  async function rawStatus(url: string, headers: readonly string[]): Promise<number> {
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1");
    // Announces a body and never sends it: a reply proves that the receiver did not wait for it.
    socket.write(
      [
        "POST /v1/traces HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "Content-Length: 10",
        ...headers,
        "",
        "",
      ].join("\r\n"),
    );
    const chunk = await new Promise<Buffer>((resolve) => socket.once("data", (data) => resolve(Buffer.from(data))));
    socket.destroy();
    return Number(chunk.toString("latin1", 9, 12));
  }

  for (const [name, headers] of [
    ["no key", []],
    ["an empty key", ["X-API-Key:"]],
    ["a key of spaces", ["X-API-Key:    "]],
    ["two keys", ["X-API-Key: a", "X-API-Key: b"]],
    ["a key outside ASCII", ["X-API-Key: k\u00e9y"]],
  ] as const)
    test(`${name} is 401 before the body is read`, async () => {
      assert.equal(await rawStatus(collector.url, headers), 401);
    });

  test("a key in the environment admits a request without one, not one with a bad key", async () => {
    const own = await startCollector(backend.url, { TRACING_API_KEY: "env-key" });
    const send = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${own.url}/v1/traces`, {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json", ...headers },
      });
    assert.equal((await send({})).status, 200);
    assert.equal(await rawStatus(own.url, ["X-API-Key:  "]), 401);
    await own.stop();
  });

  test("requires and compares the ingest token, which is not the key", async () => {
    const own = await startCollector(backend.url, { INGEST_TOKEN: "secret-token" });
    const send = async (authorization: string): Promise<number> =>
      (await own.send("{}", authorization === "" ? {} : { authorization })).status;
    assert.deepEqual([await send(""), await send("Bearer wrong"), await send("Bearer secret-token")], [401, 401, 200]);
    await own.stop();
  });

  test("/live, /ready and /metrics need no key", async () => {
    for (const path of ["/live", "/ready", "/metrics"]) assert.equal((await fetch(collector.url + path)).status, 200);
  });
});

describe("projects", () => {
  for (const [name, value] of [
    ["longer than 256 bytes", "p".repeat(257)],
    ["with a C1 control character", "a\u0085b"],
  ] as const)
    test(`a project ${name} is 400`, async () => {
      assert.equal((await post("{}", { "tracing-project": value })).status, 400);
    });

  test("the header beats its alias and the environment, and UTF-8 in it is read", async () => {
    const own = await startCollector(backend.url, { TRACING_PROJECT: "from-env" });
    const utf8 = Buffer.from("projet-é").toString("latin1");
    await own.send(jsonRequest([buildSpan(5, 0)]), { "tracing-project": utf8, "langsmith-project": "alias" });
    await own.send(jsonRequest([buildSpan(6, 0)]), { "langsmith-project": "alias" });
    await own.send(jsonRequest([buildSpan(7, 0)]));
    await own.stop();
    const findProject = (name: string): unknown =>
      backend.runs.find((run) => run.main["name"] === name)?.main["session_name"];
    assert.deepEqual(["span 5.0", "span 6.0", "span 7.0"].map(findProject), ["projet-é", "alias", "from-env"]);
  });
});

describe("browsers", () => {
  test("preflights are answered for listed origins only", async () => {
    const own = await startCollector(backend.url, { CORS_ALLOW_ORIGINS: "https://app.example" });
    const ask = (origin: string): Promise<Response> =>
      fetch(`${own.url}/v1/traces`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      });
    const allowed = await ask("https://app.example");
    assert.deepEqual(
      [allowed.status, allowed.headers.get("access-control-allow-origin")],
      [204, "https://app.example"],
    );
    assert.equal((await ask("https://other.example")).status, 403);
    await own.stop();
    assert.equal(
      (await fetch(`${collector.url}/v1/traces`, { method: "OPTIONS", headers: { origin: "null" } })).status,
      403,
    );
  });
});
