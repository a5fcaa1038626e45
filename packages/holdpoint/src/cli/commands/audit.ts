// Audit: the entries of the audit trail of all threads, newest first, and the verification of its hash chains.
// Invariant: the exit code of a verification is 1 if an entry was changed, is missing, was added, or was deleted before
// its time.
import type { AuditReport, FoundAuditEntry } from "@holdpoint/api/audit.ts";
import { shortIds } from "@holdpoint/api/text/short-id.ts";
import { type ServerOptions, agentClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { auditEntries, findThread } from "../client/resolve-id.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { jsonText } from "../output/sanitize.ts";
import { type PrintOptions, paint, printColumns, printJson } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { openPage } from "./open.ts";
import { textOption } from "./input.ts";

export interface AuditFilter extends ServerOptions, PrintOptions {
  readonly search?: string;
  readonly by?: string;
  readonly action?: string;
  readonly kind?: "decision" | "act" | "all";
  readonly thread?: string;
  readonly since?: string;
  readonly limit: number;
}

export async function listAudit(cli: Cli, filter: AuditFilter): Promise<ExitCode> {
  const { search: q, by, action, kind, since } = filter;
  if (filter.web === true)
    return openPage(cli, filter, "/answered", { text: q, by, action: kind === "act" ? "acts" : action, since });
  const client = await agentClient(cli, filter);
  const thread_id = filter.thread === undefined ? undefined : await findThread(client, filter.thread);
  const entries = await auditEntries(client, { q, by, action, kind, thread_id, since }, filter.limit);
  printColumns(cli, entries, buildColumns, { ...filter, none: "No matching entries." });
  return EXIT.done;
}

function buildColumns(
  entries: readonly FoundAuditEntry[],
  _now: number,
  wide: boolean,
): readonly Column<FoundAuditEntry>[] {
  const thread = wide ? String : shortIds(entries.flatMap((entry) => entry.thread_id ?? []));
  return [
    { title: "AT", cell: (entry) => (wide ? entry.at : entry.at.slice(0, 19).replace("T", " ")) },
    { title: "ACTION", cell: (entry) => entry.action },
    { title: "BY", cell: (entry) => entry.by, least: 6 },
    { title: "VIA", cell: (entry) => entry.via, optional: true },
    { title: "TITLE", cell: (entry) => entry.title ?? "", least: 10 },
    {
      title: "ANSWER",
      cell: (entry) => entry.answer ?? (entry.value === null ? "" : jsonText(entry.value)),
      least: 8,
      optional: true,
    },
    { title: "RUN", cell: (entry) => entry.run_status ?? "", optional: true },
    { title: "THREAD", cell: (entry) => (entry.thread_id === null ? "" : thread(entry.thread_id)), optional: true },
  ];
}

type Fault = AuditReport["faults"][number];

interface VerifyOptions extends ServerOptions, PrintOptions {
  readonly anchor?: string;
}

export async function verifyAudit(cli: Cli, options: VerifyOptions): Promise<ExitCode> {
  const anchor = options.anchor === undefined ? "" : findAnchor(await textOption(cli, options.anchor));
  const client = await agentClient(cli, options);
  const query = anchor === "" ? "" : `?anchor=${encodeURIComponent(anchor)}`;
  const report: AuditReport = await client.wait(`/audit/verify${query}`, "verifying the audit trail");
  if (options.json === true) printJson(cli.terminal, report);
  else cli.terminal.out(`${formatLines(cli, report).join("\n")}\n`);
  return report.intact ? EXIT.done : EXIT.failed;
}

/** In the output of an earlier verification, or alone. */
function findAnchor(text: string): string {
  return /\b\d+:\d+:[0-9a-f]{64}\b/.exec(text)?.[0] ?? text.trim();
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
