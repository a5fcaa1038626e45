// Client: calls of a server's HTTP API. Every failure becomes one line with its remedy.
// Invariants:
//   - The key goes into its header only: no message contains it.
//   - No automatic retries: the caller decides, and learns the outcome of the first attempt.
//   - A server is called because an option, a variable or the data folder names it, never because it listens.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { type Json, type JsonObject, isJsonObject, parseJson } from "@holdpoint/base/json/json.ts";
import type { Cli } from "./command-context.ts";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { withProgress } from "../output/print.ts";
import { serverUrl } from "./settings.ts";
import { oneLine } from "../output/sanitize.ts";

export interface ServerOptions {
  readonly url?: string;
  readonly apiKey?: string;
}

export interface Client {
  readonly url: string;
  /** How a shell starts this program. */
  readonly program: string;
  /** @throws {CliError} */
  get(path: string, query?: Query): Promise<never>;
  /** @throws {CliError} */
  post(path: string, body: object): Promise<never>;
  /** @throws {CliError} */
  delete(path: string): Promise<void>;
  /** The reply as it comes, a refusal too, without a time limit. @throws {CliError} without a reply */
  send(method: string, path: string, sent: Sent): Promise<Response>;
  /** The events of a run, without a time limit: one that the body starts, or one that exists. @throws {CliError} */
  stream(path: string, body: object | null, lastEventId?: string): AsyncIterable<StreamEvent>;
  /** Waits without a time limit. @throws {CliError} */
  wait(path: string, what: string): Promise<never>;
}

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface StreamEvent {
  /** A later call of stream() goes on after it. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Json;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const TIMEOUT_MS = 30_000;

/** Address of the agent server: an option, a variable, or the data folder's server. */
export async function agentUrl(cli: Cli, { url }: ServerOptions): Promise<string> {
  if (url !== undefined) return urlOption(url);
  const found = (await cli.config()).url ?? (await cli.localServer())?.url;
  if (found !== undefined) return found;
  throw new CliError(
    `no server runs in this project: start one with ${cli.program} dev, or name one with HOLDPOINT_URL or --url`,
    EXIT.unavailable,
  );
}

/** @throws {ConfigError} @throws {CliError} for an invalid option, or without a server. */
export async function agentClient(cli: Cli, options: ServerOptions): Promise<Client> {
  return openClient(cli, options, { url: await agentUrl(cli, options), starter: `${cli.program} dev` });
}

/** For calls that this client does not make. @throws {ConfigError} @throws {CliError} as agentClient. */
export async function agentServer(
  cli: Cli,
  options: ServerOptions,
): Promise<{ readonly url: string; readonly apiKey?: string }> {
  const url = await agentUrl(cli, options);
  const apiKey = await readApiKey(cli, options);
  return { url, ...(apiKey === null ? {} : { apiKey }) };
}

/** @throws {ConfigError} @throws {CliError} for an invalid option, or without a server. */
export async function tracesClient(cli: Cli, options: ServerOptions): Promise<Client> {
  const starter = `${cli.program} dev or ${cli.program} collector`;
  return openClient(cli, options, { url: await tracesUrl(cli, options), starter });
}

async function tracesUrl(cli: Cli, { url }: ServerOptions): Promise<string> {
  if (url !== undefined) return urlOption(url);
  const config = await cli.config();
  if (config.url !== null) return consoleApiUrl(config.url);
  const local = await cli.localServer();
  if (local !== null) return local.tracesUrl ?? consoleApiUrl(local.url);
  throw new CliError(
    `no trace store runs in this project: start one with ${cli.program} dev, or name one with --url`,
    EXIT.unavailable,
  );
}

/** An agent server shows the traces of its own process there, behind its authentication. */
const consoleApiUrl = (url: string): string => `${url}/console/api`;

async function openClient(cli: Cli, options: ServerOptions, server: Omit<Server, "apiKey">): Promise<Client> {
  return createClient(cli, { ...server, apiKey: await readApiKey(cli, options) });
}

async function readApiKey(cli: Cli, options: ServerOptions): Promise<string | null> {
  const { apiKey = (await cli.config()).apiKey } = options;
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new CliError("--api-key is empty or contains invalid characters", EXIT.usage);
  return apiKey;
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
  const { url } = server;
  const call = async (
    method: string,
    path: string,
    what: string,
    { body, timeoutMs = TIMEOUT_MS }: Sending = {},
  ): Promise<never> => {
    const init = buildInit(server, method, { ...(body === undefined ? {} : { body }), timeoutMs });
    return withProgress(cli, what, exchange(server, path, init));
  };
  const asking = `asking ${url}`;
  return {
    url,
    program: cli.program,
    get: (path, query = {}) => call("GET", `${path}${queryText(query)}`, asking),
    post: (path, body) => call("POST", path, asking, { body }),
    delete: (path) => call("DELETE", path, asking),
    send: (method, path, sent) => withProgress(cli, asking, sendRaw(server, method, path, sent)),
    stream(path, body, lastEventId) {
      const method = body === null ? "GET" : "POST";
      const { headers, ...init } = buildInit(server, method, { ...(body === null ? {} : { body }), timeoutMs: null });
      const from = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
      return events(server, path, { ...init, headers: { ...headers, ...from } });
    },
    wait: (path, what) => call("GET", path, what, { timeoutMs: null }),
  };
}

interface Sending {
  readonly body?: object;
  /** Null waits without a limit. */
  readonly timeoutMs?: number | null;
}

function buildInit({ apiKey }: Server, method: string, { body, timeoutMs = TIMEOUT_MS }: Sending) {
  return {
    method,
    redirect: "manual" as const,
    headers: {
      ...(apiKey === null ? {} : { "x-api-key": apiKey }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(timeoutMs === null ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
  };
}

/** @throws {CliError} */
async function sendRaw(server: Server, method: string, path: string, { headers, body }: Sent): Promise<Response> {
  const init = buildInit(server, method, { timeoutMs: null });
  const all = new Headers(init.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  try {
    return await fetch(`${server.url}${path}`, { ...init, headers: all, body });
  } catch (error) {
    throw unreachable(server, error);
  }
}

/** @throws {CliError} */
async function* events(server: Server, path: string, init: RequestInit): AsyncGenerator<StreamEvent> {
  try {
    const response = await fetch(`${server.url}${path}`, init);
    if (!response.ok || response.body === null)
      throw refusal(server, response.status, parseJson(await response.text()) ?? null);
    const messages = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { id, event = "message", data } of messages) yield { id, event, data: parseJson(data) ?? data };
  } catch (error) {
    throw error instanceof CliError ? error : unreachable(server, error);
  }
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
  const body = text.trim() === "" ? null : parseJson(text);
  if (status >= 200 && status < 300 && body !== undefined) return body as never;
  throw refusal(server, status, body);
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
  const reason = problemText(body);
  if (status === 401) return new CliError(`${reason}: set HOLDPOINT_API_KEY, or use --api-key`);
  return new CliError(reason, body["code"] === "invalid_request" ? EXIT.usage : EXIT.failed);
}

/** `{detail, code, answered}` → `The thread … (interrupt_stale): answered by ann at …` */
export function problemText(problem: JsonObject): string {
  const { detail, title, code, answered } = problem;
  const reason = [detail, title].find((text) => typeof text === "string") ?? "refused";
  const text = `${reason.replace(/\.$/, "")} (${typeof code === "string" ? code : "no code"})`;
  if (!isJsonObject(answered)) return oneLine(text);
  const { by, at } = answered;
  return oneLine(typeof by === "string" && typeof at === "string" ? `${text}: answered by ${by} at ${at}` : text);
}
