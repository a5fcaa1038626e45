// Configuration file: an unchanged langgraph.json → the graphs and environment it names, and remarks on the rest.
// Invariant LF1: an unknown key is remarked on and never stops the server; a wrong one stops it, with its place.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import * as z from "zod";
import {
  CHECKPOINTER_SECTION,
  checkpointerConfig,
  checkpointerRemarks,
  type CheckpointerConfig,
} from "./checkpointer-config.ts";
import { AUTH_SECTION, authPath, authRemarks } from "./auth-config.ts";
import { STORE_SECTION, storeConfig, storeRemarks, type StoreConfig } from "./store-config.ts";
import { HTTP_SECTION, httpConfig, httpRemarks, type HttpConfig } from "./http-config.ts";
import type { WebhookPolicy } from "../agent/ports.ts";
import { EXPORT_PATH_FORM, parseExportPath, type ExportPath } from "./export-path.ts";
import { WEBHOOKS_SECTION, webhookPolicy, webhookVariables, webhooksRemarks } from "./webhooks-config.ts";

export interface GraphSource extends ExportPath {
  readonly graphId: string;
  readonly description: string | null;
}

export interface GraphsConfig {
  /** Folder of the file: graphs and their packages are looked up from here. */
  readonly folder: string;
  readonly graphs: readonly GraphSource[];
  /** Variables that the file, or the .env file that it names, gives to graphs. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the process that the file names for graphs. */
  readonly envNames: readonly string[];
  /** Variables that headers of webhooks are filled from. */
  readonly webhookVariables: readonly string[];
  /** Handlers that authenticate and authorize; null when the file names none. */
  readonly auth: ExportPath | null;
  readonly store: StoreConfig;
  readonly http: HttpConfig;
  readonly webhooks: WebhookPolicy;
  readonly checkpointer: CheckpointerConfig;
  readonly remarks: readonly string[];
}

export class ConfigFileError extends Error {
  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.name = "ConfigFileError";
  }
}

const FILE = z.looseObject({
  graphs: z.record(
    z.string().min(1),
    z.union([z.string(), z.looseObject({ path: z.string(), description: z.string().nullish() })]),
  ),
  env: z.union([z.string(), z.record(z.string(), z.coerce.string()), z.array(z.string())]).optional(),
  auth: AUTH_SECTION.optional(),
  store: STORE_SECTION.optional(),
  http: HTTP_SECTION.nullish(),
  webhooks: WEBHOOKS_SECTION.optional(),
  checkpointer: CHECKPOINTER_SECTION,
});

const PYTHON_KEYS = new Set(["python_version", "pip_config_file", "pip_installer", "keep_pkg_tools", "source"]);
const BUILD_KEYS = new Set([
  "$schema",
  "api_version",
  "base_image",
  "image_distro",
  "dockerfile_lines",
  "docker_compose_file",
  "_INTERNAL_docker_tag",
  "dependencies",
  "node_version",
  "node_loader",
]);
const HANDLED_KEYS = new Set(["graphs", "env", "auth", "store", "http", "webhooks", "checkpointer"]);
/** Known keys that this version does not act on yet. */
const LATER_KEYS = new Set(["encryption", "ui", "ui_config"]);

/** @throws {ConfigFileError} with file, place and reason. */
export function readGraphsConfig(path: string, env: Readonly<Record<string, string | undefined>>): GraphsConfig {
  const file = resolve(path);
  const folder = dirname(file);
  const parsed = FILE.safeParse(parseJson(file));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigFileError(
      file,
      `${issue?.path.join(".") || "the file"}: ${issue?.message ?? "has the wrong shape"}`,
    );
  }
  const graphs = Object.entries(parsed.data.graphs).map(([graphId, entry]) =>
    graphSource(file, folder, graphId, entry),
  );
  if (graphs.length === 0)
    throw new ConfigFileError(file, `graphs: names no graph; write {"graphs": {"agent": "./agent.ts:graph"}}`);
  const ownEnv = readEnvironment(file, folder, parsed.data.env, env);
  return {
    folder,
    graphs,
    env: ownEnv,
    envNames: Array.isArray(parsed.data.env) ? parsed.data.env : [],
    webhookVariables: webhookVariables(parsed.data.webhooks),
    auth: authPath(parsed.data.auth, folder),
    store: storeConfig(parsed.data.store, folder),
    http: httpConfig(parsed.data.http, folder),
    webhooks: readWebhooks(file, parsed.data.webhooks, { ...ownEnv, ...env }),
    checkpointer: checkpointerConfig(parsed.data.checkpointer),
    remarks: [
      ...Object.keys(parsed.data).flatMap((key) => remarkOn(key)),
      ...authRemarks(parsed.data.auth),
      ...storeRemarks(parsed.data.store),
      ...httpRemarks(parsed.data.http),
      ...webhooksRemarks(parsed.data.webhooks),
      ...checkpointerRemarks(parsed.data.checkpointer),
    ],
  };
}

function parseJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigFileError(file, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigFileError(file, `is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function graphSource(
  file: string,
  folder: string,
  graphId: string,
  entry: string | { readonly path: string; readonly description?: string | null | undefined },
): GraphSource {
  const text = typeof entry === "string" ? entry : entry.path;
  if (/\.py(:|$)/.test(text))
    throw new ConfigFileError(
      file,
      `graphs.${graphId}: ${text} is a Python graph; this server runs LangGraph.js graphs`,
    );
  const path = parseExportPath(text, folder);
  if (path === null) throw new ConfigFileError(file, `graphs.${graphId}: "${text}" ${EXPORT_PATH_FORM}`);
  return { graphId, ...path, description: typeof entry === "string" ? null : (entry.description ?? null) };
}

function readWebhooks(
  file: string,
  section: Parameters<typeof webhookPolicy>[0],
  env: Readonly<Record<string, string | undefined>>,
): WebhookPolicy {
  try {
    return webhookPolicy(section, env);
  } catch (error) {
    throw new ConfigFileError(file, `webhooks.${error instanceof Error ? error.message : String(error)}`);
  }
}

function readEnvironment(
  file: string,
  folder: string,
  given: string | readonly string[] | Readonly<Record<string, string>> | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  if (given === undefined) return {};
  if (typeof given === "string") {
    try {
      return Object.fromEntries(
        Object.entries(parseEnv(readFileSync(join(folder, given), "utf8"))).filter(
          (pair): pair is [string, string] => pair[1] !== undefined,
        ),
      );
    } catch {
      throw new ConfigFileError(file, `env: the file ${given} cannot be read`);
    }
  }
  if (!Array.isArray(given)) return given as Readonly<Record<string, string>>;
  const missing = given.filter((name) => env[name] === undefined);
  if (missing.length > 0) throw new ConfigFileError(file, `env: ${missing.join(", ")} must be set and is not`);
  return {};
}

function remarkOn(key: string): readonly string[] {
  if (HANDLED_KEYS.has(key) || BUILD_KEYS.has(key)) return [];
  if (PYTHON_KEYS.has(key)) return [`"${key}" is for Python graphs and has no effect here`];
  if (LATER_KEYS.has(key)) return [`"${key}" is not supported by this version and has no effect`];
  return [`"${key}" is not a known key and has no effect`];
}
