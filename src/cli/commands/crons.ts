// Crons: list, create, enable, disable, delete.
import { type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { findThread, only, paged } from "../client/resolve-id.ts";
import type { Client } from "../client/api-client.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, printJson, printColumns } from "../output/print.ts";
import { duration, jsonText, shortIds } from "../output/sanitize.ts";
import type { Column } from "../output/table.ts";
import { type Confirmed, confirm, jsonOption, objectOption } from "./input.ts";

type Options = ServerOptions & PrintOptions;

interface Cron {
  readonly cron_id: string;
  readonly assistant_id: string;
  readonly thread_id: string | null;
  readonly schedule: string;
  readonly timezone: string | null;
  readonly enabled: boolean;
  readonly next_run_date: string | null;
}

export interface CronFilter extends Options {
  readonly assistant?: string;
  readonly thread?: string;
  readonly limit: number;
}

export async function listCrons(cli: Cli, filter: CronFilter): Promise<ExitCode> {
  const client = await agentClient(cli, filter);
  const search = {
    ...(filter.assistant === undefined ? {} : { assistant_id: filter.assistant }),
    ...(filter.thread === undefined ? {} : { thread_id: await findThread(client, filter.thread) }),
  };
  const crons = await paged<Cron>(client, "/runs/crons/search", search, filter.limit);
  printColumns(cli, crons, columnsOf, { ...filter, none: "No matching crons." });
  return EXIT.done;
}

function columnsOf(crons: readonly Cron[], now: number, wide: boolean): readonly Column<Cron>[] {
  const id = wide ? String : shortIds(crons.map((cron) => cron.cron_id));
  const next = ({ enabled, next_run_date: at }: Cron): string =>
    enabled ? (at === null ? "never" : `in ${duration(Date.parse(at) - now)}`) : "disabled";
  return [
    { title: "CRON", cell: (cron) => id(cron.cron_id) },
    { title: "SCHEDULE", cell: (cron) => cron.schedule },
    { title: "TIMEZONE", cell: (cron) => cron.timezone ?? "UTC", optional: true },
    { title: "NEXT RUN", cell: next },
    { title: "ASSISTANT", cell: (cron) => cron.assistant_id, least: 8 },
    { title: "THREAD", cell: (cron) => cron.thread_id ?? "", least: 8, optional: true },
  ];
}

export interface NewCron extends Options {
  readonly schedule: string;
  readonly timezone?: string;
  readonly input?: string;
  readonly thread?: string;
  readonly metadata?: string;
}

export async function createCron(cli: Cli, assistant: string, options: NewCron): Promise<ExitCode> {
  const metadata = await objectOption(cli, "--metadata", options.metadata);
  const input = options.input === undefined ? undefined : await jsonOption(cli, "--input", options.input);
  const client = await agentClient(cli, options);
  const { schedule, timezone, thread } = options;
  const path = thread === undefined ? "/runs/crons" : `/threads/${await findThread(client, thread)}/runs/crons`;
  const cron: Cron = await client.post(path, {
    assistant_id: assistant,
    schedule,
    ...(timezone === undefined ? {} : { timezone }),
    ...(input === undefined ? {} : { input }),
    ...(metadata === null ? {} : { metadata }),
  });
  return printOne(cli, "created", cron, options);
}

export async function enableCron(cli: Cli, word: string, enabled: boolean, options: Options): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const cron: Cron = await client.patch(`/runs/crons/${await findCron(client, word)}`, { enabled });
  return printOne(cli, enabled ? "enabled" : "disabled", cron, options);
}

function printOne({ terminal }: Cli, done: string, cron: Cron, { json }: PrintOptions): ExitCode {
  if (json === true) printJson(terminal, cron);
  else terminal.out(`${done}  ${cron.cron_id}  next run: ${cron.next_run_date ?? "none"}\n`);
  return EXIT.done;
}

export async function deleteCron(cli: Cli, word: string, options: Options & Confirmed): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const id = await findCron(client, word);
  await confirm(cli, `Delete cron ${id}?`, options);
  await client.delete(`/runs/crons/${id}`);
  cli.terminal.out(options.json === true ? `${jsonText({ cron_id: id, deleted: true })}\n` : `deleted  ${id}\n`);
  return EXIT.done;
}

const LISTED_MAX = 10_000;

async function findCron(client: Client, word: string): Promise<string> {
  const all = await paged<Cron>(client, "/runs/crons/search", {}, LISTED_MAX);
  const ids = all.map(({ cron_id: id }) => id).filter((id) => id.startsWith(word.toLowerCase()));
  return only(ids, word, String, { what: "cron", list: `${client.program} crons ls`, listed: all.length });
}
