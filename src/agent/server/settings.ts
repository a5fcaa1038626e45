// Settings of the agent server: all its environment variables in one table (the same as in
// docs/reference/configuration.md).
import {
  boolean,
  type Config,
  durationMs,
  integer,
  setting,
  type Setting,
  text,
  choice,
  ShownReason,
} from "../../base/config/config.ts";
import { assistantDefaults, GRAPH_CONFIG_FILE } from "../model/assistant-defaults.ts";
import { apiKeysSetting } from "../auth/api-keys.ts";
import { SIGN_IN_SETTINGS } from "./sign-in-settings.ts";
import { databaseUri } from "../../base/config/database-setting.ts";
import { HOST_SETTINGS } from "../../base/config/host-settings.ts";
import { NOTIFY_SETTINGS } from "./notify-settings.ts";
import { PARTS_SETTINGS } from "./parts-settings.ts";
import { LOG_SETTINGS } from "../../base/config/log-settings.ts";

const PREFIX = /^(\/[\w~-][\w.~-]*)+\/?$/;

function mountPrefix(name: string): Setting<string | null> {
  const meaning = "Path prefix of all routes; overrides http.mount_prefix of the configuration file.";
  return setting<string | null>(name, { type: "path", fallback: null, limits: "/path" }, { meaning }, (value) => {
    if (!PREFIX.test(value)) throw new Error(`"${value}" is not of the form /path`);
    return value.replace(/\/$/, "");
  });
}

function graphEnv(name: string): Setting<readonly string[] | null> {
  const meaning =
    "Environment variables visible to graphs, in addition to `env` in the configuration file and machine variables such as PATH. `AWS_*` matches a prefix, `*` all variables except the server's secrets. Default: as `*`.";
  const kind = { type: "list of names", fallback: null, limits: "names with commas" };
  return setting<readonly string[] | null>(name, kind, { meaning }, (value) => {
    const names = value.split(",").map((one) => one.trim());
    const bad = names.find((one) => !/^(\w+|\w*\*)$/.test(one));
    if (bad === undefined) return names;
    throw new Error(`"${bad}" is not a variable name`);
  });
}

function graphConfig(name: string): Setting<string> {
  const meaning =
    "Configuration file that names the graphs; the --config option takes precedence. A text that begins with `{` is JSON instead, `{graph: {configurable, context, …}}`: the defaults of the graphs' built-in assistants. The file is then langgraph.json, or that of --config.";
  return setting(name, { type: "text", fallback: GRAPH_CONFIG_FILE, limits: "not empty" }, { meaning }, (value) => {
    assistantDefaults(value);
    return value;
  });
}

function webAddress(one: Setting<string | null>): Setting<string | null> {
  return {
    ...one,
    parse(value) {
      if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value.replace(/\/$/, "");
      throw new ShownReason("is not an http or https URL (not shown)");
    },
  };
}

const MEBIBYTE = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;
const FOR_EVER = { min: 0, max: 3660 * DAY_MS };

