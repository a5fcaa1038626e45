// Tests of delivery end to end, in memory mode: batches, keys, a hostile backend, span accounting, a full queue.
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, test } from "node:test";
import { JOIN_LIMITS } from "@holdpoint/collector/logs/join-table.ts";
import { ASSEMBLE_LIMITS } from "@holdpoint/collector/assemble/trace-table.ts";
import { createSpanAccounting, countPending, sumCounts } from "@holdpoint/collector/shared/span-accounting.ts";
import type { Decoded } from "@holdpoint/collector/otlp/decoded.ts";
import { readProtobuf } from "@holdpoint/collector/otlp/protobuf.ts";
import { createDelivery } from "@holdpoint/collector/pipeline/delivery.ts";
import { createPipeline } from "@holdpoint/collector/pipeline/pipeline.ts";
import type { Body } from "@holdpoint/collector/encode/batch-body.ts";
import { openBackend } from "@holdpoint/collector/service/open-collector.ts";
import { replayDeadLetters } from "@holdpoint/collector/commands/replay.ts";
import { createTranslator } from "@holdpoint/collector/translate/translate.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { type Answer, type FakeBackend, startBackend, type Upload } from "../fakes/backend.ts";
import { startCollector, type TestCollector, testConfig } from "../fakes/collector.ts";
import { jsonRequest, protobufRequest, buildSpan } from "../fakes/otlp.ts";

async function withBoth(
  env: Record<string, string>,
  run: (collector: TestCollector, backend: FakeBackend) => Promise<void>,
): Promise<{ collector: TestCollector; backend: FakeBackend }> {
  const backend = await startBackend();
  const collector = await startCollector(backend.url, env);
  try {
    await run(collector, backend);
  } finally {
    await collector.stop();
    await backend.close();
  }
  assert.deepEqual(backend.violations, []);
  assert.equal(countPending(collector.collector.accounting), 0);
  return { collector, backend };
}

const many = (trace: number, count: number) =>
  Array.from({ length: count }, (_, span) => buildSpan(trace, span, span === 0 ? undefined : 0));

describe("batches", () => {
  test("sends a batch at BATCH_SIZE runs, and the rest after FLUSH_INTERVAL_MS", async () => {
    const { backend } = await withBoth({ BATCH_SIZE: "10" }, async (collector, backend) => {
      await collector.send(protobufRequest(many(1, 25)));
      await backend.whenRuns(25);
    });
    assert.deepEqual(
      backend.uploads.map((upload) => upload.runs.length).sort((a, b) => b - a),
      [10, 10, 5],
    );
  });

  test("batches stay BATCH_SIZE big for ever: the byte count begins anew with each", async () => {
    const { backend } = await withBoth({ BATCH_SIZE: "10", MAX_BUFFER_BYTES: "20000" }, async (collector, backend) => {
      for (let trace = 0; trace < 60; trace++) await collector.send(protobufRequest(many(trace, 10)));
      await backend.whenRuns(600);
    });
    assert.ok(backend.uploads.reduce((sum, upload) => sum + upload.rawBytes, 0) > 10 * 20_000);
    assert.ok(backend.uploads.slice(-20).every((upload) => upload.runs.length === 10));
  });

  test("the backend's own limits count when they are lower", async () => {
    const backend = await startBackend();
    backend.info = {
      batch_ingest_config: { size_limit: 7 },
      instance_flags: { zstd_compression_enabled: false, gzip_body_enabled: true },
    };
    const collector = await startCollector(backend.url);
    await collector.send(protobufRequest([buildSpan(1, 0)])); // requests /info in the background
    await backend.whenRuns(1);
    await collector.send(protobufRequest(many(2, 21)));
    await backend.whenRuns(22);
    await collector.stop();
    await backend.close();
    assert.ok(backend.uploads.slice(1).every((upload) => upload.runs.length <= 7));
  });

  test("a backend without multipart gets the plain form", async () => {
    const backend = await startBackend({ batchOnly: true });
    const collector = await startCollector(backend.url);
    await collector.send(protobufRequest(many(1, 3)));
    await backend.whenRuns(3);
    await collector.stop();
    await backend.close();
    assert.deepEqual(backend.violations, []);
    assert.equal(backend.runs[0]?.inputs["text"], "question 1.0");
  });
});

