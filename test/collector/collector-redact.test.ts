// Redaction end to end: canaries in every place and form of a request are in no file of the collector, in no line of its log
// and in no upload, while the runs arrive.
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { startBackend } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";
import { jsonLogs, protobufLogs, buildRecord } from "../fakes/otlp-logs.ts";
import { jsonRequest, protobufRequest, buildSpan, type TestSpan } from "../fakes/otlp.ts";

const RULES = {
  redact: [
    { name: "email", detect: ["email"] },
    { name: "card", detect: ["card"] },
    { name: "token", detect: ["token"], action: "hash" },
    { name: "number", match: "EMP-[0-9]{6}" },
    { name: "names", detect: ["email"], in: ["names"] },
    { name: "secret", attributes: ["secret.*", "**/password"], action: "drop" },
  ],
  /** Port 9 takes nothing, so the queue stays on disk. */
  forward: [{ name: "down", endpoint: "http://127.0.0.1:9" }],
};
const CANARIES = ["canary.alice", "4111111111111111", "4111 1111", "sk-canary", "EMP-123456", "canary-dropped"];
/** JSON text with everything in it, escaped once more than needed. */
const MESSAGES = String.raw`[{"role":"user","parts":[{"type":"text","content":"canary.alice\u0040example.com, 4111 1111 1111 1111"},{"type":"tool_call","arguments":"{\"password\":\"canary-dropped\",\"to\":\"canary.alice\\u0040example.com\"}"}]}]`;

function canarySpan(trace: number): TestSpan {
  return buildSpan(trace, 0, undefined, {
    name: "chat with canary.alice@example.com",
    traceState: "v=canary.alice@example.com",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.input.messages": MESSAGES,
      "user.email": "canary.alice@example.com",
      "secret.note": "canary-dropped",
      card: 4111111111111111n,
      nested: { list: ["EMP-123456", { password: "canary-dropped" }] },
      "canary.alice@example.com": "a key",
    },
    events: [{ name: "told canary.alice@example.com", time: 1n, attributes: { key: "sk-canary0123456789abcdef" } }],
    links: [{ traceId: "a".repeat(32), spanId: "b".repeat(16), attributes: { to: "canary.alice@example.com" } }],
    status: { code: 2, message: "no mail for canary.alice@example.com" },
  });
}

const ENVELOPE = {
  resource: { owner: "canary.alice@example.com" },
  scope: { name: "lib for canary.alice@example.com" },
};

async function filesBelow(dir: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      files.set(join(entry.parentPath, entry.name), await readFile(join(entry.parentPath, entry.name), "latin1"));
  return files;
}

/** Sends the body in two chunks that divide the first canary. */
function sendSplit(url: string, body: Buffer, contentType: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": contentType, "x-api-key": "key-1", "transfer-encoding": "chunked" };
    const request = httpRequest(url, { method: "POST", headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    request.once("error", reject);
    const middle = body.indexOf("canary.alice") + 6;
    request.write(body.subarray(0, middle), () => request.end(body.subarray(middle)));
  });
}

describe("redaction by the collector", () => {
  test("leaves no canary in spool, queue of destinations, dead letters, log or uploads, in both encodings", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-redact-`);
    await writeFile(`${dir}/rules.json`, JSON.stringify(RULES));
    const backend = await startBackend();
    backend.info = { instance_flags: { zstd_compression_enabled: false, gzip_body_enabled: false } };
    backend.script = ({ runs }) => ({
      status: runs.some(({ main }) => main["run_type"] === "tool") ? 422 : 202,
      body: "{}",
    });
    const collector = await startCollector(backend.url, {
      SPOOL_DIR: `${dir}/spool`,
      RULES_FILE: `${dir}/rules.json`,
      REDACT_HASH_KEY: "hash-key",
    });
    const tool = {
      ...canarySpan(3),
      attributes: { ...canarySpan(3).attributes, "gen_ai.operation.name": "execute_tool" },
    };
    const bodies: readonly (readonly [body: Buffer, type: string])[] = [
      [Buffer.from(jsonRequest([canarySpan(1)], "spec", ENVELOPE)), "application/json"],
      [protobufRequest([canarySpan(2), tool], ENVELOPE), "application/x-protobuf"],
    ];
    for (const [body, type] of bodies) assert.equal(await sendSplit(`${collector.url}/v1/traces`, body, type), 200);
    const zipped = gzipSync(protobufRequest([canarySpan(4)], ENVELOPE));
    assert.equal((await collector.send(zipped, { "content-encoding": "gzip" })).status, 200);
    const record = buildRecord(canarySpan(1), "gen_ai.user.message", { body: { content: "canary.alice@example.com" } });
    for (const logs of [jsonLogs([record], ENVELOPE), protobufLogs([record], ENVELOPE)]) {
      const type = typeof logs === "string" ? "application/json" : "application/x-protobuf";
      assert.equal(await sendSplit(`${collector.url}/v1/logs`, Buffer.from(logs), type), 200);
    }
    await backend.whenRuns(3);
    await collector.whenLogged("runs_dead_lettered");
    const metrics = await (await fetch(`${collector.url}/metrics`)).text();
    await collector.stop();
    const files = await filesBelow(`${dir}/spool`);
    await backend.close();
    assert.ok([...files.keys()].some((name) => name.endsWith(".dead")));
    const queued = [...files].filter(([name, text]) => name.includes("/forward/") && text.length > 0);
    assert.ok(queued.length > 0);
    const uploads = backend.uploads.flatMap(({ runs }) => runs.map(({ main, text }) => JSON.stringify(main) + text));
    const shown = { log: collector.log.join("\n"), metrics, uploads: uploads.join("\n"), ...Object.fromEntries(files) };
    for (const [where, text] of Object.entries(shown))
      for (const canary of CANARIES) assert.ok(!text.includes(canary), `${canary} is in ${where}`);
    assert.match(metrics, /redacted_values_total\{rule="email"\} [1-9]/);
    assert.match(metrics, /redacted_values_total\{rule="secret"\} [1-9]/);
    const kept = backend.runs.find(({ event }) => event === "post");
    assert.match(kept?.text ?? "", /\[email\], \[card\]/);
    assert.deepEqual(backend.violations, []);
    await rm(dir, { recursive: true });
  });

  const FAULTS: readonly (readonly [what: string, file: string, reason: RegExp])[] = [
    ["text that is not JSON", "{", /RULES_FILE: is not JSON/],
    ["an unknown member", '{"redakt":[]}', /RULES_FILE: the file: .*redakt/],
    ["an unknown detector", '{"redact":[{"name":"a","detect":["passport"]}]}', /redact\.0\.detect\.0/],
    ["a pattern that is not RE2", '{"redact":[{"name":"a","match":"(?<=a)b"}]}', /the rule a has no valid regular/],
    ["a rule that names nothing", '{"redact":[{"name":"a"}]}', /redact\.0: needs at least one/],
    ["a hash without a key", '{"redact":[{"name":"a","match":"bcd","action":"hash"}]}', /REDACT_HASH_KEY: is not set/],
  ];
  for (const [what, file, reason] of FAULTS)
    test(`does not start with ${what} in the rules file`, async () => {
      const dir = await mkdtemp(`${tmpdir()}/holdpoint-redact-`);
      await writeFile(`${dir}/rules.json`, file);
      await assert.rejects(startCollector("http://127.0.0.1:9", { RULES_FILE: `${dir}/rules.json` }), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, reason);
        return true;
      });
      await rm(dir, { recursive: true });
    });
});
