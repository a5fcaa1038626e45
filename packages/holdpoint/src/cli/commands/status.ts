// Status: what waits, runs and fails on a server, at one look.
import { agentClient, type ServerOptions } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { paint, printJson, type PrintOptions } from "../output/print.ts";
import { oneLine } from "../output/sanitize.ts";
import { openPage } from "./open.ts";

const STATUSES = ["busy", "interrupted", "error", "idle"] as const;

export async function showStatus(cli: Cli, options: ServerOptions & PrintOptions): Promise<ExitCode> {
  if (options.web === true) return openPage(cli, options, "/inbox");
  const client = await agentClient(cli, options);
  const { version }: { readonly version: string } = await client.get("/info");
  const countItems = async (query: object): Promise<number> => {
    const { count }: { readonly count: number } = await client.get("/inbox/count", { ...query });
    return count;
  };
  const [waiting, overdue] = await Promise.all([countItems({}), countItems({ deadline: "overdue" })]);
  const threads: number[] = await Promise.all(STATUSES.map((status) => client.post("/threads/count", { status })));
  const counts = Object.fromEntries(STATUSES.map((status, at) => [status, threads[at] ?? 0]));
  const status = { url: client.url, version, items: { waiting, overdue }, threads: counts };
  if (options.json === true) printJson(cli.terminal, status);
  else {
    const fact = (name: string, text: string): string => `${paint(cli.terminal, "dim", name.padEnd(9))} ${text}\n`;
    cli.terminal.out(fact("server", oneLine(`${client.url}, version ${version}`)));
    cli.terminal.out(fact("inbox", `${waiting} waiting, ${overdue} overdue`));
    cli.terminal.out(fact("threads", STATUSES.map((one) => `${counts[one]} ${one}`).join(", ")));
  }
  return EXIT.done;
}