describe("images of messages", () => {
  const bytes = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(5_000, 0xa7)]);
  const part = (url: string) => [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
  const url = `data:image/png;base64,${bytes.toString("base64")}`;
  const span = {
    ...buildSpan(1, 0),
    attributes: { "gen_ai.operation.name": "chat", "gen_ai.prompt": JSON.stringify({ messages: part(url) }) },
  };
  const cases = [
    { name: "are attachments of the run", env: {}, batchOnly: false, isAttached: true },
    { name: "return to the messages for a backend without multipart", env: {}, batchOnly: true },
    { name: "are attachments from the spool too", env: { SPOOL_DIR: "spool" }, batchOnly: false, isAttached: true },
  ];
  for (const { name, env, batchOnly, isAttached = false } of cases)
    test(name, async () => {
      const folder = await mkdtemp(`${tmpdir()}/holdpoint-media-`);
      const backend = await startBackend({ batchOnly });
      const spool = "SPOOL_DIR" in env ? { SPOOL_DIR: folder } : {};
      const collector = await startCollector(backend.url, { ...env, ...spool });
      await collector.send(jsonRequest([span]));
      await backend.whenRuns(1);
      await collector.stop();
      await backend.close();
      await rm(folder, { recursive: true });
      assert.deepEqual(backend.violations, []);
      const [run] = backend.runs;
      assert.deepEqual(run?.inputs["messages"], part(isAttached ? "attachment:image-1" : url));
      const attachment = { name: "image-1", type: "image/png", bytes: bytes.length };
      assert.deepEqual(run?.attachments, isAttached ? [attachment] : []);
    });
});

describe("keys", () => {
  test("the request's key wins over the environment's, and two keys never share an upload", async () => {
    const { backend } = await withBoth({ TRACING_API_KEY: "env-key" }, async (collector, backend) => {
      await collector.send(jsonRequest([buildSpan(1, 0)]), { "x-api-key": "key-a" });
      await collector.send(jsonRequest([buildSpan(2, 0)]), { "x-api-key": "key-b" });
      await collector.send(jsonRequest([buildSpan(3, 0)]), { "x-api-key": "key-a", "x-tenant-id": "workspace" });
      const response = await fetch(`${collector.url}/v1/traces`, {
        method: "POST",
        body: jsonRequest([buildSpan(4, 0)]),
        headers: { "content-type": "application/json" },
      });
      assert.equal(response.status, 200);
      await backend.whenRuns(4);
    });
    const seen = backend.runs.map((run) => `${String(run.main["name"])} ${run.key} ${run.tenantId}`);
    assert.deepEqual(seen.sort(), [
      "span 1.0 key-a ",
      "span 2.0 key-b ",
      "span 3.0 key-a workspace",
      "span 4.0 env-key ",
    ]);
  });

  test("a redirect is not followed: no second address ever sees a key or a run", async () => {
    const other = await startBackend();
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-`);
    await withBoth(
      { retryCooldownMs: "1", DEAD_LETTER_DIR: dir, SHUTDOWN_TIMEOUT_MS: "2500" },
      async (collector, backend) => {
        backend.script = () => ({ status: 307, headers: { location: `${other.url}/runs/multipart` } });
        await collector.send(jsonRequest([buildSpan(1, 0)]));
        await backend.when(() => backend.uploads.length >= 3);
      },
    );
    assert.equal(other.uploads.length, 0);
    await other.close();
    await rm(dir, { recursive: true });
  });

  test("keys and tokens appear in no log line, metric, reply or dead letter", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-`);
    const canary = "canary-key-5d1f";
    const shown: string[] = [];
    const { collector } = await withBoth(
      { DEAD_LETTER_DIR: dir, TRACING_API_KEY: `${canary}-env`, retryCooldownMs: "1" },
      async (collector, backend) => {
        const says: Answer[] = [
          { status: 401, body: `bad ${canary}` },
          { status: 500, body: `oh ${canary}` },
          "reset",
          { status: 422, body: `no ${canary}` },
        ];
        backend.script = (upload) => says[upload.index] ?? { status: 422 };
        shown.push(await (await collector.send(jsonRequest([buildSpan(1, 0)]), { "x-api-key": canary })).text());
        await backend.when(() => backend.uploads.length >= 4);
        shown.push(await (await fetch(`${collector.url}/metrics`)).text());
      },
    );
    for (const name of await readdir(dir)) shown.push(name, await readFile(`${dir}/${name}`, "latin1"));
    assert.ok((await readdir(dir)).length > 0);
    for (const text of [...shown, ...collector.log]) assert.ok(!text.includes(canary), text.slice(0, 200));
    await rm(dir, { recursive: true });
  });
});