export const AGENT_SETTINGS = {
  port: integer("PORT", 2024, { min: 0, max: 65_535 }, { meaning: "Port of the agent server; 0 selects a free port." }),
  host: text("HOST", "127.0.0.1", { meaning: "Address to listen on." }),
  ...HOST_SETTINGS,
  mountPrefix: mountPrefix("MOUNT_PREFIX"),
  unsafeListen: boolean("HOLDPOINT_ALLOW_UNAUTHENTICATED", false, {
    meaning: "Listen beyond loopback without authentication.",
  }),
  apiKeys: apiKeysSetting(
    "HOLDPOINT_API_KEYS",
    "Keys that callers authenticate with, as `name:key` with commas or lines between them; `name:key:role` gives a key the role viewer, reviewer or operator instead of admin.",
  ),
  ...SIGN_IN_SETTINGS,
  ...PARTS_SETTINGS,
  dataDir: text("HOLDPOINT_DATA_DIR", "./.holdpoint", {
    meaning: "Folder of the embedded database, without DATABASE_URI. One process at a time may use it.",
  }),
  databaseUri: databaseUri("DATABASE_URI", ["DATABASE_URL"]),
  postgresPoolMax: integer(
    "LANGGRAPH_POSTGRES_POOL_MAX_SIZE",
    20,
    { min: 2, max: 1000 },
    { meaning: "Maximum number of PostgreSQL connections of this process." },
  ),
  role: choice("HOLDPOINT_ROLE", "all", ["all", "api", "worker"], {
    meaning:
      "Role of this process with DATABASE_URI: serve calls (`api`), execute runs (`worker`), or both. --role takes precedence.",
  }),
  graphEnv: graphEnv("HOLDPOINT_GRAPH_ENV"),
  graphConfig: graphConfig("LANGGRAPH_CONFIG"),
  jobsPerWorker: integer(
    "N_JOBS_PER_WORKER",
    10,
    { min: 1, max: 1000 },
    { meaning: "Maximum number of concurrent runs." },
  ),
  jobTimeoutSecs: integer(
    "BG_JOB_TIMEOUT_SECS",
    3600,
    { min: 1, max: 31_536_000 },
    { meaning: "A run that takes longer ends with status timeout. Waiting for a person does not count." },
  ),
  shutdownGraceSecs: integer(
    "BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS",
    180,
    { min: 0, max: 86_400 },
    { meaning: "Grace period of executing runs after SIGTERM. Unfinished runs continue at the next start." },
  ),
  jobAttemptsMax: integer(
    "BG_JOB_MAX_RETRIES",
    3,
    { min: 1, max: 100 },
    {
      meaning: "Retries of a run whose process died while it executed alone. After them it ends with status error.",
    },
  ),
  pendingRunsMax: integer(
    "HOLDPOINT_MAX_PENDING_RUNS",
    100_000,
    { min: 1, max: 10_000_000 },
    { meaning: "Maximum number of queued runs; beyond it, calls get 503." },
  ),
  schemaTimeoutMs: integer(
    "LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS",
    30_000,
    { min: 0, max: 600_000 },
    { meaning: "Time to read the schemas of graphs from their TypeScript types; 0 leaves types out." },
  ),
  assistantsMax: integer(
    "HOLDPOINT_MAX_ASSISTANTS",
    100_000,
    { min: 1, max: 10_000_000 },
    { meaning: "Maximum number of stored assistants, including those of the graphs; beyond it, calls get 409." },
  ),
  bodyBytesMax: integer(
    "HOLDPOINT_MAX_BODY_BYTES",
    32 * MEBIBYTE,
    { min: 1024, max: 1024 * MEBIBYTE },
    { meaning: "Largest request body in bytes." },
  ),
  memberBytesMax: integer(
    "HOLDPOINT_MAX_METADATA_BYTES",
    MEBIBYTE,
    { min: 1024, max: 16 * MEBIBYTE },
    {
      meaning:
        "Largest metadata, config, context or filter of a call, in bytes of JSON; beyond it, calls get 413. The same holds for every other member that carries no values for a graph.",
    },
  ),
  cronsMax: integer(
    "HOLDPOINT_MAX_CRONS",
    10_000,
    { min: 0, max: 1_000_000 },
    { meaning: "Maximum number of stored crons; beyond it, calls get 409." },
  ),
  console: boolean("HOLDPOINT_CONSOLE", true, { meaning: "Serve the console at /console." }),
  storeItemBytesMax: integer(
    "HOLDPOINT_MAX_STORE_ITEM_BYTES",
    MEBIBYTE,
    { min: 1024, max: 256 * MEBIBYTE },
    { meaning: "Largest value of one item of the store, in bytes of JSON." },
  ),
  interruptBytesMax: integer(
    "HOLDPOINT_MAX_INTERRUPT_BYTES",
    8 * MEBIBYTE,
    { min: 1024, max: 256 * MEBIBYTE },
    { meaning: "Largest value that a node may pass to interrupt(), in bytes of JSON; beyond it, the run fails." },
  ),
  answerBytesMax: integer(
    "HOLDPOINT_MAX_ANSWER_BYTES",
    4 * MEBIBYTE,
    { min: 1024, max: 256 * MEBIBYTE },
    { meaning: "Largest answer, or answers of one call, in bytes of JSON; beyond it, calls get 413." },
  ),
  askAgainMax: integer(
    "HOLDPOINT_ASK_AGAIN_MAX",
    3,
    { min: 0, max: 1000 },
    {
      meaning:
        "How often a question is asked again by itself after its node threw at the answer. Then the thread fails, and a person can ask again. An answer that no node got is asked for again without a limit.",
    },
  ),
  keepAliveMs: integer(
    "HOLDPOINT_WAIT_KEEPALIVE_MS",
    5000,
    { min: 100, max: 60_000 },
    { meaning: "Interval, in milliseconds, of the newlines that keep a waiting call open." },
  ),
  streamHeartbeatMs: integer(
    "HOLDPOINT_STREAM_HEARTBEAT_MS",
    15_000,
    { min: 100, max: 60_000 },
    {
      meaning:
        "Milliseconds without an event after which a stream gets a comment; the comments repeat until the next event.",
    },
  ),
  streamKeptSecs: integer(
    "HOLDPOINT_STREAM_TTL_SECONDS",
    60,
    { min: 0, max: 31_536_000 },
    { meaning: "Seconds after the end of a run for which readers can get its events." },
  ),
  resumableStreamKeptSecs: integer(
    "RESUMABLE_STREAM_TTL_SECONDS",
    120,
    { min: 0, max: 31_536_000 },
    { meaning: "The same for runs started with stream_resumable." },
  ),
  protocolStreamKeptSecs: integer(
    "HOLDPOINT_PROTOCOL_STREAM_TTL_SECONDS",
    3600,
    { min: 0, max: 31_536_000 },
    { meaning: "The same for runs started over the thread protocol, whose pages replay them when they load." },
  ),
  protocolCompactSecs: integer(
    "HOLDPOINT_PROTOCOL_COMPACT_SECONDS",
    60,
    { min: 0, max: 31_536_000 },
    {
      meaning:
        "Time after the end of a run started over the thread protocol at which its text deltas and `tasks` events are removed. Replays then have its messages in whole blocks.",
    },
  ),
  protocolInputAnswers: boolean("HOLDPOINT_PROTOCOL_INPUT_ANSWERS", false, {
    meaning:
      "Over the thread protocol, any input on a thread with exactly one open interrupt is its answer, as on the LangGraph server. By default it is new input, which abandons the interrupt.",
  }),
  streamEventsMax: integer(
    "HOLDPOINT_STREAM_MAX_EVENTS",
    100_000,
    { min: 100, max: 10_000_000 },
    { meaning: "Events kept of one run. Beyond that, the oldest are deleted." },
  ),
  streamBytesMax: integer(
    "HOLDPOINT_STREAM_MAX_BYTES",
    64 * MEBIBYTE,
    { min: 64 * 1024, max: 16 * 1024 * MEBIBYTE },
    { meaning: "Bytes kept of one run's events. Beyond that, the oldest events are deleted." },
  ),
  webhookSecret: text("HOLDPOINT_WEBHOOK_SECRET", null, {
    meaning: "Signs webhooks: any text, or whsec_ and base64. Without it they are sent unsigned.",
    secret: true,
  }),
  webhookAttemptsMax: integer(
    "HOLDPOINT_WEBHOOK_MAX_ATTEMPTS",
    16,
    { min: 1, max: 100 },
    { meaning: "Delivery attempts of a webhook before it is dropped." },
  ),
  webhookRetryMs: integer(
    "HOLDPOINT_WEBHOOK_RETRY_MS",
    5000,
    { min: 10, max: 3_600_000 },
    {
      meaning:
        "Delay before the next delivery attempt of a webhook, in milliseconds. Doubles with each failure, up to an hour.",
    },
  ),
  keepRunsMs: durationMs("HOLDPOINT_KEEP_RUNS", 90 * DAY_MS, FOR_EVER, {
    meaning: "Age at which the record of a run that has ended is deleted; 0 keeps it as long as its thread.",
  }),
  keepCheckpointsMs: durationMs("HOLDPOINT_KEEP_CHECKPOINTS", 90 * DAY_MS, FOR_EVER, {
    meaning: "Time without a change after which a thread keeps its newest checkpoint only; 0 keeps all.",
  }),
  keepAuditMs: durationMs("HOLDPOINT_KEEP_AUDIT", 730 * DAY_MS, FOR_EVER, {
    meaning: "Age at which entries of the audit trail are deleted; 0 keeps them as long as their thread.",
  }),
  expirePaused: boolean("HOLDPOINT_EXPIRE_PAUSED_THREADS", false, {
    meaning: "Paused threads also expire at the end of their time to live.",
  }),
  notifyUrl: webAddress(
    text("HOLDPOINT_NOTIFY_URL", null, {
      meaning: "Webhook address for each new interrupt, unless the run or its assistant names another.",
      secret: true,
    }),
  ),
  notifyFormat: choice("HOLDPOINT_NOTIFY_FORMAT", "event", ["event", "slack"], {
    meaning: "Format of the notification: an event as JSON, or a message for an incoming webhook of Slack.",
  }),
  publicUrl: webAddress(
    text("HOLDPOINT_PUBLIC_URL", null, {
      meaning: "Address of this server for links to the console, with its path prefix. Default: the one it listens on.",
    }),
  ),
  ...NOTIFY_SETTINGS,
  ...LOG_SETTINGS,
} as const;

export type AgentConfig = Config<typeof AGENT_SETTINGS>;
