// langgraph.json, unchanged → its graphs and environment, and warnings about the rest.
// Invariant langgraph-json.1: an unknown key causes a warning and never stops the server; an invalid value stops it,
// with its place.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import * as z from "zod";
import type { WebhookPolicy } from "../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { ANSWERS_SECTION, type AnswerRules } from "./answers-section.ts";
import { AUTH_SECTION, authorizationServers, authPath, authRemarks, securitySchemes } from "./auth-section.ts";
import {
  CHECKPOINTER_SECTION,
  type CheckpointerConfig,
  checkpointerConfig,
  checkpointerRemarks,
} from "./checkpointer-section.ts";
import { keyRefusal, keyRemark, sectionRemarks } from "./config-keys.ts";
import type { Policy, TenantLimits } from "../../model/model.ts";
import { LIMITS_SECTION, tenantLimits } from "./limits-section.ts";
import { POLICIES_SECTION } from "./policies-section.ts";
import { DEADLINES_SECTION, type DeadlineRules, deadlineRemarks, deadlineRules } from "./deadlines-section.ts";
import { EXPORT_PATH_FORM, type ExportPath, parseExportPath } from "./export-path.ts";
import { HTTP_SECTION, type HttpConfig, httpConfig, httpRemarks } from "./http-section.ts";
import { STORE_SECTION, type StoreConfig, storeConfig, storeRemarks } from "./store-section.ts";
import type { UiConfig } from "./ui-section.ts";
import { WEBHOOKS_SECTION, webhookPolicy, webhookVariables, webhooksRemarks } from "./webhooks-section.ts";

export interface GraphSource extends ExportPath {
  readonly graphId: string;
  readonly description: string | null;
  /** A graph of the program itself, in place of the export of a file. */
  readonly given?: unknown;
}

export interface GraphsConfig {
  /** Folder of the file; graphs and their packages resolve from here. */
  readonly folder: string;
  readonly graphs: readonly GraphSource[];
  /** Variables for graphs from the file, or from the .env file it names. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the process that the file names for graphs. */
  readonly envNames: readonly string[];
  /** Variables for the headers of webhooks. */
  readonly webhookVariables: readonly string[];
  /** Handlers that authenticate and authorize; null if the file names none. */
  readonly auth: ExportPath | null;
  /** Issuers that `auth.openapi` names. */
  readonly authorizationServers: readonly string[];
  /** How callers authenticate with the handlers, in OpenAPI's form. */
  readonly securitySchemes: JsonObject;
  readonly store: StoreConfig;
  readonly http: HttpConfig;
  readonly webhooks: WebhookPolicy;
  readonly checkpointer: CheckpointerConfig;
  /** Null if the file names no components. */
  readonly ui: UiConfig | null;
  readonly deadlines: DeadlineRules;
  readonly answers: AnswerRules;
  readonly policies: readonly Policy[];
  /** Null without limits. */
  readonly limits: TenantLimits | null;
  readonly remarks: readonly string[];
}

export class ConfigFileError extends Error {
  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.name = "ConfigFileError";
  }
}

const GRAPH_ENTRY = z.looseObject({ path: z.string(), description: z.string().nullish() });

const FILE = z.looseObject({
  graphs: z.record(
    z.string().min(1),
    z.union([z.string(), GRAPH_ENTRY], {
      error: 'is not of the form "./agent.ts:graph", or {"path": "./agent.ts:graph", "description": "…"}',
    }),
    { error: graphsFault },
  ),
  env: z.union([z.string(), z.record(z.string(), z.coerce.string()), z.array(z.string())]).optional(),
  auth: AUTH_SECTION.optional(),
  store: STORE_SECTION.optional(),
  http: HTTP_SECTION.nullish(),
  webhooks: WEBHOOKS_SECTION.optional(),
  checkpointer: CHECKPOINTER_SECTION,
  ui: z.record(z.string().min(1), z.string().min(1)).nullish(),
  ui_config: z.looseObject({ shared: z.array(z.string()).optional() }).nullish(),
  interrupt_deadlines: DEADLINES_SECTION.optional(),
  interrupt_answers: ANSWERS_SECTION.optional(),
  policies: POLICIES_SECTION.optional(),
  limits: LIMITS_SECTION.optional(),
});

const HANDLED_KEYS = new Set(Object.keys(FILE.shape));
const GRAPHS_EXAMPLE = 'write {"graphs": {"agent": "./agent.ts:graph"}}';