describe("a backend that misbehaves", () => {
  const cases: readonly { readonly name: string; readonly answers: readonly Answer[] }[] = [
    { name: "resets", answers: ["reset", "reset"] },
    { name: "takes, then resets before the reply", answers: ["take_and_reset"] },
    { name: "lies about the length of its reply", answers: ["lie"] },
    { name: "never ends its reply", answers: ["endless"] },
    { name: "never ends the head of its reply", answers: ["endless_head"] },
    { name: "speaks no HTTP", answers: ["garbage", "garbage"] },
    { name: "hangs", answers: ["hang"] },
    { name: "drips", answers: ["drip"] },
    {
      name: "answers 408, 425, 429, 499, 500, 502, 503, 504 in turn",
      answers: [408, 425, 429, 499, 500, 502, 503, 504].map((status) => ({ status })),
    },
    {
      name: "asks to come back",
      answers: [
        { status: 429, headers: { "retry-after": "0" } },
        { status: 503, headers: { "retry-after": new Date().toUTCString() } },
      ],
    },
    { name: "refuses the key for a while", answers: [{ status: 401 }, { status: 403 }] },
    { name: "has it already", answers: [{ status: 409 }] },
  ];
  for (const { name, answers } of cases)
    test(`${name}: everything arrives in the end`, async () => {
      const env = { uploadTimeoutMs: "150", retryCooldownMs: "5" };
      const { collector } = await withBoth(env, async (collector, backend) => {
        backend.script = (upload) => answers[upload.index] ?? { status: 202 };
        await collector.send(jsonRequest([buildSpan(1, 0)]));
        if (name === "has it already") await backend.when(() => backend.uploads.length > 0);
        else await backend.whenRuns(1);
      });
      assert.equal(collector.collector.accounting.delivered, 1);
      assert.equal(collector.collector.lost(), 0);
    });

  test("a hundred uploads cut after their acceptance repeat byte for byte, with the same ids", async () => {
    const { backend, collector } = await withBoth(
      { BATCH_SIZE: "5", MAX_RETRIES: "100", RETRY_BACKOFF_MS: "0" },
      async (collector, backend) => {
        let cuts = 0;
        backend.script = () => (cuts++ < 100 ? "take_and_reset" : { status: 202 });
        for (let trace = 0; trace < 20; trace++)
          await collector.send(protobufRequest(many(trace, 10)), { "x-api-key": `key-${trace % 3}` });
        await backend.when(() => cuts > 100 && new Set(backend.runs.map((run) => run.id)).size === 200);
      },
    );
    const shown = backend.runs.map(({ id, key, event, text }) => ({ id, all: `${key} ${event} ${text}` }));
    assert.equal(new Set(shown.map(({ id }) => id)).size, 200);
    assert.equal(new Set(shown.map(({ all }) => all)).size, 200, "a repeat differs");
    assert.equal(backend.runs.length, 200 + 5 * 100);
    assert.equal(collector.collector.accounting.delivered, 200);
  });

  test("a reply without end costs 64 KiB, not the time until the timeout", async () => {
    const backend = await startBackend();
    backend.script = () => "endless";
    const sender = openBackend(testConfig({ TRACING_ENDPOINT: backend.url }));
    const body: Body = {
      tenant: { id: "t", apiKey: "k", tenantId: "" },
      createdMs: 0,
      boundary: "b",
      encoding: "identity",
      bytes: Buffer.from("--b--\r\n"),
      rawBytes: 0,
      offsets: [0],
      first: 0,
    };
    const outcome = await sender.send(body, new AbortController().signal);
    assert.match(outcome.kind === "retry" ? outcome.reason : "", /larger than 65536 bytes/);
    sender.close();
    await backend.close();
  });

  test("a permanently rejected batch becomes a dead letter, and replay sends it again with the right key only", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-`);
    const { collector } = await withBoth({ DEAD_LETTER_DIR: dir }, async (collector, backend) => {
      backend.script = (upload) => ({ status: upload.runs.some((run) => run.main["name"] === "span 1.3") ? 422 : 202 });
      await collector.send(protobufRequest(many(1, 10)));
      await backend.whenRuns(9);
    });
    assert.equal(collector.collector.accounting.deadLettered.refused_by_backend, 1);
    assert.equal((await readdir(dir)).length, 1);
    const again = await startBackend();
    const replay = (key: string) =>
      replayDeadLetters(testConfig({ TRACING_ENDPOINT: again.url, DEAD_LETTER_DIR: dir, TRACING_API_KEY: key }));
    assert.deepEqual(await replay("another-key"), { sent: 0, kept: 1, otherKey: 1, problems: [] });
    await writeFile(`${dir}/0.dead`, "torn");
    again.script = ({ index }) => ({ status: index === 0 ? 503 : 202 });
    const problems = [`${dir}/0.dead: is not a dead letter, or is damaged`];
    assert.deepEqual(await replay("key-1"), { sent: 1, kept: 1, otherKey: 0, problems });
    await rm(`${dir}/0.dead`);
    assert.deepEqual(
      again.runs.map((run) => run.main["name"]),
      ["span 1.3"],
    );
    assert.equal((await readdir(dir)).length, 0);
    await again.close();
    await rm(dir, { recursive: true });
  });
});

describe("dead letters", () => {
  test("replay finds the run that the backend refuses, sends the others of the letter, and keeps that one", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-`);
    await withBoth(
      { DEAD_LETTER_DIR: dir, MAX_RETRIES: "0", SHUTDOWN_TIMEOUT_MS: "1000" },
      async (collector, backend) => {
        backend.script = () => ({ status: 503 });
        await collector.send(protobufRequest(many(1, 10)));
        await backend.when(() => backend.uploads.length > 0);
      },
    );
    assert.equal((await readdir(dir)).length, 1);
    const again = await startBackend();
    again.script = ({ runs }) => ({ status: runs.some(({ main }) => main["name"] === "span 1.3") ? 422 : 202 });
    const config = testConfig({ TRACING_ENDPOINT: again.url, DEAD_LETTER_DIR: dir, TRACING_API_KEY: "key-1" });
    const { problems, ...counts } = await replayDeadLetters(config);
    assert.deepEqual([counts, problems.length], [{ sent: 1, kept: 1, otherKey: 0 }, 1]);
    assert.equal(again.runs.length, 9);
    const kept = await readdir(dir);
    assert.equal(kept.length, 1);
    assert.match(await readFile(`${dir}/${kept[0] ?? ""}`, "latin1"), /"cause":"refused_by_backend".*"runs":1,/);
    again.script = () => ({ status: 202 });
    assert.equal((await replayDeadLetters(config)).sent, 1);
    assert.equal(new Set(again.runs.map(({ main }) => main["name"])).size, 10);
    assert.deepEqual(await readdir(dir), []);
    await again.close();
    await rm(dir, { recursive: true });
  });

  test("a refused run whose letter cannot be written stays in the spool, and is dead-lettered by a later start", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-`);
    const env = { SPOOL_DIR: `${dir}/spool`, DEAD_LETTER_DIR: `${dir}/dead` };
    const refusing = ({ runs }: Upload): Answer => ({
      status: runs.some(({ main }) => main["name"] === "span 1.3") ? 422 : 202,
    });
    const backend = await startBackend();
    backend.script = refusing;
    const first = await startCollector(backend.url, env);
    await rm(env.DEAD_LETTER_DIR, { recursive: true, force: true });
    await writeFile(env.DEAD_LETTER_DIR, "in its place");
    await first.send(protobufRequest(many(1, 10)));
    await backend.whenRuns(9);
    await first.whenLogged("runs_kept_in_spool");
    await first.stop();
    await backend.close();
    assert.equal(countPending(first.collector.accounting), 1);
    assert.equal(first.collector.lost(), 0);
    await rm(env.DEAD_LETTER_DIR);
    const again = await startBackend();
    again.script = refusing; // before the start, which uploads the rest of the spool
    const second = await startCollector(again.url, env);
    await second.whenLogged("runs_dead_lettered");
    await second.stop();
    await again.close();
    assert.equal(countPending(second.collector.accounting), 0);
    assert.equal((await readdir(env.DEAD_LETTER_DIR)).length, 1);
    await rm(dir, { recursive: true });
  });
});

describe("a full queue", () => {
  test("senders get 503 with Retry-After at once, acknowledged spans arrive, and then there is room again", async () => {
    const { collector } = await withBoth(
      { MAX_QUEUE_BYTES: "1048576", retryCooldownMs: "5", BATCH_SIZE: "5" },
      async (collector, backend) => {
        let well = false;
        backend.script = () => (well ? { status: 202 } : { status: 503 });
        const noise = (): string => Array.from({ length: 3000 }, () => Math.random().toString(36)).join("");
        let accepted = 0;
        let refused: Response | null = null;
        for (let trace = 0; refused === null && trace < 500; trace++) {
          const response = await collector.send(
            jsonRequest([buildSpan(trace, 0, undefined, { attributes: { "gen_ai.prompt": noise() } })]),
          );
          if (response.status === 200) accepted++;
          else refused = response;
        }
        assert.equal(refused?.status, 503);
        assert.equal(refused.headers.get("retry-after"), "1");
        assert.equal((await fetch(`${collector.url}/ready`)).status, 200); // full is not unready
        assert.ok(accepted > 5);
        well = true;
        await backend.whenRuns(accepted);
        assert.equal((await collector.send(jsonRequest([buildSpan(900, 0)]))).status, 200);
      },
    );
    assert.equal(collector.collector.accounting.delivered, collector.collector.accounting.received);
  });

  test("one body may be larger than the queue when nothing else is held", async () => {
    await withBoth({ MAX_QUEUE_BYTES: "1048576" }, async (collector, backend) => {
      const big = buildSpan(1, 0, undefined, { attributes: { "gen_ai.prompt": "x".repeat(3_000_000) } });
      assert.equal((await collector.send(jsonRequest([big]))).status, 200);
      await backend.whenRuns(1);
    });
  });
});

test("at the end parked children and open batches are sent, and the log balances the books", async () => {
  const { collector, backend } = await withBoth(
    { FLUSH_INTERVAL_MS: "60000", orphanTimeoutMs: "60000" },
    async (collector) => {
      await collector.send(protobufRequest(many(1, 99)));
      await collector.send(protobufRequest([1, 2, 3, 4, 5].map((span) => buildSpan(2, span, 0))));
    },
  );
  assert.equal(backend.runs.length, 104);
  const last = JSON.parse(collector.log.at(-1) ?? "") as Record<string, unknown>;
  assert.deepEqual(
    [last["event"], last["received"], last["delivered"], last["pending"], last["lost"]],
    ["collector_stopped", 104, 104, 0, 0],
  );
});

test("without a dead-letter folder, undelivered runs count as lost and are logged", async () => {
  const { collector } = await withBoth({ SHUTDOWN_TIMEOUT_MS: "2100" }, async (collector, backend) => {
    backend.script = () => ({ status: 503 });
    await collector.send(protobufRequest(many(1, 3)));
  });
  assert.equal(collector.collector.lost(), 3);
  assert.equal(collector.collector.accounting.lost.shut_down, 3);
  assert.ok(collector.log.some((line) => line.includes("runs_lost")));
});

test("received = delivered + pending + rejected + filtered + duplicates + dropped, for any input", async () => {
  const { collector } = await withBoth({ FILTER_NON_GENAI: "true" }, async (collector, backend) => {
    const spans = [
      ...many(1, 10),
      ...many(1, 4),
      { ...buildSpan(2, 0), spanId: "0".repeat(16) },
      buildSpan(3, 0, undefined, { attributes: { "http.method": "GET" } }),
    ];
    await collector.send(protobufRequest(spans));
    await backend.whenRuns(10);
  });
  const { accounting } = collector.collector;
  assert.deepEqual(
    [
      accounting.received,
      accounting.delivered,
      accounting.rejected,
      accounting.filtered,
      accounting.duplicates,
      sumCounts(accounting.lost),
      sumCounts(accounting.deadLettered),
    ],
    [16, 10, 1, 1, 4, 0, 0],
  );
});

test("a span that breaks translation is booked as lost; its neighbours go on", () => {
  const accounting = createSpanAccounting();
  const clock = createFakeClock();
  const sealed: number[] = [];
  const log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
  const delivery = createDelivery({
    accounting,
    log,
    queues: { offer: () => undefined, isFailing: () => false },
    spool: null,
    deadLetters: null,
    onBatch: (runs) => void sealed.push(runs),
  });
  const pipeline = createPipeline(
    {
      batchSize: 10,
      bufferBytesMax: 1e6,
      flushIntervalMs: 10,
      assemble: ASSEMBLE_LIMITS,
      join: JOIN_LIMITS,
      sample: null,
    },
    {
      clock,
      log,
      translate(span, context) {
        if (span.name === "span 1.1") throw new Error("our fault");
        return createTranslator({ filterNonGenAi: false, project: "" })(span, context);
      },
      accounting,
      backendLimits: () => ({ runsMax: 10, bytesMax: 1e6, encoding: "zstd" }),
      marks: null,
      delivery,
      onRun: () => undefined,
    },
  );
  const items = finish(readProtobuf(protobufRequest(many(1, 3))));
  void pipeline.feed(items, { tenant: { id: "t", apiKey: "k", tenantId: "" }, project: "", receivedMs: 1 }, null);
  void pipeline.flush();
  assert.deepEqual([accounting.lost.untranslatable, sealed], [1, [2]]);
});

function finish(reading: Generator<undefined, Decoded>): Decoded {
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}
