// Operating it: the check, the settings, the probes, the metrics, and a backend that stays away for hours.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { ConfigError, readConfig } from "@holdpoint/base/config/config.ts";
import { checkCollector } from "@holdpoint/collector/commands/check.ts";
import { explainedText, explainFile } from "@holdpoint/collector/commands/explain.ts";
import type { Backend, SendOutcome } from "@holdpoint/collector/upload/backend/port.ts";
import { countPending } from "@holdpoint/collector/shared/span-accounting.ts";
import { splitParts } from "@holdpoint/collector/encode/batch-body.ts";
import { createCollector } from "@holdpoint/collector/service/collector.ts";
import { openBackend } from "@holdpoint/collector/service/open-collector.ts";
import { COLLECTOR_LIMITS } from "@holdpoint/collector/service/limits.ts";
import { type CollectorConfig, collectorSettings } from "@holdpoint/collector/service/settings.ts";
import { nodeFiles } from "@holdpoint/collector/spool/disk/file-port.ts";
import { startBackend } from "../fakes/backend.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { startCollector, testConfig, until } from "../fakes/collector.ts";
import { protobufRequest, buildSpan } from "../fakes/otlp.ts";

const read = (env: Record<string, string>): CollectorConfig => ({
  ...COLLECTOR_LIMITS,
  ...readConfig(env, collectorSettings, () => "from-file"),
});

describe("settings", () => {
  test("the ten of the seed have their defaults", () => {
    const config = read({});
    assert.deepEqual(
      [
        config.httpPort,
        config.endpoint,
        config.apiKey,
        config.project,
        config.batchSize,
        config.flushIntervalMs,
        config.bufferBytesMax,
        config.bodyBytesMax,
        config.retriesMax,
        config.retryBackoffMs,
      ],
      [4318, null, null, null, 100, 1000, 10_485_760, 209_715_200, 3, 100],
    );
  });

  test("aliases lose to our names, and secrets can come from files", () => {
    assert.equal(read({ LANGSMITH_PROJECT: "alias" }).project, "alias");
    assert.equal(read({ LANGSMITH_PROJECT: "alias", TRACING_PROJECT: "own" }).project, "own");
    assert.equal(read({ TRACING_API_KEY_FILE: "x" }).apiKey, "from-file");
  });

  for (const [name, value] of [
    ["HTTP_PORT", "-1"],
    ["HTTP_PORT", "65536"],
    ["HTTP_PORT", "four"],
    ["BATCH_SIZE", "0"],
    ["BATCH_SIZE", "1.5"],
    ["BATCH_SIZE", "NaN"],
    ["FLUSH_INTERVAL_MS", "-1"],
    ["FLUSH_INTERVAL_MS", "0"],
    ["MAX_BUFFER_BYTES", "1"],
    ["MAX_BODY_BYTES", "1e9"],
    ["MAX_RETRIES", "-1"],
    ["RETRY_BACKOFF_MS", "-1"],
    ["SPAN_TTL", "5 minutes"],
    ["FILTER_NON_GENAI", "maybe"],
    ["SPOOL_MAX_BYTES", "0"],
    ["MAX_QUEUE_BYTES", "99999999999999999999"],
    ["SHUTDOWN_TIMEOUT_MS", "x"],
  ] as const)
    test(`${name}=${value} is refused at start, by name`, () => {
      assert.throws(
        () => read({ [name]: value }),
        (error) => error instanceof ConfigError && error.problems[0]?.name === name,
      );
    });

  test("RETRY_BACKOFF_MS=0 and MAX_RETRIES=0 work", async () => {
    const backend = await startBackend();
    const collector = await startCollector(backend.url, {
      RETRY_BACKOFF_MS: "0",
      MAX_RETRIES: "0",
      retryCooldownMs: "1",
    });
    backend.script = (upload) => ({ status: upload.index < 3 ? 500 : 202 });
    await collector.send(protobufRequest([buildSpan(1, 0)]));
    await backend.whenRuns(1);
    await collector.stop();
    await backend.close();
  });

  for (const name of ["SPOOL_DIR", "DEAD_LETTER_DIR"])
    test(`${name} at the place of a file is refused at start, by name`, async () => {
      await assert.rejects(
        startCollector("http://127.0.0.1:1", { [name]: fileURLToPath(import.meta.url) }),
        (error) => error instanceof ConfigError && error.problems[0]?.name === name,
      );
    });

  test("without an endpoint, with one that is none, or with a key no header may have, it does not start", () => {
    assert.throws(() => openBackend(read({})), /TRACING_ENDPOINT/);
    assert.throws(() => openBackend(read({ TRACING_ENDPOINT: "ftp://x" })), /TRACING_ENDPOINT/);
    const ports = {
      backend: scripted(() => ({ kind: "sent" })),
      clock: createFakeClock(),
      log: silent,
      files: nodeFiles,
      random: Math.random,
      ring: null,
    };
    assert.throws(
      () => createCollector(read({ TRACING_ENDPOINT: "http://x", TRACING_API_KEY: "k\u2713" }), ports),
      /TRACING_API_KEY/,
    );
  });
});

