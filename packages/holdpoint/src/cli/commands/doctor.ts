// Doctor: checks the requirements of a server and a collector on this machine, and prints remedies.
// Invariants:
//   - Leaves nothing: creates no folder, starts no run, and deletes the one trace that it writes, into the local trace
//     store.
//   - Every check prints a line; a check that throws counts as failed, and the others continue.
import type { Cli } from "../client/command-context.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, paint, withProgress, printJson } from "../output/print.ts";
import { counted, oneLine } from "../output/sanitize.ts";
import { fail, type Finding, type NamedServer, ok, type Seen, type Surroundings } from "./checks/finding.ts";
import { folderCheck, graphsCheck, nodeCheck, spaceCheck } from "./checks/machine-checks.ts";
import { backendCheck, collectorCheck, serverCheck } from "./checks/server-checks.ts";

export interface DoctorOptions extends PrintOptions, NamedServer {}

type Check = readonly [name: string, run: () => Promise<readonly Seen[]>];

export async function doctor(cli: Cli, around: Surroundings, options: DoctorOptions): Promise<ExitCode> {
  const { terminal } = cli;
  const findings: Finding[] = [];
  for (const [check, run] of listChecks(cli, around, options)) {
    for (const seen of await withProgress(cli, `checking: ${check}`, attempt(run))) {
      findings.push({ check, ...seen });
      if (options.json !== true) terminal.out(`${formatLine(cli, { check, ...seen })}\n`);
    }
  }
  const failures = findings.filter(({ status }) => status === "fail").length;
  if (options.json === true) printJson(terminal, { ok: failures === 0, findings });
  else terminal.out(`\n${formatSummary(failures, findings.filter(({ status }) => status === "warn").length)}\n`);
  return failures > 0 ? EXIT.failed : EXIT.done;
}

function formatSummary(failures: number, warnings: number): string {
  if (failures > 0) return `${counted(failures, "check")} failed: follow the arrows, then run doctor again.`;
  return warnings === 0 ? "Everything is in order." : `No check failed; ${counted(warnings, "warning")}.`;
}

async function attempt(run: () => Promise<readonly Seen[]>): Promise<readonly Seen[]> {
  try {
    return await run();
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    return message.split("\n").map((line) => fail(line, "correct it and run doctor again"));
  }
}

function formatLine({ terminal }: Cli, { check, status, detail, remedy }: Finding): string {
  const style = { ok: "green", warn: "yellow", fail: "red" } as const;
  const line = `${paint(terminal, style[status], status.padEnd(4))}  ${check.padEnd(14)} ${oneLine(detail)}`;
  return remedy === null ? line : `${line}\n      ${" ".repeat(14)} ${paint(terminal, "dim", `→ ${oneLine(remedy)}`)}`;
}

function listChecks(cli: Cli, around: Surroundings, options: DoctorOptions): readonly Check[] {
  return [
    ["node", async () => [nodeCheck(around)]],
    [
      "settings",
      async () => (
        await Promise.all([around.agent(), around.collector(), cli.config()]),
        [ok("all environment variables are valid")]
      ),
    ],
    ["data folder", async () => [await folderCheck((await around.agent()).dataDir)]],
    ["disk space", async () => [await spaceCheck((await around.agent()).dataDir)]],
    ["langgraph.json", () => graphsCheck(cli, around)],
    ["server", () => serverCheck(cli, around, options)],
    ["collector", () => collectorCheck(cli, around)],
    ["traces", () => backendCheck(cli, around)],
  ];
}
