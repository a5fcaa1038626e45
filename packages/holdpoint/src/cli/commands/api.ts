// API: `holdpoint api METHOD PATH`: one call of the server's HTTP API, with the server and the key of every command.
// Invariants:
//   - Without a method, a call is a GET; with fields or a body it is a POST.
//   - Fields are the body. Beside a body of its own, and in a GET or HEAD, they are the query.
//   - A refusal prints the body as the API gives it, its sentence on the error output, and exits with 1.
//   - With --paginate every page is read: by the cursor of the reply, or by its X-Pagination-Next.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { isJsonObject } from "@holdpoint/base/json/json.ts";
import { agentClient, type Client, type ServerOptions } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { formatRows, printJson } from "../output/print.ts";
import { printable } from "../output/sanitize.ts";
import { readFields, type Field } from "./api-fields.ts";
import { textOption } from "./input.ts";

export interface ApiOptions extends ServerOptions {
  readonly method?: string;
  readonly fields: readonly Field[];
  readonly header: readonly string[];
  readonly input?: string;
  readonly include?: boolean;
  readonly paginate?: boolean;
  readonly json?: boolean;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export async function callApi(cli: Cli, words: readonly string[], options: ApiOptions): Promise<ExitCode> {
  const call = await readCall(cli, words, options);
  const client = await agentClient(cli, options);
  const first = await send(client, call);
  if (options.include === true) printHead(cli, first);
  if (!first.ok) return printRefusal(cli, first);
  if (options.paginate === true) return printPages(cli, client, { call, first }, options);
  if (!isJson(first)) return printText(cli, first);
  const text = await first.text();
  if (text.trim() !== "") printReply(cli, JSON.parse(text) as Json, options);
  return EXIT.done;
}

const METHOD = /^(GET|HEAD|POST|PUT|PATCH|DELETE)$/;

/** @throws {CliError} */
async function readCall(cli: Cli, words: readonly string[], options: ApiOptions): Promise<Call> {
  if (words.length > 2) throw new CliError("too many arguments: a method and a path", EXIT.usage);
  const [given, path] = words.length > 1 ? [words[0], words[1] ?? ""] : [options.method, words[0] ?? ""];
  if (words.length > 1 && options.method !== undefined)
    throw new CliError("the method is given twice: once is enough", EXIT.usage);
  if (/^[a-z]+:/i.test(path)) throw new CliError("write the path only, and name the server with --url", EXIT.usage);
  if (given === undefined && METHOD.test(path)) throw new CliError(`missing path: ${path} and then a path`, EXIT.usage);
  const input = options.input === undefined ? null : await readInput(cli, options.input);
  const hasBody = input !== null || options.fields.length > 0;
  const method = (given ?? (hasBody ? "POST" : "GET")).toUpperCase();
  if (!METHOD.test(method))
    throw new CliError(`${given ?? ""} is no method: GET, HEAD, POST, PUT, PATCH or DELETE`, EXIT.usage);
  const members = await readFields(options.fields, (file) => readInput(cli, file));
  const isQuery = input !== null || method === "GET" || method === "HEAD";
  if (input !== null && (method === "GET" || method === "HEAD"))
    throw new CliError(`${method} takes no body`, EXIT.usage);
  const [address = "", search = ""] = path.split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  if (isQuery) for (const [name, value] of Object.entries(members)) query.append(name, queryValue(value));
  const body = input ?? (isQuery || options.fields.length === 0 ? null : JSON.stringify(members));
  const headers = { ...(body === null ? {} : { "content-type": "application/json" }), ...readHeaders(options.header) };
  return { method, path: address.startsWith("/") ? address : `/${address}`, query, headers, body };
}

const queryValue = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const readInput = (cli: Cli, file: string): Promise<string> => textOption(cli, file === "-" ? "-" : `@${file}`);

/** @throws {CliError} without the value: it may be a secret */
function readHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = "", value = ""] = /^([\w-]+):\s*([\x20-\x7e]*)$/.exec(line) ?? [];
      if (name === "") throw new CliError("--header: write name:value", EXIT.usage);
      return [name.toLowerCase(), value];
    }),
  );
}

function send(client: Client, { method, path, query, headers, body }: Call): Promise<Response> {
  const search = query.toString();
  return client.send(method, `${path}${search === "" ? "" : `?${search}`}`, { headers, body });
}

const isJson = ({ headers }: Response): boolean => /\bjson\b/.test(headers.get("content-type") ?? "");

function printHead({ terminal }: Cli, { status, statusText, headers }: Response): void {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  terminal.out(printable(`HTTP ${status} ${statusText}\n${lines.join("\n")}\n\n`));
}

/** Events and other text, as they arrive. */
async function printText({ terminal }: Cli, { body }: Response): Promise<ExitCode> {
  if (body === null) return EXIT.done;
  for await (const text of body.pipeThrough(new TextDecoderStream())) terminal.out(printable(text));
  return EXIT.done;
}

async function printRefusal(cli: Cli, reply: Response): Promise<ExitCode> {
  const text = await reply.text();
  const body = isJson(reply) ? (JSON.parse(text) as Json) : null;
  if (body === null) cli.terminal.out(printable(text));
  else printJson(cli.terminal, body);
  const reason = isJsonObject(body) ? (body["detail"] ?? body["title"]) : null;
  const sentence = typeof reason === "string" ? reason.replace(/\.$/, "") : "refused";
  throw new CliError(printable(`${sentence} (HTTP ${reply.status})`).replaceAll("\n", " "));
}

/** A list: one object a line with --json. */
function printReply({ terminal }: Cli, body: Json, { json }: ApiOptions): void {
  const list = json === true && !terminal.output.isFiltered() ? readList(body) : null;
  if (list === null) printJson(terminal, body);
  else terminal.out(formatRows(list, false));
}

function readList(body: Json): readonly Json[] | null {
  if (Array.isArray(body)) return body as readonly Json[];
  const items = isJsonObject(body) ? body["items"] : undefined;
  return Array.isArray(items) ? (items as readonly Json[]) : null;
}

async function printPages(
  cli: Cli,
  client: Client,
  { call, first }: { readonly call: Call; readonly first: Response },
  options: ApiOptions,
): Promise<ExitCode> {
  const all: Json[] = [];
  for (let reply: Response | null = first; reply !== null;) {
    if (!reply.ok) return printRefusal(cli, reply);
    const body = (await reply.json()) as Json;
    const list = readList(body);
    if (list === null) throw new CliError("the reply is no list: leave --paginate out", EXIT.usage);
    if (options.json === true) printReply(cli, body, options);
    else all.push(...list);
    const next: Call | null = list.length === 0 ? null : nextCall(call, body, reply);
    reply = next === null ? null : await send(client, next);
  }
  if (options.json !== true) printJson(cli.terminal, all);
  return EXIT.done;
}

function nextCall(call: Call, body: Json, { headers }: Response): Call | null {
  const query = new URLSearchParams(call.query);
  const cursor = isJsonObject(body) ? body["next_cursor"] : undefined;
  if (typeof cursor === "string") {
    query.set("cursor", cursor);
    return { ...call, query };
  }
  const offset = headers.get("x-pagination-next");
  if (offset === null) return null;
  const search = JSON.parse(call.body ?? "{}") as JsonObject;
  return { ...call, body: JSON.stringify({ ...search, offset: Number(offset) }) };
}