const silent = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };

function scripted(says: () => SendOutcome, onSent: (names: readonly string[]) => void = () => undefined): Backend {
  return {
    send(body) {
      const outcome = says();
      if (outcome.kind === "sent")
        onSent(
          splitParts(body)
            .filter(({ name }) => name.split(".").length === 2)
            .map(({ content }) => (JSON.parse(content.toString()) as { name: string }).name),
        );
      return Promise.resolve(outcome);
    },
    limits: () => ({ runsMax: 1000, bytesMax: 1e7, encoding: "zstd" }),
    close: () => undefined,
  };
}

describe("explain", () => {
  const request = (name: string): string =>
    JSON.stringify({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: "5b8efff798038103d269b633813fc60c",
                  spanId: "eee19b7ec3c1b174",
                  name,
                  startTimeUnixNano: "1763715600000000000",
                  attributes: [
                    { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
                    { key: "mine", value: { intValue: "4" } },
                  ],
                  events: [{ name: "exception" }, { name: "gen_ai.choice" }],
                },
              ],
            },
          ],
        },
      ],
    });

  test("names the destination of every attribute, of JSON, JSON lines and protobuf, gzipped or not", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-explain-`);
    const config = testConfig({});
    const explained = async (bytes: string | Buffer): Promise<string> => {
      await writeFile(`${dir}/file`, bytes);
      return explainedText(await explainFile(`${dir}/file`, config));
    };
    const text = await explained(request("one"));
    assert.equal(
      text,
      [
        'span "one" (eee19b7ec3c1b174) -> llm run "one"',
        "  gen_ai.operation.name  run_type, extra.metadata",
        "  mine                   extra.metadata.otel.attributes",
        "  event exception        error, events",
        "  event gen_ai.choice    outputs",
      ].join("\n"),
    );
    assert.equal(await explained(gzipSync(request("one"))), text);
    assert.match(await explained(`${request("one")}\n${request("two")}\n`), /"one".*\n[^]*"two"/);
    assert.match(await explained(protobufRequest([buildSpan(1, 0)])), /^span "/);
    await assert.rejects(explained("{nothing"));
    await rm(dir, { recursive: true });
  });
});

describe("check", () => {
  test("passes against a backend that takes the run, and names the step that fails", async () => {
    const backend = await startBackend();
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-check-`);
    const config = testConfig({ TRACING_ENDPOINT: backend.url, TRACING_API_KEY: "k", SPOOL_DIR: dir });
    assert.deepEqual(
      (await checkCollector(config)).map((step) => step.outcome),
      ["ok", "ok", "ok", "ok", "ok"],
    );
    assert.equal(backend.runs[0]?.main["name"], "holdpoint collector check");
    const failed = async (one: CollectorConfig): Promise<string[]> =>
      (await checkCollector(one)).filter((step) => step.outcome === "failed").map((step) => step.name);
    backend.script = ({ path }) => ({ status: path === "/runs/multipart" ? 404 : 202 });
    assert.deepEqual(await failed(config), [], "an older backend takes the older form");
    backend.script = () => ({ status: 401 });
    assert.deepEqual(await failed(config), ["upload"]);
    await backend.close();
    assert.deepEqual(backend.violations, []);
    assert.deepEqual(
      await failed({ ...config, apiKey: null }),
      ["endpoint"],
      "nobody is there, and no key to try it with",
    );
    await rm(dir, { recursive: true });
  });
});

