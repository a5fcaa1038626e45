// Replies: rows of either store as the objects of the read API. Pure.
// Invariants:
//   replies.1. A trace's reply consists of texts stored with its runs: a read parses nothing.
//   replies.2. A root without an output of its own shows the final one with the run that it comes from: uploaded fields
//        stay as uploaded.
import type { TraceItem, TraceStatus } from "@holdpoint/api/traces/traces.ts";
import { computeTraceCosts } from "@holdpoint/api/traces/trace-costs.ts";
import type { Row } from "./merged-run.ts";
import { FIELDS } from "./run-change.ts";

export const TRACE_COLUMNS =
  "trace_id, project, name, status, error, started, latency, runs, errors, input_tokens, output_tokens, cost, thread_id, waited, waiting_since, input, output";

/** @param row of TRACE_COLUMNS, and `models` as JSON */
export function toTraceItem(row: Row): TraceItem {
  return {
    trace_id: String(row["trace_id"]),
    project: String(row["project"]),
    name: String(row["name"]),
    status: String(row["status"]) as TraceStatus,
    error: textOrNull(row["error"]),
    start_us: Number(row["started"]),
    latency_us: numberOrNull(row["latency"]),
    wait_us: Number(row["waited"]),
    waiting_since_us: numberOrNull(row["waiting_since"]),
    input: textOrNull(row["input"]),
    output: textOrNull(row["output"]),
    runs: Number(row["runs"]),
    errors: Number(row["errors"]),
    input_tokens: Number(row["input_tokens"]),
    output_tokens: Number(row["output_tokens"]),
    cost: numberOrNull(row["cost"]),
    thread_id: textOrNull(row["thread_id"]),
    models: JSON.parse(String(row["models"])) as readonly string[],
  };
}

/** replies.1 */
export function formatTrace(trace: TraceItem, runs: readonly Row[]): string {
  return `{"trace":${JSON.stringify(trace)},"runs":[${runs.map(({ summary }) => String(summary)).join(",")}]}`;
}

export interface RunReply {
  /** With `dotted_order`, `summary` and the fields. */
  readonly row: Row;
  /** Name, type and bytes of attachments. */
  readonly files: readonly Row[];
  /** Order and cost of the run and those below it that have one. */
  readonly costs: readonly Row[];
  /** `run_id`, `name` and `outputs` of the run with the final output; null without. */
  readonly final: Row | null;
}

export function formatRun({ row, files, costs, final }: RunReply): string {
  const { error: _short, ...summary } = JSON.parse(String(row["summary"])) as Record<string, unknown>;
  const costed = costs.map((one) => ({ dotted_order: String(one["dotted_order"]), cost: Number(one["cost"]) }));
  const total = computeTraceCosts(costed).below.get(String(row["dotted_order"])) ?? null;
  const head = JSON.stringify({
    ...summary,
    ...(total === null ? {} : { total_cost: total }),
    ...(files.length === 0 ? {} : { attachments: files }),
  });
  const fields = FIELDS.flatMap((field) => (typeof row[field] === "string" ? [`,"${field}":${row[field]}`] : []));
  const [id, name] = [JSON.stringify(final?.["run_id"]), JSON.stringify(final?.["name"])];
  const result =
    final === null ? "" : `,"final_output":{"run_id":${id},"name":${name},"outputs":${String(final["outputs"])}}`; // replies.2
  return `${head.slice(0, -1)}${fields.join("")}${result}}`;
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);
