// Complete: values for the completion of a shell, from the server.
// Quick and silent: without a server, a right or an answer in time there are none.
import type { Person } from "@holdpoint/api/identity.ts";
import type { Assistant } from "@holdpoint/api/schemas.ts";
import { shortIds } from "@holdpoint/api/text/short-id.ts";
import { agentClient, tracesClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { inboxItems, searchThreads, searchTraces } from "../client/resolve-id.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { jsonText, oneLine } from "../output/sanitize.ts";

const VALUES_MAX = 50;
const ASSISTANTS_MAX = 1000;
const PATIENCE_MS = 1500;
const DESCRIPTION_UNITS_MAX = 60;

interface Value {
  readonly word: string;
  readonly description: string;
}

/** Kind → its values, newest or most urgent first. */
const LISTS = {
  async item(cli: Cli) {
    const items = await inboxItems(await agentClient(cli, {}), { values: false }, VALUES_MAX);
    return listIds(items.map(({ id, title }) => [id, title]));
  },
  async thread(cli: Cli) {
    const search = { select: ["thread_id", "status", "metadata"], sort_by: "updated_at" };
    const threads = await searchThreads(await agentClient(cli, {}), search, VALUES_MAX);
    return listIds(
      threads.map(({ thread_id: id, status, metadata }) => [id, `${jsonText(metadata["graph_id"])} ${status}`]),
    );
  },
  async trace(cli: Cli) {
    const traces = await searchTraces(await tracesClient(cli, {}), {}, VALUES_MAX);
    return listIds(traces.map(({ trace_id: id, name, status }) => [id, `${name}, ${status}`]));
  },
  async assistant(cli: Cli) {
    const found = await searchAssistants(cli);
    const own = found.filter(({ graph_id: graph, name }) => name !== graph); // the others are their graphs
    return [...listGraphs(found), ...own.map(({ assistant_id: word, name }) => ({ word, description: name }))];
  },
  async graph(cli: Cli) {
    return listGraphs(await searchAssistants(cli));
  },
  async person(cli: Cli) {
    const client = await agentClient(cli, {});
    const { people }: { readonly people: readonly Person[] } = await client.get("/people", { limit: VALUES_MAX });
    return people.map(({ name: word, display_name: description }) => ({ word, description }));
  },
} satisfies Readonly<Record<string, (cli: Cli) => Promise<readonly Value[]>>>;

type Listed = keyof typeof LISTS;
export type ValueKind = Listed | "place";

/** Prints one value a line: the word, a tab, what it is. */
export async function printValues(cli: Cli, kind: ValueKind): Promise<ExitCode> {
  const kinds: readonly Listed[] = kind === "place" ? ["item", "thread", "trace"] : [kind];
  const late = new Promise<readonly Value[]>((resolve) => cli.clock.after(PATIENCE_MS, () => resolve([])));
  const lists = kinds.map((one): Promise<readonly Value[]> => Promise.race([LISTS[one](cli).catch(() => []), late]));
  for (const { word, description } of (await Promise.all(lists)).flat())
    cli.terminal.out(`${oneLine(word)}\t${oneLine(description).slice(0, DESCRIPTION_UNITS_MAX)}\n`);
  return EXIT.done;
}

function listIds(rows: readonly (readonly [id: string, description: string])[]): readonly Value[] {
  const short = shortIds(rows.map(([id]) => id));
  return rows.map(([id, description]) => ({ word: short(id), description }));
}

async function searchAssistants(cli: Cli): Promise<readonly Assistant[]> {
  return (await agentClient(cli, {})).post("/assistants/search", { limit: ASSISTANTS_MAX });
}

const listGraphs = (found: readonly Assistant[]): readonly Value[] =>
  [...new Set(found.map(({ graph_id: id }) => id))].map((word) => ({ word, description: "graph" }));