describe("probes and metrics", () => {
  test("while it stops it is live and not ready, and takes nothing new", async () => {
    const clock = createFakeClock();
    const collector = await startCollector(
      "http://127.0.0.1:1",
      {},
      { clock, backend: scripted(() => ({ kind: "retry", reason: "503", afterMs: null })) },
    );
    await collector.send(protobufRequest([buildSpan(1, 0)]));
    const keptOpen = await fetch(`${collector.url}/ready`);
    assert.equal(keptOpen.status, 200);
    const stopping = collector.stop();
    await clock.advance(60_000);
    await stopping;
    await assert.rejects(fetch(`${collector.url}/live`));
  });

  test("the metrics balance and have the collector's names", async () => {
    const backend = await startBackend();
    const collector = await startCollector(backend.url);
    await collector.send(
      protobufRequest([buildSpan(1, 0), buildSpan(1, 1, 0), { ...buildSpan(1, 2), traceId: "0".repeat(32) }]),
    );
    await backend.whenRuns(2);
    await until(() => countPending(collector.collector.accounting) === 0);
    const text = await (await fetch(`${collector.url}/metrics`)).text();
    const value = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
    assert.deepEqual(
      [
        "receiver_received_spans_total",
        "receiver_accepted_spans_total",
        "receiver_rejected_spans_total",
        "exporter_sent_spans_total",
        "exporter_pending_spans",
      ].map((name) => value(`otelcol_${name}`)),
      [3, 2, 1, 2, 0],
    );
    await collector.stop();
    await backend.close();
  });
});

describe("a backend that is away for thirty hours", () => {
  for (const mode of ["memory", "durable"] as const)
    test(`${mode} mode: memory stays bounded, senders get 503 when it is full, and all acknowledged spans arrive`, async () => {
      const clock = createFakeClock();
      const dir = await mkdtemp(`${tmpdir()}/holdpoint-hours-`);
      const arrived = new Set<string>();
      let well = false;
      const backend = scripted(
        () => (well ? { kind: "sent" } : { kind: "retry", reason: "503", afterMs: null }),
        (names) => names.forEach((name) => arrived.add(name)),
      );
      const env = {
        MAX_QUEUE_BYTES: "1048576",
        SPOOL_MAX_BYTES: "3145728",
        BATCH_SIZE: "20",
        FLUSH_INTERVAL_MS: "60000",
        SHUTDOWN_TIMEOUT_MS: "3600000",
        ...(mode === "durable" ? { SPOOL_DIR: dir } : {}),
      };
      const collector = await startCollector("http://127.0.0.1:1", env, { clock, backend });
      const noise = (): string => Array.from({ length: 800 }, () => Math.random().toString(36)).join("");
      const acked = new Set<string>();
      let refused = 0;
      for (let hour = 0; hour < 30; hour++) {
        for (let index = 0; index < 12; index++) {
          const span = buildSpan(hour * 100 + index, 0, undefined, { attributes: { "gen_ai.prompt": noise() } });
          const response = await collector.send(protobufRequest([span]));
          if (response.status === 200) acked.add(span.name ?? "");
          else {
            assert.equal(response.status, 503);
            assert.ok(response.headers.has("retry-after"));
            refused++;
          }
        }
        await clock.advance(3_600_000);
      }
      assert.ok(refused > 0 && acked.size > 20, `${acked.size} acknowledged, ${refused} refused`);
      well = true;
      while (arrived.size < acked.size) await clock.advance(60_000);
      assert.deepEqual([...acked.difference(arrived)], []);
      // Space returns after the removal of delivered batches. The disk is real, with its own speed.
      for (let trace = 9000; (await collector.send(protobufRequest([buildSpan(trace, 0)]))).status !== 200; trace++)
        await clock.advance(500);
      await collector.stop();
      assert.equal(collector.collector.lost(), 0);
      assert.equal(collector.collector.accounting.delivered, collector.collector.accounting.received);
      await rm(dir, { recursive: true });
    });
});
