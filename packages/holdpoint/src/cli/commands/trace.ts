// Trace: lists traces of the local store, and shows one as a tree with timings.
// Invariant: a tree shows every run of its trace, in store order, also with missing parents.
import { dollars, computeTraceCosts } from "@holdpoint/api/traces/trace-costs.ts";
import { measureTrace } from "@holdpoint/api/traces/trace-times.ts";
import type { SpanDetail, SpanSummary, TraceItem, TraceTree } from "@holdpoint/api/traces/traces.ts";
import { shortIds } from "@holdpoint/api/text/short-id.ts";
import { type Client, type ServerOptions, tracesClient } from "../client/api-client.ts";
import type { Cli } from "../client/command-context.ts";
import { openPage } from "./open.ts";
import { EXIT, type ExitCode } from "../errors/cli-error.ts";
import { findTrace, findTracedThread, searchTraces } from "../client/resolve-id.ts";
import { type PrintOptions, paint, printJson, printList, printColumns } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { duration, oneLine } from "../output/sanitize.ts";

const US = 1000;

export interface TraceFilter extends ServerOptions, PrintOptions {
  readonly project?: string;
  readonly name?: string;
  readonly search?: string;
  readonly status?: string;
  readonly model?: string;
  readonly thread?: string;
  readonly tag?: string;
  readonly metadata?: string;
  readonly slower?: number;
  readonly limit: number;
}

export async function listTraces(cli: Cli, filter: TraceFilter): Promise<ExitCode> {
  const { project, name, search: q, status, model, tag, metadata, thread, slower } = filter;
  if (filter.web === true) {
    const slow = slower === undefined ? undefined : String(slower);
    return openPage(cli, filter, "/traces", { q, project, name, status, model, thread, slow });
  }
  const client = await tracesClient(cli, filter);
  const query = {
    project,
    name,
    q,
    status,
    model,
    tag,
    metadata,
    thread_id: thread === undefined ? undefined : await findTracedThread(client, thread),
    min_latency_ms: slower,
  };
  const traces = await searchTraces(client, query, filter.limit);
  printColumns(cli, traces, traceColumns, { ...filter, none: "No matching traces." });
  return EXIT.done;
}

function traceColumns(traces: readonly TraceItem[], now: number, wide: boolean): readonly Column<TraceItem>[] {
  const id = wide ? String : shortIds(traces.map((trace) => trace.trace_id));
  return [
    { title: "TRACE", cell: (trace) => id(trace.trace_id) },
    { title: "AGE", cell: (trace) => duration(now - trace.start_us / US), right: true },
    { title: "NAME", cell: (trace) => trace.name, least: 10 },
    { title: "STATUS", cell: (trace) => trace.status },
    { title: "TIME", cell: (trace) => latency(measureTrace(trace, now * US).whole), right: true },
    {
      title: "WAIT",
      cell: (trace) => latency(measureTrace(trace, now * US).wait || null),
      right: true,
      optional: true,
    },
    { title: "RUNS", cell: (trace) => String(trace.runs), right: true, optional: true },
    { title: "TOKENS", cell: (trace) => tokens(trace), right: true, optional: true },
    {
      title: "COST",
      cell: ({ cost }) => (cost === null ? "" : dollars(cost)),
      right: true,
      optional: true,
    },
    { title: "MODEL", cell: (trace) => trace.models.join(", "), least: 8, optional: true },
    { title: "PROJECT", cell: (trace) => trace.project, least: 8, optional: true },
    { title: "ERROR", cell: (trace) => trace.error ?? "", least: 10, optional: true },
  ];
}

function tokens({
  input_tokens: input = 0,
  output_tokens: output = 0,
}: {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}): string {
  return input + output === 0 ? "" : `${input}+${output}`;
}

/** `1500` → `1.5ms`, `2_500_000` → `2.5s` */
export function latency(us: number | null): string {
  if (us === null) return "";
  if (us < 1000 * US) return `${Number((us / US).toPrecision(us < 10 * US ? 2 : 3))}ms`;
  return us < 60_000 * US ? `${(us / US / 1000).toFixed(1)}s` : duration(us / US);
}

