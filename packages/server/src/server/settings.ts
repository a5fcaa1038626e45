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
} from "@holdpoint/base/config/config.ts";
import { assistantDefaults, GRAPH_CONFIG_FILE } from "../model/assistant-defaults.ts";
import { auditForwardSetting } from "./audit-sender.ts";
import { apiKeysSetting } from "../auth/api-keys.ts";
import { SIGN_IN_SETTINGS } from "./sign-in-settings.ts";
import { ENCRYPTION_SETTINGS } from "@holdpoint/base/config/encryption-settings.ts";
import { DATA_SETTINGS, DATABASE_SETTINGS } from "@holdpoint/base/config/shared-settings.ts";
import { HOST_SETTINGS } from "@holdpoint/base/config/host-settings.ts";
import type { AgentLimits } from "./limits.ts";
import { PARTS_SETTINGS } from "./parts-settings.ts";
import { LOG_SETTINGS } from "@holdpoint/base/config/log-settings.ts";

// The rules, and the credentials of Slack and of the mail server.

const SECRET_UNITS_MIN = 32;

function smtpAddress(name: string): Setting<string | null> {
  const meaning =
    "Mail server, as smtp://user:password@host:587 (STARTTLS) or smtps://user:password@host:465. With a password the connection has to be encrypted, unless `?requireTLS=false` follows.";
  const kind = { type: "address", fallback: null, limits: "smtp: or smtps:" };
  return setting<string | null>(name, kind, { meaning, secret: true }, (value) => {
    if (URL.canParse(value) && /^smtps?:$/.test(new URL(value).protocol) && new URL(value).hostname !== "")
      return value;
    throw new ShownReason("is not of the form smtp://user:password@host:587 (not shown)");
  });
}

function linkSecret(name: string): Setting<string | null> {
  const meaning = `Signs the one-use links of e-mails: at least ${SECRET_UNITS_MIN} random characters. Without it, e-mails link to the console only.`;
  const kind = { type: "text", fallback: null, limits: `at least ${SECRET_UNITS_MIN} characters` };
  return setting<string | null>(name, kind, { meaning, secret: true }, (value) => {
    if (value.length >= SECRET_UNITS_MIN) return value;
    throw new ShownReason(`has fewer than ${SECRET_UNITS_MIN} characters (not shown)`);
  });
}

const NOTIFY_SETTINGS = {
  notifications: text("HOLDPOINT_NOTIFICATIONS", null, {
    meaning: "JSON file with the rules that notify people by Slack and e-mail.",
  }),
  slackBotToken: text("SLACK_BOT_TOKEN", null, {
    meaning: "Token of the Slack app (xoxb-…) that posts the messages.",
    secret: true,
  }),
  slackSigningSecret: text("SLACK_SIGNING_SECRET", null, {
    meaning: "Signing secret of the Slack app. Without it, messages have a link to the console in place of buttons.",
    secret: true,
  }),
  smtpUrl: smtpAddress("SMTP_URL"),
  linkSecret: linkSecret("HOLDPOINT_LINK_SECRET"),
} as const;

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
  ...DATA_SETTINGS,
  ...DATABASE_SETTINGS,
  postgresPoolMax: integer(
    "LANGGRAPH_POSTGRES_POOL_MAX_SIZE",
    20,
    { min: 2, max: 1000 },
    { meaning: "Maximum number of PostgreSQL connections of this process." },
  ),
  ...ENCRYPTION_SETTINGS,
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
  bodyBytesMax: integer(
    "HOLDPOINT_MAX_BODY_BYTES",
    32 * MEBIBYTE,
    { min: 1024, max: 1024 * MEBIBYTE },
    { meaning: "Largest request body in bytes. Less where the memory has a limit: see the page on sizing." },
  ),
  console: boolean("HOLDPOINT_CONSOLE", true, { meaning: "Serve the console at /console." }),
  resumableStreamKeptSecs: integer(
    "RESUMABLE_STREAM_TTL_SECONDS",
    120,
    { min: 0, max: 31_536_000 },
    { meaning: "Seconds after the end of a run started with stream_resumable for which readers can get its events." },
  ),
  webhookSecret: text("HOLDPOINT_WEBHOOK_SECRET", null, {
    meaning: "Signs webhooks: any text, or whsec_ and base64. Without it they are sent unsigned.",
    secret: true,
  }),
  keepRunsMs: durationMs("HOLDPOINT_KEEP_RUNS", 90 * DAY_MS, FOR_EVER, {
    meaning: "Age at which the record of a run that has ended is deleted; 0 keeps it as long as its thread.",
  }),
  keepCheckpointsMs: durationMs("HOLDPOINT_KEEP_CHECKPOINTS", 90 * DAY_MS, FOR_EVER, {
    meaning: "Time without a change after which a thread keeps its newest checkpoint only; 0 keeps all.",
  }),
  keepAuditMs: durationMs("HOLDPOINT_KEEP_AUDIT", 730 * DAY_MS, FOR_EVER, {
    meaning: "Age at which entries of the audit trail are deleted; 0 keeps them as long as their thread.",
  }),
  auditForward: auditForwardSetting(
    "HOLDPOINT_AUDIT_FORWARD",
    "File to which every entry of the audit trail is appended as a JSON line, or http(s) address to which such lines are posted.",
  ),
  notifyUrl: webAddress(
    text("HOLDPOINT_NOTIFY_URL", null, {
      meaning:
        "Webhook address for each new interrupt, unless the run or its assistant names another. An incoming webhook of Slack gets a message of Slack, others an event as JSON.",
      secret: true,
    }),
  ),
  publicUrl: webAddress(
    text("HOLDPOINT_PUBLIC_URL", null, {
      meaning: "Address of this server for links to the console, with its path prefix. Default: the one it listens on.",
    }),
  ),
  ...NOTIFY_SETTINGS,
  ...LOG_SETTINGS,
} as const;

/** The settings, and the limits that none of them sets. */
export type AgentConfig = Config<typeof AGENT_SETTINGS> & AgentLimits;
