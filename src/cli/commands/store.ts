// Store: namespaces, list, get, put, delete items of the long-term memory.
// A namespace is written with dots: `users.7.notes`.
import type { Json } from "../../base/json/json.ts";
import { type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, printJson, printList } from "../output/print.ts";
import { duration, jsonText } from "../output/sanitize.ts";
import type { Column } from "../output/table.ts";
import { type Confirmed, confirm, objectOption } from "./input.ts";

type Options = ServerOptions & PrintOptions;

interface Item {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: Json;
  readonly updated_at: string;
  readonly score?: number;
}

/** The most that one call of the API returns. */
const PAGE = 1000;

const labels = (namespace: string | undefined): readonly string[] =>
  namespace === undefined || namespace === "" ? [] : namespace.split(".");

export interface StoreFilter extends Options {
  readonly query?: string;
  readonly filter?: string;
  readonly limit: number;
}

export async function listItems(cli: Cli, namespace: string | undefined, options: StoreFilter): Promise<ExitCode> {
  const filter = await objectOption(cli, "--filter", options.filter);
  const client = await agentClient(cli, options);
  const search = {
    namespace_prefix: labels(namespace),
    ...(filter === null ? {} : { filter }),
    ...(options.query === undefined ? {} : { query: options.query }),
  };
  const items = await pages<Item>(options.limit, async (limit, offset) => {
    const page: { readonly items: readonly Item[] } = await client.post("/store/items/search", {
      ...search,
      limit,
      offset,
    });
    return page.items;
  });
  printList(cli.terminal, items, columnsOf(cli.clock.now()), { ...options, none: "No matching items." });
  return EXIT.done;
}

/** Pages of a list until `limit`, or until the list ends. */
async function pages<T>(
  limit: number,
  read: (limit: number, offset: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (;;) {
    const wanted = Math.min(PAGE, limit - found.length);
    const page = await read(wanted, found.length);
    found.push(...page);
    if (page.length < wanted || found.length >= limit) return found;
  }
}

function columnsOf(now: number): readonly Column<Item>[] {
  return [
    { title: "NAMESPACE", cell: (item) => item.namespace.join("."), least: 8 },
    { title: "KEY", cell: (item) => item.key, least: 8 },
    { title: "CHANGED", cell: (item) => duration(now - Date.parse(item.updated_at)), right: true, optional: true },
    {
      title: "SCORE",
      cell: ({ score }) => (score === undefined ? "" : score.toFixed(3)),
      right: true,
      optional: true,
    },
    { title: "VALUE", cell: (item) => jsonText(item.value), least: 12 },
  ];
}

export async function listNamespaces(
  cli: Cli,
  prefix: string | undefined,
  options: Options & { readonly limit: number },
): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const found = await pages<readonly string[]>(options.limit, async (limit, offset) => {
    const body = { prefix: labels(prefix), limit, offset };
    const page: { readonly namespaces: readonly (readonly string[])[] } = await client.post("/store/namespaces", body);
    return page.namespaces;
  });
  const layout = [{ title: "NAMESPACE", cell: (one: readonly string[]) => one.join("."), least: 8 }];
  printList(cli.terminal, found, layout, { ...options, none: "No namespaces." });
  return EXIT.done;
}

export async function getItem(cli: Cli, namespace: string, key: string, options: Options): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const found: readonly [Item | null] = [await client.get("/store/items", { namespace, key })];
  const [item] = found;
  if (item === null) throw new CliError(`no item ${key} in ${namespace}: see ${cli.program} store ls`);
  printJson(cli.terminal, options.json === true ? item : item.value);
  return EXIT.done;
}

export interface NewItem extends Options {
  readonly ttl?: number;
}

export async function putItem(
  cli: Cli,
  { namespace, key, value: text }: { readonly namespace: string; readonly key: string; readonly value: string },
  options: NewItem,
): Promise<ExitCode> {
  const value = await objectOption(cli, "the value", text);
  const client = await agentClient(cli, options);
  const ttl = options.ttl === undefined ? {} : { ttl: options.ttl };
  await client.put("/store/items", { namespace: labels(namespace), key, value, ...ttl });
  return printDone(cli, "stored", { namespace, key }, options);
}

export async function deleteItem(
  cli: Cli,
  namespace: string,
  key: string,
  options: Options & Confirmed,
): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  await confirm(cli, `Delete ${key} of ${namespace}?`, options);
  await client.delete("/store/items", { namespace: labels(namespace), key });
  return printDone(cli, "deleted", { namespace, key }, options);
}

interface ItemAddress {
  readonly namespace: string;
  readonly key: string;
}

function printDone({ terminal }: Cli, done: string, { namespace, key }: ItemAddress, { json }: PrintOptions): ExitCode {
  if (json === true) printJson(terminal, { namespace: labels(namespace), key, [done]: true });
  else terminal.out(`${done}  ${namespace} ${key}\n`);
  return EXIT.done;
}
