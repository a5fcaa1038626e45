// GenAI metrics: tokens, durations and costs of the runs that go to the backend, under the names and with the buckets of
// OpenTelemetry's GenAI conventions, as Prometheus writes them.
// Invariants:
//   - Senders choose models, providers and projects, so their number has a bound: beyond SERIES_MAX sets of labels, a
//     new one counts under `other`. A label has at most LABEL_CHARS_MAX characters.
//   - A run that is sent again with more content counts once for each of tokens, duration and cost.
//   - Only model calls have tokens and costs: those of an agent are a sum over its calls.
import { Counter, type Registry } from "prom-client";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { type Bins, countedHistogram, createBins, observe } from "./counted-histogram.ts";
import type { Prices, Tokens } from "./prices.ts";
import type { TraceRun } from "../shared/trace-run.ts";

export interface GenAiMetrics {
  /** @returns the cost of the run in US dollars that has not counted before */
  readonly count: (run: TraceRun) => number;
}

const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const SECOND_BUCKETS = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);
const LABELS = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "project"] as const;

type Labels = Readonly<Record<(typeof LABELS)[number], string>>;

const SERIES_MAX = 500;
const LABEL_CHARS_MAX = 100;
const OTHER = "other";
const OTHERS: Labels = {
  gen_ai_operation_name: OTHER,
  gen_ai_provider_name: OTHER,
  gen_ai_request_model: OTHER,
  project: OTHER,
};
/** Runs that can be sent again: at least so many, at most twice. */
const RUNS_KEPT = 5_000;
/** More is no count, and would spoil the sums. */
const TOKENS_MAX = 1e9;
const USD_MAX = 100_000;
const SECONDS_MAX = 7 * 86_400;

const TOKENS = 1;
const DURATION = 2;
const COST = 4;

/** What one set of labels has counted. */
interface Series {
  readonly labels: Labels;
  readonly input: Bins;
  readonly output: Bins;
  readonly seconds: Bins;
  readonly usd: { sender: number; table: number };
}

export function createGenAiMetrics(registry: Registry, prices: Prices): GenAiMetrics {
  const all: Series[] = [];
  countedHistogram(registry, {
    name: "gen_ai_client_token_usage",
    help: "Tokens of model calls, by input and output.",
    bounds: TOKEN_BUCKETS,
    read: () =>
      all.flatMap(({ input, labels, output }) => [
        { labels: { ...labels, gen_ai_token_type: "input" }, bins: input },
        { labels: { ...labels, gen_ai_token_type: "output" }, bins: output },
      ]),
  });
  countedHistogram(registry, {
    name: "gen_ai_client_operation_duration_seconds",
    help: "Duration of operations of generative AI.",
    bounds: SECOND_BUCKETS,
    read: () => all.map(({ labels, seconds }) => ({ labels, bins: seconds })),
  });
  registerCosts(registry, all);
  const find = createFinder(all);
  const counted = createCounted();
  return {
    count(run) {
      const call = readCall(run);
      if (run.isAdded === true) counted(run, 0); // the run that belongs there amends it
      if (call === null) return 0;
      const series = find(call.labels);
      const byTable = call.reported === null && call.tokens !== null ? prices.cost(call.model, call.tokens) : null;
      const usd = call.reported ?? byTable;
      const before = counted(run, DURATION | (call.tokens === null ? 0 : TOKENS) | (usd === null ? 0 : COST));
      if ((before & DURATION) === 0) observe(series.seconds, SECOND_BUCKETS, call.seconds);
      if (call.tokens !== null && (before & TOKENS) === 0) {
        observe(series.input, TOKEN_BUCKETS, call.tokens.input);
        if (call.tokens.output > 0) observe(series.output, TOKEN_BUCKETS, call.tokens.output);
      }
      if (usd === null || (before & COST) !== 0) return 0;
      series.usd[byTable === null ? "sender" : "table"] += usd;
      return usd;
    },
  };
}

function registerCosts(registry: Registry, all: readonly Series[]): void {
  const cost = new Counter({
    name: "gen_ai_cost_usd_total",
    help: "Cost of model calls: as the sender reported it, or by the table of PRICES_FILE.",
    labelNames: [...LABELS, "source"],
    registers: [],
    collect() {
      this.reset();
      for (const { labels, usd } of all)
        for (const source of ["sender", "table"] as const)
          if (usd[source] > 0) this.inc({ ...labels, source }, usd[source]);
    },
  });
  registry.registerMetric(cost);
}

