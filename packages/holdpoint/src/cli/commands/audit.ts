// Audit: verify the hash chains of the audit trail.
// Invariant: the exit code is 1 if an entry was changed, is missing, was added, or was deleted before its time.
import type { AuditReport } from "@holdpoint/api/audit/audit.ts";
import { type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { type PrintOptions, paint, printJson } from "../output/print.ts";
import { textOption } from "./input.ts";

type Fault = AuditReport["faults"][number];

export interface VerifyOptions extends ServerOptions, PrintOptions {
  readonly anchor?: string;
}

export async function verifyAudit(cli: Cli, options: VerifyOptions): Promise<ExitCode> {
  const anchor = options.anchor === undefined ? "" : (await textOption(cli, options.anchor)).trim();
  const client = await agentClient(cli, options);
  const query = anchor === "" ? "" : `?anchor=${encodeURIComponent(anchor)}`;
  const report: AuditReport = await client.wait(`/audit/verify${query}`, "verifying the audit trail");
  if (options.json === true) printJson(cli.terminal, report);
  else cli.terminal.out(`${formatLines(cli, report).join("\n")}\n`);
  return report.intact ? EXIT.done : EXIT.failed;
}

function formatLines({ terminal }: Cli, report: AuditReport): readonly string[] {
  const { intact, entries, deleted, erased, chains, anchor, faults, fault_count: found } = report;
  const known = erased > 0 ? `${entries} entries (${erased} with a person erased)` : `${entries} entries`;
  const counts = `${known} and ${deleted} digests of deleted ones, in ${chains} ${chains === 1 ? "chain" : "chains"}`;
  const verdict = intact ? paint(terminal, "green", "intact") : paint(terminal, "red", "not intact");
  return [
    `${verdict}  ${counts}`,
    ...faults.map((fault) => `${paint(terminal, "red", fault.fault.padEnd(9))}  ${formatPlace(fault)}`),
    ...(found > faults.length ? [`and ${found - faults.length} more`] : []),
    ...(anchor === "" ? [] : [`anchor  ${anchor}`]),
  ];
}

function formatPlace({ fault, chain, position, last_position: last, thread_id: thread, seq }: Fault): string {
  const place = position === last ? `entry ${position}` : `entries ${position} to ${last}`;
  if (fault === "gap") return `${place} of thread ${thread ?? ""}`;
  const of = thread === null ? (seq === null ? "" : " (deleted)") : `: entry ${seq} of thread ${thread}`;
  return `chain ${chain}, ${place}${of}`;
}
