// Graph environment: the environment of the deployment's code: graphs, handlers, its own routes, and all their child
// processes and threads.
// Invariants:
//   graph-environment.1. The product's own secrets are removed before any of that code loads: every HOLDPOINT_
//        variable, every secret setting under the name it was read by, and variables for webhook headers only.
//   graph-environment.2. A name in HOLDPOINT_GRAPH_ENV, or in a list in `env` of langgraph.json, is passed on, secret
//        or not.
//   graph-environment.3. With HOLDPOINT_GRAPH_ENV the rest is removed, except the basic variables of the machine.
import type { Env, SettingsTable } from "@holdpoint/base/config/config.ts";
import type { GraphsConfig } from "@holdpoint/server/graphs/config/langgraph-json.ts";

export interface GraphEnvironmentRules {
  /** HOLDPOINT_GRAPH_ENV; null: no list. */
  readonly listed: readonly string[] | null;
  readonly tables: readonly SettingsTable[];
  /** Secrets of ours that libraries read. */
  readonly secrets: readonly string[];
  readonly graphs: Pick<GraphsConfig, "env" | "envNames" | "webhookVariables">;
}

const OWN_PREFIX = "HOLDPOINT_";
/** Settings of ours that are also conventions of libraries in graphs. */
const SHARED = new Set(["HTTPS_PROXY", "https_proxy", "LANGSMITH_API_KEY"]);
const OF_THE_MACHINE =
  /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|TMP|TEMP|NODE_\w+|SSL_CERT_(FILE|DIR)|HOSTNAME|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE)$/i;

/** Changes `environment`, which the deployment's code sees from now on. */
export function setGraphEnvironment(environment: NodeJS.ProcessEnv, rules: GraphEnvironmentRules): void {
  const { listed, graphs } = rules;
  // graph-environment.2
  const named = new Set([...(listed ?? []).filter((name) => !name.endsWith("*")), ...graphs.envNames]);
  const prefixes = (listed ?? []).filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  const secrets = secretNames(environment, rules);
  const isSecret = (name: string): boolean => !named.has(name) && (name.startsWith(OWN_PREFIX) || secrets.has(name));
  const isKept = (name: string): boolean =>
    listed === null ||
    named.has(name) ||
    OF_THE_MACHINE.test(name) ||
    prefixes.some((prefix) => name.startsWith(prefix));
  for (const name of Object.keys(environment)) {
    if (isSecret(name) || !isKept(name)) delete environment[name]; // graph-environment.1, graph-environment.3
  }
  for (const [name, value] of Object.entries(graphs.env)) if (!isSecret(name)) environment[name] ??= value;
}

/** A secret's alias counts only if the value came from it: otherwise the variable belongs to other code. */
function secretNames(env: Env, { tables, secrets, graphs }: GraphEnvironmentRules): ReadonlySet<string> {
  const names = new Set([...graphs.webhookVariables, ...secrets]);
  for (const { name, aliases, secret } of tables.flatMap((table) => Object.values(table))) {
    if (!secret) continue;
    const candidates = [name, ...aliases].flatMap((one) => [one, `${one}_FILE`]);
    const readBy = candidates.find((one) => env[one] !== undefined && env[one] !== "");
    for (const one of [name, `${name}_FILE`, readBy]) if (one !== undefined && !SHARED.has(one)) names.add(one);
  }
  return names;
}