function graphsFault({ input }: { readonly input?: unknown }): string {
  return `${input === undefined ? "is missing" : "is not an object"}: ${GRAPHS_EXAMPLE}`;
}

/** @throws {ConfigFileError} with file, place and reason */
export function readGraphsConfig(path: string, env: Readonly<Record<string, string | undefined>>): GraphsConfig {
  const file = resolve(path);
  const config = readConfig(file, parseConfig(file), env);
  if (config.graphs.length > 0) return config;
  const remark = `graphs: names no graph, so the server takes requests only; ${GRAPHS_EXAMPLE}`;
  return { ...config, remarks: [...config.remarks, remark] };
}

/** Graphs of the program itself, with the defaults of the file. @param folder where their packages are looked up */
export function givenGraphsConfig(given: Readonly<Record<string, unknown>>, folder: string): GraphsConfig {
  const file = resolve(folder, "graphs");
  const graphs = Object.entries(given).map(([graphId, graph]) => {
    return { graphId, description: null, file, exportName: graphId, given: graph };
  });
  return { ...readConfig(file, { graphs: {} }, {}), graphs };
}

function readConfig(file: string, content: unknown, env: Readonly<Record<string, string | undefined>>): GraphsConfig {
  const folder = dirname(file);
  const parsed = FILE.safeParse(content);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const reason = `${issue?.path.join(".") || "the file"}: ${issue?.message ?? "has the wrong shape"}`;
    throw new ConfigFileError(file, [reason, ...listUnknownKeys(content)].join("; "));
  }
  for (const [key, value] of Object.entries(parsed.data)) {
    const refusal = keyRefusal(key, value);
    if (refusal !== null) throw new ConfigFileError(file, refusal);
  }
  const graphs = Object.entries(parsed.data.graphs).map(([graphId, entry]) =>
    graphSource(file, folder, graphId, entry),
  );
  const deadlines = deadlineRules(parsed.data.interrupt_deadlines);
  const ownEnv = readEnvironment(file, folder, parsed.data.env, env);
  return {
    folder,
    graphs,
    env: ownEnv,
    envNames: Array.isArray(parsed.data.env) ? parsed.data.env : [],
    webhookVariables: webhookVariables(parsed.data.webhooks),
    auth: authPath(parsed.data.auth, folder),
    authorizationServers: authorizationServers(parsed.data.auth),
    securitySchemes: securitySchemes(parsed.data.auth),
    store: storeConfig(parsed.data.store, folder),
    http: httpConfig(parsed.data.http, folder),
    webhooks: readWebhooks(file, parsed.data.webhooks, { ...ownEnv, ...env }),
    checkpointer: checkpointerConfig(parsed.data.checkpointer),
    ui: uiConfig(parsed.data),
    deadlines,
    answers: parsed.data.interrupt_answers ?? "checked",
    policies: parsed.data.policies ?? [],
    limits: tenantLimits(parsed.data.limits),
    remarks: [
      ...graphRemarks(parsed.data.graphs),
      ...Object.entries(parsed.data).flatMap(([key, value]) => keyRemark(key, value, HANDLED_KEYS) ?? []),
      ...authRemarks(parsed.data.auth),
      ...storeRemarks(parsed.data.store),
      ...httpRemarks(parsed.data.http),
      ...webhooksRemarks(parsed.data.webhooks),
      ...checkpointerRemarks(parsed.data.checkpointer),
      ...deadlineRemarks(deadlines, Object.keys(parsed.data.graphs)),
    ],
  };
}

/** A required key may be missing because it is mistyped. */
function listUnknownKeys(content: unknown): readonly string[] {
  if (typeof content !== "object" || content === null || Array.isArray(content)) return [];
  return Object.entries(content).flatMap(([key, value]) => {
    const remark = keyRemark(key, value, HANDLED_KEYS);
    return remark?.includes("did you mean") === true ? [remark] : [];
  });
}

function graphRemarks(graphs: z.infer<typeof FILE>["graphs"]): readonly string[] {
  const known = new Set(Object.keys(GRAPH_ENTRY.shape));
  return Object.entries(graphs).flatMap(([graphId, entry]) =>
    typeof entry === "string" ? [] : sectionRemarks(`graphs.${graphId}`, entry, known, {}),
  );
}

function parseConfig(file: string): unknown {
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

function uiConfig({ ui, ui_config: config }: z.infer<typeof FILE>): UiConfig | null {
  if (ui === undefined || ui === null || Object.keys(ui).length === 0) return null;
  return { components: ui, shared: config?.shared ?? [] };
}
