// A collector in this process, against a fake backend, with a log that tests can read.
import { readConfig } from "@holdpoint/base/config/config.ts";
import { systemClock, type Clock } from "@holdpoint/base/clock.ts";
import { openKeyring } from "@holdpoint/base/config/encryption-keys.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createHttpBackend } from "@holdpoint/collector/upload/backend/http.ts";
import type { Backend } from "@holdpoint/collector/upload/backend/port.ts";
import { createCollector, type Collector } from "@holdpoint/collector/service/collector.ts";
import { type CollectorConfig, collectorSettings } from "@holdpoint/collector/service/settings.ts";
import { createArrivals } from "../harness/arrivals.ts";
import { runKeys } from "./keys.ts";
import { readTestLimits } from "./collector-limits.ts";
import { type FilePort, nodeFiles } from "@holdpoint/collector/spool/disk/file-port.ts";

export interface TestCollector {
  readonly collector: Collector;
  readonly url: string;
  readonly log: readonly string[];
  /** Waits for lines with this text. */
  whenLogged(text: string, times?: number): Promise<void>;
  /** POSTs to /v1/traces. */
  send(body: Uint8Array | string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  stop(): Promise<void>;
}

export function testConfig(env: Readonly<Record<string, string>>): CollectorConfig {
  const given = {
    HTTP_PORT: "0",
    FLUSH_INTERVAL_MS: "20",
    RETRY_BACKOFF_MS: "1",
    orphanTimeoutMs: "50",
    ...runKeys,
    ...env,
  };
  return { ...readTestLimits(given), ...readConfig(given, collectorSettings, () => "") };
}

/** Counters of uploads follow their replies. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}

export interface TestPorts {
  readonly clock?: Clock;
  readonly files?: FilePort;
  readonly backend?: Backend;
}

export async function startCollector(
  endpoint: string,
  env: Readonly<Record<string, string>> = {},
  ports: TestPorts = {},
): Promise<TestCollector> {
  const config = testConfig({ TRACING_ENDPOINT: endpoint, ...env });
  const lines = createArrivals<string>();
  const clock = ports.clock ?? systemClock;
  const backend =
    ports.backend ??
    createHttpBackend(
      {
        endpoint,
        timeoutMs: config.uploadTimeoutMs,
        connectionsMax: config.inflightUploadsMax,
        userAgent: "holdpoint-test",
        httpsProxy: null,
        noProxy: null,
      },
      clock,
    );
  const collector = createCollector(config, {
    backend,
    clock,
    log: createLog({ level: "debug", json: true, secrets: [], now: clock.now, write: lines.add }),
    files: ports.files ?? nodeFiles,
    random: Math.random,
    ring: await openKeyring(config),
  });
  await collector.start();
  const { port } = collector.address();
  const url = `http://127.0.0.1:${port}`;
  return {
    collector,
    url,
    log: lines.list,
    async whenLogged(text, times = 1) {
      await lines.when(text, (log) => log.filter((line) => line.includes(text)).length >= times);
    },
    send: (body, headers = {}) =>
      fetch(`${url}/v1/traces`, {
        method: "POST",
        body: body as Uint8Array<ArrayBuffer> | string,
        headers: {
          "x-api-key": "key-1",
          "content-type": typeof body === "string" ? "application/json" : "application/x-protobuf",
          ...headers,
        },
      }),
    stop: () => collector.stop(),
  };
}
