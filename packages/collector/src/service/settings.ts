// Settings of the collector: one table, which main reads through base/config. Names and defaults of the first ten never
// change; the LANGSMITH_… names are aliases with lower precedence.
import { KEY_SETTINGS } from "@holdpoint/base/config/encryption-settings.ts";
import { HOST_SETTINGS } from "@holdpoint/base/config/host-settings.ts";
import { INGEST_SETTINGS } from "@holdpoint/base/config/shared-settings.ts";
import type { CollectorLimits } from "./limits.ts";
import { boolean, durationMs, integer, type Setting, text, type Config } from "@holdpoint/base/config/config.ts";

const MIB = 1024 * 1024;
const BYTES_MAX = 1024 * 1024 * MIB;

export const collectorSettings = {
  httpPort: integer(
    "HTTP_PORT",
    4318,
    { min: 0, max: 65_535 },
    { meaning: "Port of the collector; 0 selects a free port." },
  ),
  grpcPort: integer(
    "GRPC_PORT",
    null,
    { min: 0, max: 65_535 },
    {
      meaning:
        "Port of the collector for OTLP over gRPC. Off without it; `holdpoint dev` uses 4317. 0 selects a free port.",
    },
  ),
  endpoint: httpAddress(
    text("TRACING_ENDPOINT", null, {
      meaning: "Base address of the tracing backend. Without it, traces go to the local trace store.",
      aliases: ["LANGSMITH_ENDPOINT"],
    }),
  ),
  apiKey: text("TRACING_API_KEY", null, {
    meaning: "Key for the backend, for requests without their own key.",
    aliases: ["LANGSMITH_API_KEY"],
    secret: true,
  }),
  project: text("TRACING_PROJECT", null, {
    meaning: "Project for runs without one in the header, the span or the resource; otherwise `default`.",
    aliases: ["LANGSMITH_PROJECT"],
  }),
  batchSize: integer("BATCH_SIZE", 100, { min: 1, max: 100_000 }, { meaning: "Runs in one upload." }),
  flushIntervalMs: durationMs(
    "FLUSH_INTERVAL_MS",
    1000,
    { min: 1, max: 3_600_000 },
    { meaning: "Longest wait of a run for its batch to fill." },
  ),
  bufferBytesMax: integer(
    "MAX_BUFFER_BYTES",
    10 * MIB,
    { min: 1024, max: 1024 * MIB },
    { meaning: "Uncompressed bytes at which a batch is sent." },
  ),
  bodyBytesMax: integer(
    "MAX_BODY_BYTES",
    200 * MIB,
    { min: 1024, max: 1024 * MIB },
    { meaning: "Largest request body, on the wire and decompressed." },
  ),
  retriesMax: integer(
    "MAX_RETRIES",
    3,
    { min: 0, max: 100 },
    { meaning: "Retries of a failed upload before uploads of its key pause." },
  ),
  retryBackoffMs: durationMs(
    "RETRY_BACKOFF_MS",
    100,
    { min: 0, max: 3_600_000 },
    { meaning: "Shortest delay before the first retry; it doubles each time." },
  ),

  ...KEY_SETTINGS,
  host: text("HOST", "127.0.0.1", { meaning: "Address to listen on." }),
  ...HOST_SETTINGS,
  spoolDir: text("SPOOL_DIR", null, {
    meaning: "Folder of the write-ahead log. Setting it makes the collector durable.",
  }),
  spoolBytesMax: integer(
    "SPOOL_MAX_BYTES",
    10 * 1024 * MIB,
    { min: MIB, max: BYTES_MAX },
    {
      meaning:
        "Size at which the spool accepts no more requests. One key gets at most seven eighths of it, and half while other keys use some.",
    },
  ),
  deadLetterDir: text("DEAD_LETTER_DIR", null, {
    meaning: "Folder for undeliverable runs. Default: `dead-letter` inside SPOOL_DIR.",
  }),
  queueBytesMax: integer(
    "MAX_QUEUE_BYTES",
    64 * MIB,
    { min: MIB, max: BYTES_MAX },
    {
      meaning:
        "Bytes of acknowledged spans in memory; above it senders get 503. One key gets at most seven eighths of it, and half while other keys use some.",
    },
  ),
  shutdownTimeoutMs: durationMs(
    "SHUTDOWN_TIMEOUT_MS",
    25_000,
    { min: 100, max: 3_600_000 },
    { meaning: "Maximum time between SIGTERM and process exit." },
  ),
  spanTtlMs: durationMs(
    "SPAN_TTL",
    300_000,
    { min: 1000, max: 86_400_000 },
    { meaning: "Time for which the collector remembers a trace; also the longest wait of a span for its parent." },
  ),
  ...INGEST_SETTINGS,
  corsOrigins: text("CORS_ALLOW_ORIGINS", null, {
    meaning: "Origins of browser exporters, comma-separated. Off by default.",
  }),
  httpsProxy: text("HTTPS_PROXY", null, {
    meaning: "Proxy for uploads over https.",
    aliases: ["https_proxy"],
    secret: true,
  }),
  noProxy: text("NO_PROXY", null, { meaning: "Hosts that bypass the proxy.", aliases: ["no_proxy"] }),
  filterNonGenai: boolean("FILTER_NON_GENAI", false, {
    meaning: "Send only GenAI spans; children of filtered spans attach to the nearest ancestor that is sent.",
  }),
  rulesFile: text("RULES_FILE", null, {
    meaning:
      "JSON file with rules for redaction, dropped spans, sampling, forwarding and limits. A fault in it prevents the start.",
  }),
  pricesFile: text("PRICES_FILE", null, {
    meaning: "JSON file with the prices of models, for `gen_ai_cost_usd_total` and `usd_per_day`.",
  }),
  redactHashKey: text("REDACT_HASH_KEY", null, {
    meaning: "Key of the hashes that rules with the action `hash` write.",
    secret: true,
  }),
  forwardHeaders: text("FORWARD_HEADERS", null, {
    meaning:
      "Secret headers of the destinations in RULES_FILE: DESTINATION.HEADER=VALUE, comma-separated, URL-encoded.",
    secret: true,
  }),
} as const;

/** The settings, and the limits that none of them sets. */
export type CollectorConfig = Config<typeof collectorSettings> &
  CollectorLimits & {
    /** Runs say under extra.metadata.otel.fields where each attribute went: for the local trace store. */
    readonly explainAttributes?: boolean;
  };

export function deadLetterDir(config: CollectorConfig): string | null {
  return config.deadLetterDir ?? (config.spoolDir === null ? null : `${config.spoolDir}/dead-letter`);
}

/** The address appears in the start log, so it must not contain a secret. */
function httpAddress(setting: Setting<string | null>): Setting<string | null> {
  return {
    ...setting,
    parse(value) {
      if (!URL.canParse(value)) throw new Error("is not a URL: it must begin with http:// or https://");
      const { protocol, username, password } = new URL(value);
      if (!/^https?:$/.test(protocol)) throw new Error("is not an http or https URL");
      if (username !== "" || password !== "")
        throw new Error("has a user name or password in it (not shown): the backend's key goes into TRACING_API_KEY");
      return setting.parse(value);
    },
  };
}