function createFinder(all: Series[]): (labels: Labels) => Series {
  const known = new Map<string, Series>();
  const add = (labels: Labels): Series => {
    const [input, output] = [createBins(TOKEN_BUCKETS), createBins(TOKEN_BUCKETS)];
    const series = { labels, input, output, seconds: createBins(SECOND_BUCKETS), usd: { sender: 0, table: 0 } };
    all.push(series);
    return series;
  };
  let others: Series | null = null;
  return (labels) => {
    const key = `${labels.gen_ai_operation_name}\0${labels.gen_ai_provider_name}\0${labels.gen_ai_request_model}\0${labels.project}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= SERIES_MAX) return (others ??= add(OTHERS));
    const made = add(labels);
    known.set(key, made);
    return made;
  };
}

/** Returns the parts of a run that have counted before, and notes the new ones. */
function createCounted(): (run: TraceRun, parts: number) => number {
  let [counted, older] = [new Map<string, number>(), new Map<string, number>()];
  return ({ amends, id, isAdded }, parts) => {
    // Sent again, after its first counts were forgotten: nothing more counts.
    const before = amends ? (counted.get(id) ?? older.get(id) ?? TOKENS | DURATION | COST) : 0;
    if (isAdded !== true && (parts & ~before) === 0) return before;
    if (counted.size >= RUNS_KEPT) [counted, older] = [new Map(), counted];
    counted.set(id, before | parts);
    return before;
  };
}

interface Call {
  readonly labels: Labels;
  readonly model: string;
  readonly seconds: number;
  /** null: no model call, or one without counts. */
  readonly tokens: Tokens | null;
  /** Cost of the sender, in US dollars. */
  readonly reported: number | null;
}

/** Operations of the conventions, as labels. */
const OPERATIONS: ReadonlySet<string> = new Set([
  "chat",
  "create_agent",
  "embeddings",
  "execute_tool",
  "generate_content",
  "invoke_agent",
  "invoke_workflow",
  "plan",
  "retrieval",
  "text_completion",
]);
const OPERATION_OF_TYPE: Readonly<Partial<Record<string, string>>> = {
  llm: "chat",
  embedding: "embeddings",
  tool: "execute_tool",
  retriever: "retrieval",
};

/** null: no operation of generative AI. */
function readCall({ content }: TraceRun): Call | null {
  const { call, runType, sessionName } = content;
  const byType = call.isCompletion ? "text_completion" : OPERATION_OF_TYPE[runType];
  const operation = OPERATIONS.has(call.operation) ? call.operation : byType;
  if (operation === undefined) return null;
  const model = asLabel(call.model);
  const isCall = runType === "llm" || runType === "embedding";
  const used = isCall ? call.usage : null;
  return {
    labels: {
      gen_ai_operation_name: operation,
      gen_ai_provider_name: asLabel(call.provider),
      gen_ai_request_model: asLabel(call.requestModel) || model,
      project: asLabel(sessionName),
    },
    model: model || asLabel(call.requestModel),
    seconds: Math.min(SECONDS_MAX, Math.max(0, call.seconds)),
    tokens: used === null ? null : readTokens(used),
    reported: used === null ? null : readReported(used),
  };
}

function asLabel(value: string): string {
  return value.length <= LABEL_CHARS_MAX ? value.toWellFormed() : OTHER;
}

function readTokens(usage: JsonObject): Tokens | null {
  const { input_token_details: given } = usage;
  const details = isJsonObject(given) ? given : {};
  const input = readNumber(usage["input_tokens"], TOKENS_MAX);
  const output = readNumber(usage["output_tokens"], TOKENS_MAX);
  if (input === null && output === null) return null;
  return {
    input: input ?? 0,
    output: output ?? 0,
    cacheRead: readNumber(details["cache_read"], TOKENS_MAX) ?? 0,
    cacheCreation: readNumber(details["cache_creation"], TOKENS_MAX) ?? 0,
  };
}

function readReported(usage: JsonObject): number | null {
  const total = readNumber(usage["total_cost"], USD_MAX);
  const [input, output] = [readNumber(usage["input_cost"], USD_MAX), readNumber(usage["output_cost"], USD_MAX)];
  return total ?? (input === null && output === null ? null : (input ?? 0) + (output ?? 0));
}

function readNumber(value: Json | undefined, max: number): number | null {
  return typeof value === "number" && value >= 0 && value <= max ? value : null;
}
