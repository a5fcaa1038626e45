// Threads: list, inspect, cancel, end, delete.
import { recognise } from "@holdpoint/api/dialects.ts";
import type { Run, State, Thread } from "@holdpoint/api/schemas.ts";
import { shortId, shortIds } from "@holdpoint/api/text/short-id.ts";
import { type Client, type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { findThread, only, paged, searchThreads } from "../client/resolve-id.ts";
import { type PrintOptions, paint, printJson, printList, printColumns } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { duration, jsonText, oneLine } from "../output/sanitize.ts";
import { formatPairs, openPage } from "./open.ts";
import { type Confirmed, confirm, objectOption } from "./input.ts";

type Options = ServerOptions & PrintOptions;

export interface ThreadFilter extends Options {
  readonly search?: string;
  readonly status?: string;
  readonly graph?: string;
  readonly metadata?: string;
  readonly limit: number;
}

/** The values of a thread may be large, and a list omits them. */
const LISTED = ["thread_id", "created_at", "updated_at", "metadata", "status", "interrupts", "error"];

export async function listThreads(cli: Cli, filter: ThreadFilter): Promise<ExitCode> {
  const { search: text, status, graph } = filter;
  const metadata = await objectOption(cli, "--metadata", filter.metadata);
  if (filter.web === true)
    return openPage(cli, filter, "/threads", { text, status, graph, metadata: formatPairs(metadata) });
  const client = await agentClient(cli, filter);
  const search = {
    select: LISTED,
    sort_by: "updated_at",
    metadata: { ...metadata, ...(graph === undefined ? {} : { graph_id: graph }) },
    ...(text === undefined ? {} : { q: text }),
    ...(status === undefined ? {} : { status }),
  };
  const threads = await searchThreads(client, search, filter.limit);
  printColumns(cli, threads, threadColumns, { ...filter, none: "No matching threads." });
  return EXIT.done;
}

function threadColumns(threads: readonly Thread[], now: number, wide: boolean): readonly Column<Thread>[] {
  const id = wide ? String : shortIds(threads.map((thread) => thread.thread_id));
  return [
    { title: "THREAD", cell: (thread) => id(thread.thread_id) },
    { title: "STATUS", cell: (thread) => thread.status },
    { title: "GRAPH", cell: (thread) => asText(thread.metadata["graph_id"]), least: 8 },
    { title: "PENDING", cell: waitsFor, least: 10 },
    { title: "CHANGED", cell: (thread) => duration(now - Date.parse(thread.updated_at)), right: true, optional: true },
    { title: "AGE", cell: (thread) => duration(now - Date.parse(thread.created_at)), right: true, optional: true },
  ];
}

const asText = (value: unknown): string => (typeof value === "string" ? value : "");

function waitsFor({ interrupts, error, status }: Thread): string {
  if (error !== undefined) return `${error.error}: ${error.message}`;
  const open = Object.values(interrupts).flat().length;
  if (open > 0) return open === 1 ? "1 answer" : `${open} answers`;
  return status === "interrupted" ? "a breakpoint" : "";
}

const RUNS_SHOWN = 10;

export async function showThread(cli: Cli, word: string, options: Options): Promise<ExitCode> {
  const { client, id } = await named(cli, word, options);
  if (options.web === true) return openPage(cli, options, `/threads/${id}`);
  const thread: Thread = await client.get(`/threads/${id}`);
  const runs: readonly Run[] = await client.get(`/threads/${id}/runs`, { limit: RUNS_SHOWN });
  if (options.json === true) {
    printJson(cli.terminal, { ...thread, runs });
    return EXIT.done;
  }
  const { terminal } = cli;
  const fact = (name: string, text: string): void =>
    terminal.out(`${paint(terminal, "dim", name.padEnd(9))} ${oneLine(text)}\n`);
  fact("thread", thread.thread_id);
  fact("status", thread.status);
  if (thread.error !== undefined) fact("error", `${thread.error.error}: ${thread.error.message}`);
  fact("created", thread.created_at);
  fact("changed", thread.updated_at);
  fact("metadata", jsonText(thread.metadata));
  for (const { id: item, value, response_schema: schema } of Object.values(thread.interrupts).flat())
    fact("pending", `${shortId(item ?? "")}  ${recognise(value, schema ?? null).title}`);
  terminal.out("\n");
  printList(terminal, runs, runColumns(runs, cli.clock.now(), options.wide === true), {
    wide: options.wide ?? false,
    none: "No runs yet.",
  });
  return EXIT.done;
}

function runColumns(runs: readonly Run[], now: number, wide: boolean): readonly Column<Run>[] {
  const id = wide ? String : shortIds(runs.map((run) => run.run_id));
  return [
    { title: "RUN", cell: (run) => id(run.run_id) },
    { title: "STATUS", cell: (run) => run.status },
    { title: "ENDED BY", cell: (run) => run.ended_by ?? "", optional: true },
    { title: "AGE", cell: (run) => duration(now - Date.parse(run.created_at)), right: true },
    { title: "ATTEMPT", cell: (run) => String(run.attempt), right: true, optional: true },
  ];
}

export async function showState(
  cli: Cli,
  word: string,
  options: Options & { readonly at?: string },
): Promise<ExitCode> {
  const { client, id } = await named(cli, word, options);
  const at = options.at === undefined ? "" : `/${await findCheckpoint(client, id, options.at)}`;
  const state: State = await client.get(`/threads/${id}/state${at}`);
  printJson(cli.terminal, options.json === true ? state : state.values);
  if (options.json !== true && state.next.length > 0)
    cli.terminal.err(`${paint(cli.terminal, "dim", `next: ${oneLine([...new Set(state.next)].join(", "))}`)}\n`);
  return EXIT.done;
}

const HISTORY_MAX = 1000;

/** A prefix of a checkpoint id is enough. @throws {CliError} */
async function findCheckpoint(client: Client, thread: string, word: string): Promise<string> {
  if (word.length === 36) return word;
  const states: readonly State[] = await client.get(`/threads/${thread}/history`, { limit: HISTORY_MAX });
  const ids = states.flatMap(({ checkpoint }) => checkpoint?.checkpoint_id ?? []).filter((id) => id.startsWith(word));
  const [one, another] = ids;
  if (one === undefined)
    throw new CliError(`no checkpoint id starts with "${word}": see ${client.program} threads history`);
  if (another !== undefined) throw new CliError(`"${word}" matches several checkpoints; use a longer prefix`);
  return one;
}

export async function showHistory(
  cli: Cli,
  word: string,
  options: Options & { readonly limit: number },
): Promise<ExitCode> {
  const { client, id } = await named(cli, word, options);
  const states: readonly State[] = await client.get(`/threads/${id}/history`, { limit: options.limit });
  const now = cli.clock.now();
  const readCheckpointId = ({ checkpoint }: State): string => checkpoint?.checkpoint_id ?? "";
  const short = options.wide === true ? String : shortIds(states.map(readCheckpointId));
  const layout: readonly Column<State>[] = [
    { title: "CHECKPOINT", cell: (state) => short(readCheckpointId(state)) },
    { title: "STEP", cell: ({ metadata }) => jsonText(metadata["step"]), right: true },
    { title: "SOURCE", cell: ({ metadata }) => asText(metadata["source"]), optional: true },
    { title: "NEXT", cell: ({ next }) => next.join(", "), least: 8 },
    { title: "AGE", cell: ({ created_at: at }) => (at === null ? "" : duration(now - Date.parse(at))), right: true },
  ];
  printList(cli.terminal, states, layout, { ...options, none: "The thread has no state yet." });
  return EXIT.done;
}

export async function cancelRuns(
  cli: Cli,
  word: string,
  run: string | undefined,
  options: Options & { readonly rollback?: boolean },
): Promise<ExitCode> {
  const { client, id } = await named(cli, word, options);
  const active = await activeRuns(client, id, run?.toLowerCase() ?? "");
  const list = `${client.program} threads show ${shortId(id)}`;
  if (run !== undefined && active.length > 1) only(active, run, String, { what: "active run", list, listed: 0 });
  const action = options.rollback === true ? "rollback" : "interrupt";
  if (active.length > 0) await client.post(`/runs/cancel?action=${action}`, { thread_id: id, run_ids: active });
  if (options.json === true) printJson(cli.terminal, { thread_id: id, cancelled: active });
  else
    cli.terminal.out(
      active.length === 0 ? "No active runs.\n" : active.map((one) => `cancelled  ${shortId(one)}\n`).join(""),
    );
  return EXIT.done;
}

async function activeRuns(client: Client, thread: string, beginning: string): Promise<readonly string[]> {
  const lists: (readonly Run[])[] = [];
  for (const status of ["running", "pending"])
    lists.push(await client.get(`/threads/${thread}/runs`, { status, limit: 1000 }));
  return lists.flat().flatMap(({ run_id: id }) => (id.startsWith(beginning) ? [id] : []));
}

/** Discards the pending work of a thread without an answer. */
export async function endThread(cli: Cli, word: string, options: Options & Confirmed): Promise<ExitCode> {
  const { client, id } = await named(cli, word, options);
  await confirm(cli, `Discard the pending interrupts of thread ${id}?`, options);
  await client.post(`/threads/${id}/state`, { values: null, as_node: "__end__" });
  if (options.json === true) printJson(cli.terminal, { thread_id: id, ended: true });
  else cli.terminal.out(`ended  ${shortId(id)}\n`);
  return EXIT.done;
}

export async function deleteThreads(
  cli: Cli,
  words: readonly string[],
  options: Options & Confirmed,
): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const ids: string[] = [];
  for (const word of words) ids.push(await findThread(client, word));
  await confirm(cli, `Delete ${ids.join(", ")} with runs and checkpoints?`, options);
  for (const id of ids) {
    await client.delete(`/threads/${id}`);
    cli.terminal.out(
      options.json === true ? `${jsonText({ thread_id: id, deleted: true })}\n` : `deleted  ${shortId(id)}\n`,
    );
  }
  return EXIT.done;
}

