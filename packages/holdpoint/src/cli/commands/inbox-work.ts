// Inbox work: assigns, claims, releases and snoozes items, and comments on them.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { readSeconds } from "../client/read-duration.ts";
import { findItems } from "../client/resolve-id.ts";
import { CliError, EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, paint, printJson } from "../output/print.ts";
import { oneLine } from "../output/sanitize.ts";

export interface WorkOptions extends ServerOptions, PrintOptions {
  readonly by?: string;
}

export function assign(
  cli: Cli,
  word: string,
  to: string,
  options: WorkOptions & { readonly force?: boolean },
): Promise<ExitCode> {
  const body = { to, force: options.force === true };
  return act(cli, { word, verb: "assign", body, options }, () => `assigned to ${to}`);
}

export function claim(cli: Cli, word: string, options: WorkOptions): Promise<ExitCode> {
  return act(cli, { word, verb: "claim", body: {}, options }, (item) => `claimed by ${item.claim?.by ?? ""}`);
}

export function release(
  cli: Cli,
  word: string,
  options: WorkOptions & { readonly force?: boolean },
): Promise<ExitCode> {
  return act(cli, { word, verb: "release", body: { force: options.force === true }, options }, () => "released");
}

export function askAgain(cli: Cli, word: string, options: WorkOptions): Promise<ExitCode> {
  return act(cli, { word, verb: "ask-again", body: {}, options }, () => "asked again");
}

export function comment(cli: Cli, word: string, text: string, options: WorkOptions): Promise<ExitCode> {
  return act(cli, { word, verb: "comments", body: { text }, options }, () => "commented");
}

/** @param when a duration (`2h`), a time with its zone, or `off` */
export function snooze(cli: Cli, word: string, when: string, options: WorkOptions): Promise<ExitCode> {
  const body = parseFollowUp(when);
  return act(cli, { word, verb: "snooze", body, options }, ({ snoozed_until: until }) =>
    until === undefined ? "no follow-up date" : `snoozed until ${until}`,
  );
}

function parseFollowUp(when: string): object {
  if (when === "off") return { until: null };
  const seconds = readSeconds(when);
  if (seconds !== null) return { for_seconds: seconds };
  if (!Number.isNaN(Date.parse(when))) return { until: new Date(when).toISOString() };
  throw new CliError(`"${when}" is no time: use 30m, 2h, 7d, 2026-12-01T09:00Z, or off`, EXIT.usage);
}

interface Act {
  readonly word: string;
  readonly verb: "assign" | "claim" | "release" | "snooze" | "comments" | "ask-again";
  readonly body: object;
  readonly options: WorkOptions;
}

async function act(cli: Cli, { word, verb, body, options }: Act, done: (item: InboxItem) => string): Promise<ExitCode> {
  const client = await agentClient(cli, options);
  const [item] = await findItems(client, [word]);
  if (item === undefined) return EXIT.failed;
  const { by } = options;
  const changed: InboxItem = await client.post(`/inbox/${item.thread_id}/${item.id}/${verb}`, {
    ...body,
    ...(by === undefined ? {} : { by }),
  });
  if (options.json === true) printJson(cli.terminal, changed);
  else
    cli.terminal.out(
      `${paint(cli.terminal, "green", oneLine(done(changed)))}  ${shortId(changed.id)}  ${oneLine(changed.title)}\n`,
    );
  return EXIT.done;
}
