// Logs: the events of a run as they arrive; of a run whose events are gone, the steps that its thread keeps.
// Invariant: every line is an event, {event, data} with --json: a step is one of the stream mode `checkpoints`.
import type { Run, State } from "@holdpoint/api/schemas.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { type Client, type ServerOptions, type StreamEvent, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { findThread, only } from "../client/resolve-id.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, paint } from "../output/print.ts";
import { duration, jsonText, oneLine } from "../output/sanitize.ts";
import { createPrinter } from "./run.ts";

const RUNS_MAX = 1000;
const STEPS_MAX = 1000;
/** What the server still says of a run whose events are gone: its pause. */
const END_EVENTS = 1;

export interface LogOptions extends ServerOptions, PrintOptions {
  readonly follow?: boolean;
}

/** @param word the beginning of a run's id; without it the last run of the thread */
export async function showLogs(
  cli: Cli,
  threadWord: string,
  word: string | undefined,
  options: LogOptions,
): Promise<ExitCode> {
  if (options.follow === true && word !== undefined)
    throw new CliError("--follow follows a thread: leave the run out", EXIT.usage);
  const client = await agentClient(cli, options);
  const thread = await findThread(client, threadWord);
  const runs: readonly Run[] = await client.get(`/threads/${thread}/runs`, { limit: RUNS_MAX });
  const run = chooseRun(client, thread, runs, word);
  if (options.json !== true && run !== null)
    cli.terminal.err(`${paint(cli.terminal, "dim", `run ${shortId(run.run_id)}`)}\n`);
  const print = createPrinter(cli, options.json === true);
  const path = `/threads/${thread}`;
  let count = 0;
  if (options.follow === true) return followThread(cli, client, `${path}/stream`, print);
  if (run === null) return describeNothing(cli, options);
  for await (const event of client.stream(`${path}/runs/${run.run_id}/stream`, null, "-1")) {
    if (event.event !== "metadata" && event.event !== "end") count++;
    print(event);
  }
  if (count <= END_EVENTS) await printSteps(cli, client, { thread, run }, options);
  const { status }: Run = await client.get(`${path}/runs/${run.run_id}`);
  if (options.json !== true) cli.terminal.out(`\n${oneLine(status)}\n`);
  return status === "error" || status === "timeout" ? EXIT.failed : EXIT.done;
}

const RETRY_MS = 1000;

/** Until the thread is deleted; through restarts of the server, without a gap. */
async function followThread(
  { terminal, clock }: Cli,
  client: Client,
  path: string,
  print: (event: StreamEvent) => void,
): Promise<ExitCode> {
  for (let last = "-1", isLost = false; ;) {
    try {
      for await (const event of client.stream(path, null, last)) {
        isLost = false;
        last = event.id ?? last;
        print(event);
      }
      return EXIT.done;
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.unavailable) throw error;
      if (!isLost) terminal.err(`lost ${client.url}: trying again\n`);
      isLost = true;
      await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
    }
  }
}

function chooseRun(client: Client, thread: string, runs: readonly Run[], word: string | undefined): Run | null {
  if (word === undefined) return runs[0] ?? null;
  const matching = runs.filter(({ run_id: id }) => id.startsWith(word.toLowerCase()));
  const list = `${client.program} threads show ${shortId(thread)}`;
  return only(matching, word, ({ run_id: id }) => id, { what: "run of the thread", list, listed: runs.length });
}

function describeNothing({ terminal }: Cli, { json }: PrintOptions): ExitCode {
  if (json !== true) terminal.out("No runs yet.\n");
  return EXIT.done;
}

/** The server keeps events for a minute after the end of a run, and steps for good. */
async function printSteps(
  cli: Cli,
  client: Client,
  { thread, run }: { readonly thread: string; readonly run: Run },
  { json }: PrintOptions,
): Promise<void> {
  const states: readonly State[] = await client.get(`/threads/${thread}/history`, { limit: STEPS_MAX });
  for (const state of states.filter(({ metadata }) => metadata["run_id"] === run.run_id).toReversed()) {
    if (json === true) cli.terminal.out(`${jsonText({ event: "checkpoints", data: state })}\n`);
    else cli.terminal.out(`${describeStep(cli, state)}\n`);
  }
}

function describeStep({ terminal, clock }: Cli, { metadata, next, created_at: at }: State): string {
  const step = paint(terminal, "cyan", `step ${jsonText(metadata["step"])}`);
  const then = next.length === 0 ? "end" : `next: ${oneLine(next.join(", "))}`;
  return `${step}  ${then}${at === null ? "" : `  ${duration(clock.now() - Date.parse(at))} ago`}`;
}
