// Variables of other agent servers, which a deployment that moves here may still set.
// Rules:
//   - One whose loss would weaken a promise of the deployment stops the server.
//   - Any other one with a counterpart is a warning that names it.
import { ConfigError, type Env } from "@holdpoint/base/config/config.ts";
import type { Log } from "@holdpoint/base/log/log.ts";

const METADATA =
  "this server leaves metadata plain, because calls search by it, and with keys seals every other value whole: remove the variable, and keep what it names out of metadata";
const CUSTOM =
  "this server runs no encryption of a deployment's own: remove the variable, and set HOLDPOINT_ENCRYPTION_KEYS";

const REFUSED: Readonly<Record<string, string>> = {
  LANGGRAPH_AES_JSON_KEYS: METADATA,
  LANGGRAPH_ENCRYPTION: CUSTOM,
};

const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  A2A_A2UI_ENABLED: "A2A replies here have no A2UI parts",
  A2A_A2UI_TOOL_CALL_RESULTS: "A2A replies here have no A2UI parts",
  A2A_ALLOWED_TOOL_CALL_RESULTS: "A2A replies here have no results of tools",
  HTTP_MAX_REQUEST_BODY_BYTES: "the limit of bodies is HOLDPOINT_MAX_BODY_BYTES",
  LSD_PROM_METRICS_ENABLED: "the metrics are served at /metrics",
};

/** @throws {ConfigError} with every variable whose loss would weaken a promise */
export function refuseOthers(env: Env): void {
  const problems = Object.entries(REFUSED).filter(([name]) => (env[name] ?? "") !== "");
  if (problems.length > 0) throw new ConfigError(problems.map(([name, reason]) => ({ name, reason })));
}

export function warnOfOthers(env: Env, log: Log): void {
  for (const [name, why] of Object.entries(WITHOUT_EFFECT)) {
    if (env[name] !== undefined) log.warning("setting_unknown", { name, reason: `it has no effect: ${why}` });
  }
}