export interface Erased extends Options, Confirmed {
  readonly metadata?: string;
  readonly dryRun?: boolean;
}

const ERASED_MAX = 10_000;

/** Those of the command line, or those with the metadata, at most ERASED_MAX in one go. */
export async function eraseThreads(cli: Cli, words: readonly string[], options: Erased): Promise<ExitCode> {
  const metadata = await objectOption(cli, "--metadata", options.metadata);
  if ((metadata === null) === (words.length === 0))
    throw new CliError("name threads, or the metadata of threads with --metadata", EXIT.usage);
  const client = await agentClient(cli, options);
  const ids: string[] = [];
  for (const word of words) ids.push(await findThread(client, word));
  const crons: { readonly cron_id: string }[] = [];
  if (metadata !== null) {
    const found = { metadata, select: ["thread_id"], sort_by: "created_at", sort_order: "asc" };
    ids.push(...(await searchThreads(client, found, ERASED_MAX)).map((thread) => thread.thread_id));
    crons.push(...(await paged<(typeof crons)[number]>(client, "/runs/crons/search", { metadata }, ERASED_MAX)));
  }
  const what = ids.length === 1 ? `thread ${ids[0]}` : `${ids.length} threads`;
  const question = `Erase ${what}${crons.length === 0 ? "" : ` and ${crons.length} crons`}, with traces and memory?`;
  if (options.dryRun !== true && ids.length + crons.length > 0) await confirm(cli, question, options);
  for (const { cron_id: id } of crons) {
    if (options.dryRun !== true) await client.delete(`/runs/crons/${id}`);
    printErased(cli, options, { cron_id: id }, { crons: 1 });
  }
  for (const id of ids) {
    const { places } = await eraseThread(client, id, options.dryRun === true);
    printErased(cli, options, { thread_id: id }, places);
  }
  if (ids.length === 0 && crons.length === 0 && options.json !== true) cli.terminal.out("No matching threads.\n");
  if (ids.length === ERASED_MAX)
    cli.terminal.err(`There may be more than ${ERASED_MAX} threads: repeat the command.\n`);
  return EXIT.done;
}

type Places = Readonly<Record<string, number>>;

const eraseThread = (client: Client, id: string, dryRun: boolean): Promise<{ readonly places: Places }> =>
  client.post(`/threads/${id}/erase`, { dry_run: dryRun });

function printErased(
  cli: Cli,
  { json, dryRun = false }: Erased,
  what: Readonly<Record<string, string>>,
  places: Places,
) {
  const [id = ""] = Object.values(what);
  const list = Object.entries(places).map(([place, count]) => `${place} ${count}`);
  cli.terminal.out(
    json === true
      ? `${jsonText({ ...what, dry_run: dryRun, places })}\n`
      : `${dryRun ? "would erase" : "erased"}  ${shortId(id)}  ${list.join(", ")}\n`,
  );
}

async function named(
  cli: Cli,
  word: string,
  options: Options,
): Promise<{ readonly client: Client; readonly id: string }> {
  const client = await agentClient(cli, options);
  return { client, id: await findThread(client, word) };
}
