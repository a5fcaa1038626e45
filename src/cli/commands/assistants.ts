// Assistants: list, show, create, update, versions, delete.
import type { Json, JsonObject } from "../../base/json/json.ts";
import { type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { paged } from "../client/resolve-id.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, printJson, printList } from "../output/print.ts";
import { jsonText } from "../output/sanitize.ts";
import type { Column } from "../output/table.ts";
import { type Confirmed, confirm, objectOption } from "./input.ts";

type Options = ServerOptions & PrintOptions;

interface Assistant {
  readonly assistant_id: string;
  readonly graph_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly version: number;
  readonly metadata: JsonObject;
  readonly context?: Json;
  readonly updated_at?: string;
}

const COLUMNS: readonly Column<Assistant>[] = [
  { title: "ASSISTANT", cell: (one) => one.assistant_id },
  { title: "GRAPH", cell: (one) => one.graph_id, least: 8 },
  { title: "NAME", cell: (one) => one.name, least: 8 },
  { title: "VERSION", cell: (one) => String(one.version), right: true },
  { title: "DESCRIPTION", cell: (one) => one.description ?? "", least: 10, optional: true },
];

export interface AssistantFilter extends Options {
  readonly graph?: string;
  readonly name?: string;
  readonly metadata?: string;
  readonly limit: number;
}

export async function listAssistants(cli: Cli, filter: AssistantFilter): Promise<ExitCode> {
  const metadata = await objectOption(cli, "--metadata", filter.metadata);
  const client = await agentClient(cli, filter);
  const search = {
    ...(filter.graph === undefined ? {} : { graph_id: filter.graph }),
    ...(filter.name === undefined ? {} : { name: filter.name }),
    ...(metadata === null ? {} : { metadata }),
  };
  const found = await paged<Assistant>(client, "/assistants/search", search, filter.limit);
  printList(cli.terminal, found, COLUMNS, { ...filter, none: "No matching assistants." });
  return EXIT.done;
}

export async function showAssistant(cli: Cli, id: string, options: Options): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  printJson(cli.terminal, await client.get(pathOf(id)));
  return EXIT.done;
}

export interface AssistantChange extends Options {
  readonly graph?: string;
  readonly name?: string;
  readonly description?: string;
  readonly configurable?: string;
  readonly context?: string;
  readonly metadata?: string;
}

export async function createAssistant(cli: Cli, graph: string, options: AssistantChange): Promise<ExitCode> {
  const body = { ...(await changeOf(cli, options)), graph_id: graph };
  const client = await agentClient(cli, options);
  return printOne(cli, "created", await client.post("/assistants", body), options);
}

export async function updateAssistant(cli: Cli, id: string, options: AssistantChange): Promise<ExitCode> {
  const body = await changeOf(cli, options);
  const client = await agentClient(cli, options);
  return printOne(cli, "updated", await client.patch(pathOf(id), body), options);
}

async function changeOf(cli: Cli, options: AssistantChange): Promise<object> {
  const { graph, name, description } = options;
  const configurable = await objectOption(cli, "--configurable", options.configurable);
  const context = await objectOption(cli, "--context", options.context);
  const metadata = await objectOption(cli, "--metadata", options.metadata);
  return {
    ...(graph === undefined ? {} : { graph_id: graph }),
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(configurable === null ? {} : { config: { configurable } }),
    ...(context === null ? {} : { context }),
    ...(metadata === null ? {} : { metadata }),
  };
}

function printOne({ terminal }: Cli, done: string, assistant: Assistant, { json }: PrintOptions): ExitCode {
  if (json === true) printJson(terminal, assistant);
  else terminal.out(`${done}  ${assistant.assistant_id}  version ${assistant.version}\n`);
  return EXIT.done;
}

export async function listVersions(
  cli: Cli,
  id: string,
  options: Options & { readonly limit: number },
): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const versions = await paged<Assistant>(client, `${pathOf(id)}/versions`, {}, options.limit);
  const layout: readonly Column<Assistant>[] = [
    { title: "VERSION", cell: (one) => String(one.version), right: true },
    { title: "NAME", cell: (one) => one.name, least: 8 },
    { title: "CONTEXT", cell: ({ context }) => (context === undefined ? "" : jsonText(context)), least: 10 },
  ];
  printList(cli.terminal, versions, layout, { ...options, none: "No versions." });
  return EXIT.done;
}

export async function deleteAssistant(cli: Cli, id: string, options: Options & Confirmed): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  await confirm(cli, `Delete assistant ${id} with its versions and ended runs?`, options);
  await client.delete(pathOf(id));
  cli.terminal.out(options.json === true ? `${jsonText({ assistant_id: id, deleted: true })}\n` : `deleted  ${id}\n`);
  return EXIT.done;
}

const pathOf = (id: string): string => `/assistants/${encodeURIComponent(id)}`;