export async function showTrace(cli: Cli, word: string, options: ServerOptions & PrintOptions): Promise<ExitCode> {
  const client = await tracesClient(cli, options);
  const id = await findTrace(client, word);
  if (options.web === true) return openPage(cli, options, `/traces/${id}`);
  const whole: TraceTree = await client.get(`/traces/${id}`);
  if (options.json === true) {
    printJson(cli.terminal, whole);
    return EXIT.done;
  }
  const { terminal } = cli;
  const { trace, runs } = whole;
  const cost = trace.cost === null ? "" : dollars(trace.cost);
  const facts = [trace.status, latency(trace.latency_us), tokens(trace), cost, trace.models.join(", "), trace.project];
  terminal.out(`${paint(terminal, "bold", oneLine(trace.name))}  ${oneLine(facts.filter(Boolean).join("  "))}\n`);
  if (trace.thread_id !== null) terminal.out(`${paint(terminal, "dim", "thread")} ${oneLine(trace.thread_id)}\n`);
  const result = await findResult(client, runs);
  if (result !== null)
    terminal.out(`${paint(terminal, "dim", "output")} ${oneLine(result).slice(0, RESULT_UNITS_MAX)}\n`);
  terminal.out("\n");
  printList(terminal, buildBranches(runs), runColumns(runs), {
    wide: options.wide ?? false,
    none: "The trace has no runs.",
  });
  return EXIT.done;
}

const RESULT_UNITS_MAX = 500;

/** The output of the root, or the one that ended the trace; null without any. */
async function findResult(client: Client, [root]: readonly SpanSummary[]): Promise<string | null> {
  if (root === undefined || root.dotted_order.includes(".")) return null;
  const { outputs, final_output: final }: SpanDetail = await client.get(`/traces/runs/${root.id}`);
  const result = final === undefined ? outputs : final.outputs;
  return result === undefined || JSON.stringify(result) === "{}" ? null : JSON.stringify(result);
}

interface Branch {
  readonly run: SpanSummary;
  /** `│  ├─ `: the prefix of the run's name. */
  readonly rails: string;
}

/** The depth is the number of segments of the dotted order. */
function buildBranches(runs: readonly SpanSummary[]): readonly Branch[] {
  const depths = runs.map(({ dotted_order: order }) => order.split(".").length - 1);
  const least = depths.reduce((lowest, depth) => Math.min(lowest, depth), Infinity);
  const open: boolean[] = []; // from the end up: whether a later sibling exists at this depth
  const branches: Branch[] = [];
  for (let index = runs.length - 1; index >= 0; index--) {
    const depth = (depths[index] ?? 0) - least;
    let rails = "";
    for (let level = 1; level < depth; level++) rails += open[level] === true ? "│  " : "   ";
    if (depth > 0) rails += open[depth] === true ? "├─ " : "└─ ";
    open.length = depth;
    open[depth] = true;
    branches.push({ run: runs[index] as SpanSummary, rails });
  }
  return branches.toReversed();
}

const BAR_COLUMNS = 24;

function runColumns(runs: readonly SpanSummary[]): readonly Column<Branch>[] {
  const from = runs.reduce((first, run) => Math.min(first, run.start_us), Infinity);
  const to = runs.reduce((last, run) => Math.max(last, run.end_us ?? run.start_us), -Infinity);
  const costs = computeTraceCosts(
    runs.flatMap(({ dotted_order, cost }) => (cost === undefined ? [] : [{ dotted_order, cost }])),
  ).below;
  const took = ({ run }: Branch): number | null => (run.end_us === null ? null : run.end_us - run.start_us);
  return [
    { title: "RUN", cell: ({ run, rails }) => `${rails}${oneLine(run.name ?? run.id)}`, least: 16 },
    { title: "TYPE", cell: ({ run }) => run.run_type ?? "" },
    { title: "TIME", cell: (branch) => latency(took(branch)), right: true },
    { title: "STATUS", cell: ({ run }) => run.status },
    { title: "TOKENS", cell: ({ run }) => tokens(run), right: true, optional: true },
    {
      title: "COST",
      cell: ({ run }) => {
        const cost = costs.get(run.dotted_order);
        return cost === undefined ? "" : dollars(cost);
      },
      right: true,
      optional: true,
    },
    { title: "ERROR", cell: ({ run }) => run.error ?? "", least: 10, optional: true },
    { title: "WHEN", cell: ({ run }) => bar(run, from, to - from), optional: true },
  ];
}

/** At least one character, so that the shortest run stays visible. */
function bar({ start_us: start, end_us: end }: SpanSummary, from: number, length: number): string {
  const at = (time: number): number => (length <= 0 ? 0 : Math.round(((time - from) / length) * BAR_COLUMNS));
  const begin = Math.min(at(start), BAR_COLUMNS - 1);
  return `${"·".repeat(begin)}${"█".repeat(Math.max(1, at(end ?? start) - begin))}`.padEnd(BAR_COLUMNS, "·");
}
