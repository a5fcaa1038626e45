// Open: pages of the console in the browser, at what an id names. The address is printed in any case.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { type Client, type ServerOptions, agentClient, agentUrl, tracesClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { findItems, findThread, findTrace } from "../client/resolve-id.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, printJson } from "../output/print.ts";

type Options = ServerOptions & PrintOptions;

/** @param word an item, a thread or a trace, in this order; without it the inbox */
export async function openPlace(
  cli: Cli,
  word: string | undefined,
  options: Options & { readonly print?: boolean },
): Promise<ExitCode> {
  const url = `${await findConsole(cli, options)}${word === undefined ? "/inbox" : await findPath(cli, word, options)}`;
  return showAddress(cli, url, options);
}

/** The page of what a verb with --web shows. @param query as the page reads it */
export async function openPage(
  cli: Cli,
  options: Options,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<ExitCode> {
  const set = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const search = set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
  return showAddress(cli, `${await findConsole(cli, options)}${path}${search}`, options);
}

/** `{"customer": 7}` → `customer=7`, as the filters of the pages have it. */
export function formatPairs(metadata: JsonObject | null): string | undefined {
  const pairs = Object.entries(metadata ?? {}).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return pairs.length === 0 ? undefined : pairs.join(", ");
}

async function showAddress(
  cli: Cli,
  url: string,
  { json, print }: PrintOptions & { readonly print?: boolean },
): Promise<ExitCode> {
  if (json === true) printJson(cli.terminal, { url });
  else cli.terminal.out(`${url}\n`);
  if (print !== true && json !== true) await cli.showPage(url);
  return EXIT.done;
}

/** A trace store that is named by its address alone has no console. */
async function findConsole(cli: Cli, options: ServerOptions): Promise<string> {
  return `${(await agentUrl(cli, options)).replace(/\/console\/api$/, "")}/console`;
}

/** The first kind that knows the id; a kind that does not is silent. */
async function findPath(cli: Cli, word: string, options: ServerOptions): Promise<string> {
  const client = await agentClient(cli, options);
  const finders: readonly (() => Promise<string>)[] = [
    () => findItemPath(client, word),
    async () => `/threads/${await findKnownThread(client, word)}`,
    async () => `/traces/${await findKnownTrace(cli, word, options)}`,
  ];
  for (const find of finders) {
    const path = await find().catch((error: unknown) => {
      if (error instanceof CliError && error.exitCode !== EXIT.unavailable && !/ambiguous/.test(error.message))
        return null;
      throw error;
    });
    if (path !== null) return path;
  }
  throw new CliError(`no open item, thread or trace has an id starting with "${word}"`);
}

async function findItemPath(client: Client, word: string): Promise<string> {
  const [item] = await findItems(client, [word]);
  return `/inbox/${item?.thread_id ?? ""}/${item?.id ?? ""}`;
}

/** A whole id is not known until the server says so. */
async function findKnownThread(client: Client, word: string): Promise<string> {
  const id = await findThread(client, word);
  await client.get(`/threads/${id}`);
  return id;
}

async function findKnownTrace(cli: Cli, word: string, options: ServerOptions): Promise<string> {
  const { url } = options;
  const traces = await tracesClient(cli, url === undefined ? options : { ...options, url: `${url}/console/api` });
  const id = await findTrace(traces, word);
  await traces.get(`/traces/${id}`);
  return id;
}
