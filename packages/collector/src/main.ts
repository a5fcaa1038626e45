#!/usr/bin/env node
// Main: `holdpoint-collector`, the collector without the agent server, with the settings of `holdpoint collector`. Only
// this file of the package reads the environment, takes signals and sets exit codes.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { ConfigError, printConfig, readConfig, listSecrets } from "@holdpoint/base/config/config.ts";
import { LOG_SETTINGS } from "@holdpoint/base/config/log-settings.ts";
import { warnOfUnknown } from "@holdpoint/base/config/unknown-settings.ts";
import { formatStartFailure } from "@holdpoint/base/log/start-failure.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { stopOnSignals } from "@holdpoint/base/log/long-running-process.ts";
import { startCollectorProcess } from "./service/collector-process.ts";
import { COLLECTOR_LIMITS } from "./service/limits.ts";
import { collectorSettings } from "./service/settings.ts";
import { TRACE_SETTINGS } from "./traces/settings.ts";

const HELP = `Usage: holdpoint-collector [options]

Runs the trace collector proxy: OTLP traces in, the tracing backend's runs out.
Settings are variables: docs/reference/configuration.md, section "Trace collector".

Options:
  --print-config  print the effective configuration, with secrets masked, and exit
  -V, --version   print the version
  -h, --help      print this help

Examples:
  holdpoint-collector
  TRACING_ENDPOINT=https://backend.example TRACING_API_KEY=… holdpoint-collector
`;
const EXIT_USAGE = 2;
const EXIT_CONFIG = 78;

const { version } = createRequire(import.meta.url)("@holdpoint/collector/package.json") as { readonly version: string };
const TABLE = { ...collectorSettings, ...TRACE_SETTINGS, ...LOG_SETTINGS } as const;

async function start(): Promise<void> {
  const env = { ...process.env };
  const config = readConfig(env, TABLE, (path) => readFileSync(path, "utf8"));
  if (process.argv.includes("--print-config")) {
    process.stdout.write(`${printConfig(TABLE, config)}\n`);
    return;
  }
  const log = createLog({
    level: config.logLevel,
    json: config.logJson ?? !process.stderr.isTTY,
    secrets: listSecrets(TABLE, config),
    now: Date.now,
    write: (text) => void process.stderr.write(text),
  });
  warnOfUnknown(env, [TABLE], log);
  const started = await startCollectorProcess({ ...COLLECTOR_LIMITS, ...config }, { log, version });
  stopOnSignals(started, process);
}

const [option, ...more] = process.argv.slice(2);
if (option === "-h" || option === "--help") process.stdout.write(HELP);
else if (option === "-V" || option === "--version") process.stdout.write(`${version}\n`);
else if (more.length > 0 || (option !== undefined && option !== "--print-config")) {
  process.stderr.write(`holdpoint-collector: unknown option ${more[0] ?? option}\n\n${HELP}`);
  process.exit(EXIT_USAGE);
} else {
  await start().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    const exitCode = error instanceof ConfigError ? EXIT_CONFIG : 1;
    const output = { logJson: process.env["LOG_JSON"], isTerminal: process.stderr.isTTY, now: Date.now() };
    process.stderr.write(formatStartFailure({ program: "holdpoint-collector", message, exitCode }, output));
    process.exit(exitCode);
  });
}
