// Client: calls of a server's HTTP API. Every failure becomes one line with its remedy.
// Invariants:
//   api-client.1. The key goes into its header only: no message contains it.
//   api-client.2. No automatic retries: the caller decides, and learns the outcome of the first attempt.
import { type Json, type JsonObject, isJsonObject } from "../../base/json/json.ts";
import type { Cli } from "./command-context.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { patiently } from "../output/print.ts";
import { type ClientConfig, serverUrl } from "./settings.ts";
import { oneLine } from "../output/sanitize.ts";

export interface ServerOptions {
  readonly url?: string;
  readonly apiKey?: string;
}

export interface Client {
  readonly url: string;
  /** @throws {CliError} */
  get(path: string, query?: Query): Promise<never>;
  /** @throws {CliError} */
  post(path: string, body: object): Promise<never>;
  /** @throws {CliError} */
  delete(path: string): Promise<void>;
  /** Waits without a time limit. @throws {CliError} */
  wait(path: string, what: string): Promise<never>;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const TIMEOUT_MS = 30_000;

/** @throws {ConfigError} @throws {CliError} for an invalid option. */
export async function agentClient(cli: Cli, options: ServerOptions): Promise<Client> {
  return clientOf(cli, options, ({ url }) => url, "holdpoint dev");
}

/** @throws {ConfigError} @throws {CliError} for an invalid option. */
export async function tracesClient(cli: Cli, options: ServerOptions): Promise<Client> {
  return clientOf(cli, options, ({ tracesUrl }) => tracesUrl, "holdpoint dev or holdpoint collector");
}

async function clientOf(
  cli: Cli,
  options: ServerOptions,
  urlOf: (config: ClientConfig) => string,
  starter: string,
): Promise<Client> {
  const config = await cli.config();
  const { apiKey = config.apiKey } = options;
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new CliError("--api-key is empty or contains invalid characters", EXIT.usage); // api-client.1
  return createClient(cli, {
    url: options.url === undefined ? urlOf(config) : urlOption(options.url),
    apiKey,
    starter,
  });
}

function urlOption(value: string): string {
  try {
    return serverUrl(value);
  } catch (error) {
    throw new CliError(`--url ${error instanceof Error ? error.message : ""}`, EXIT.usage);
  }
}

interface Server {
  readonly url: string;
  readonly apiKey: string | null;
  /** The command that starts such a server. */
  readonly starter: string;
}

function createClient(cli: Cli, server: Server): Client {
  const { url, apiKey } = server;
  const call = async (
    method: string,
    path: string,
    what: string,
    { body, timeoutMs = TIMEOUT_MS }: Sending = {},
  ): Promise<never> => {
    const init: RequestInit = {
      method,
      redirect: "manual",
      headers: {
        ...(apiKey === null ? {} : { "x-api-key": apiKey }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(timeoutMs === null ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
    };
    return patiently(cli, what, exchange(server, path, init));
  };
  const asking = `asking ${url}`;
  return {
    url,
    get: (path, query = {}) => call("GET", `${path}${queryText(query)}`, asking),
    post: (path, body) => call("POST", path, asking, { body }),
    delete: (path) => call("DELETE", path, asking),
    wait: (path, what) => call("GET", path, what, { timeoutMs: null }),
  };
}

interface Sending {
  readonly body?: object;
  /** Null waits without a limit. */
  readonly timeoutMs?: number | null;
}

function queryText(query: Query): string {
  const set = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
}

async function exchange(server: Server, path: string, init: RequestInit): Promise<never> {
  let status: number;
  let text: string;
  try {
    const response = await fetch(`${server.url}${path}`, init);
    status = response.status;
    text = await response.text();
  } catch (error) {
    throw unreachable(server, error);
  }
  const body = text.trim() === "" ? null : parsed(text);
  if (status >= 200 && status < 300 && body !== undefined) return body as never;
  throw refusal(server, status, body);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function unreachable({ url, starter }: Server, error: unknown): CliError {
  const { name, cause } = error instanceof Error ? error : new Error(String(error));
  if (name === "TimeoutError")
    return new CliError(`${url} did not respond within ${TIMEOUT_MS / 1000} s: check its log`, EXIT.unavailable);
  const { code, message = "connection lost" } = (cause ?? {}) as {
    readonly code?: string;
    readonly message?: string;
  };
  if (code === "ECONNREFUSED")
    return new CliError(
      `no server responds at ${url}: start one with ${starter}, or set another with --url`,
      EXIT.unavailable,
    );
  return new CliError(`cannot reach ${url} (${code ?? message}): check --url`, EXIT.unavailable);
}

function refusal({ url }: Server, status: number, body: Json | undefined): CliError {
  if (!isJsonObject(body) || typeof body["code"] !== "string")
    return new CliError(`${url} returned ${status} and is not a Holdpoint server: check --url`);
  const said = problemText(body);
  if (status === 401) return new CliError(`${said}: set HOLDPOINT_API_KEY, or use --api-key`);
  return new CliError(said);
}

/** `{detail, code, answered}` → `The thread … (interrupt_stale): answered by ann at …` */
export function problemText(problem: JsonObject): string {
  const { detail, title, code, answered } = problem;
  const said = [detail, title].find((text) => typeof text === "string") ?? "refused";
  const text = `${said.replace(/\.$/, "")} (${typeof code === "string" ? code : "no code"})`;
  if (!isJsonObject(answered)) return oneLine(text);
  const { by, at } = answered;
  return oneLine(typeof by === "string" && typeof at === "string" ? `${text}: answered by ${by} at ${at}` : text);
}
