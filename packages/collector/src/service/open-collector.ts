// Open collector: the collector with its real ports, as `holdpoint collector` starts it.
import { systemClock } from "@holdpoint/base/clock.ts";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Backend } from "../upload/backend/port.ts";
import { createHttpBackend, type HttpBackend } from "../upload/backend/http.ts";
import { type Collector, createCollector } from "./collector.ts";
import type { CollectorConfig } from "./settings.ts";
import { nodeFiles } from "../spool/disk/file-port.ts";
import type { UploadPorts } from "../upload/upload.ts";

/** @throws {ConfigError} */
export function runCollector(config: CollectorConfig, log: Log, ring: Keyring | null): Collector {
  return createCollector(config, {
    backend: openBackend(config),
    clock: systemClock,
    log,
    files: nodeFiles,
    random: Math.random,
    ring,
  });
}

/** @throws {ConfigError} when there is no endpoint. */
export function openBackend(config: CollectorConfig): HttpBackend {
  const { endpoint } = config;
  if (endpoint === null)
    throw new ConfigError([
      { name: "TRACING_ENDPOINT", reason: "is not set: the URL of the tracing backend is required" },
    ]);
  return createHttpBackend(
    {
      endpoint,
      timeoutMs: config.uploadTimeoutMs,
      connectionsMax: config.inflightUploadsMax,
      userAgent: "holdpoint-collector",
      httpsProxy: endpoint.startsWith("https:") ? checkedProxy(config.httpsProxy) : null,
      noProxy: config.noProxy,
    },
    systemClock,
  );
}

/** Ports for a single upload outside the tenant queues. */
export function manualUploadPorts(backend: Backend): UploadPorts {
  return { send: backend.send, clock: systemClock, random: Math.random, onRetry: () => undefined };
}

/** Node would ignore a proxy of another kind silently. The error omits the address, which may contain a password. */
function checkedProxy(proxy: string | null): string | null {
  if (proxy === null || (URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol))) return proxy;
  throw new ConfigError([{ name: "HTTPS_PROXY", reason: "is not an http or https URL (not shown)" }]);
}
