// Trace rows: the traces of one upload, with the sums of their runs. The upload holds their locks, so the sums are
// absolute.
import type { WordBag } from "@holdpoint/api/text/search-words.ts";
import {
  addWords,
  hashTag,
  isAgentSpan,
  listTags,
  readNames,
  type MergedRun,
  type Row,
  type StoredRun,
} from "../merged-run.ts";
import type { RunChange } from "../run-change.ts";
import { DAY } from "./query.ts";
import { putRows, type Sql } from "./sql.ts";

/** Limits of one trace. */
export interface TraceBounds {
  readonly runsMax: number;
  readonly bytesMax: number;
}

export interface Clocked {
  readonly now: number;
  /** Day of traces that are new, as `2026-11-28`. */
  readonly today: string;
  /** The store keeps the words of traces. */
  readonly isSearched: boolean;
}

export interface TraceRow {
  readonly traceId: string;
  readonly day: string;
  isRecosted: boolean;
  isRetold: boolean;
}

export interface TraceRows {
  dayOf(traceId: string): string;
  /** @returns false for a run that its trace has no room for */
  add(run: MergedRun, before: StoredRun | null, change: RunChange): boolean;
  changed(): readonly TraceRow[];
  /** Writes the changed ones. */
  put(): Promise<void>;
}

interface Sums extends TraceRow {
  project: string;
  name: string;
  started: number;
  ended: number | null;
  runs: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  bytes: number;
  threadId: string | null;
  /** Without a result, a late run may be it. */
  lacksResult: boolean;
  isChanged: boolean;
  words: WordBag | undefined;
  readonly models: Set<string>;
  readonly labels: Set<string>;
}

const LATE_RUNS_MAX = 1000;

export async function createTraceRows(
  sql: Sql,
  traceIds: readonly string[],
  bounds: TraceBounds,
  { now, today, isSearched }: Clocked,
): Promise<TraceRows> {
  const text = `SELECT *, ${DAY}, array_to_json(models)::text AS models FROM holdpoint_traces.traces
    WHERE trace_id = ANY($1::text[])`;
  const rows = await sql.all(text.replace("*", COLUMNS), traceIds);
  const traces = new Map(rows.map((row) => [String(row["trace_id"]), readSums(row)]));
  const changed = (): readonly Sums[] => [...traces.values()].filter(({ isChanged }) => isChanged);
  return {
    dayOf: (traceId) => traces.get(traceId)?.day ?? today,
    changed,
    add(run, before, change) {
      const trace = traces.get(run.traceId) ?? newSums(run, today);
      const isFull = trace.bytes + run.share.bytes > bounds.bytesMax || trace.runs >= bounds.runsMax;
      if (before === null && isFull) return false;
      traces.set(run.traceId, trace);
      addRun(trace, run, before);
      if (isSearched) trace.words = addWords(trace.words, change);
      return true;
    },
    async put() {
      const values = changed().map((trace) => [
        trace.day,
        trace.traceId,
        trace.project,
        trace.name,
        "incomplete",
        trace.started,
        trace.ended,
        0,
        trace.runs,
        trace.errors,
        trace.inputTokens,
        trace.outputTokens,
        trace.bytes,
        trace.threadId,
        now,
        [...trace.models].toSorted(),
        [...trace.labels],
        [...(trace.words?.words() ?? [])],
      ]);
      await putRows(sql, (tuples) => PUT(withVectors(tuples)), values);
    },
  };
}

const COLUMNS =
  "trace_id, project, name, status, started, ended, runs, errors, input_tokens, output_tokens, bytes, thread_id, output";
const WORDS_MAX = 10_000;

const PUT = (values: string): string => `
  INSERT INTO holdpoint_traces.traces AS t (day, trace_id, project, name, status, started, ended, waited, runs, errors,
         input_tokens, output_tokens, bytes, thread_id, touched_at, models, labels, words)
       VALUES ${values}
  ON CONFLICT (trace_id, day) DO UPDATE SET
         project = excluded.project, name = excluded.name, started = excluded.started, ended = excluded.ended,
         runs = excluded.runs, errors = excluded.errors, input_tokens = excluded.input_tokens,
         output_tokens = excluded.output_tokens, bytes = excluded.bytes, thread_id = excluded.thread_id,
         touched_at = greatest(t.touched_at, excluded.touched_at), models = excluded.models,
         labels = CASE WHEN t.labels @> excluded.labels THEN t.labels
                       ELSE ARRAY(SELECT DISTINCT unnest(t.labels || excluded.labels)) END,
         words = CASE WHEN length(t.words) >= ${WORDS_MAX} THEN t.words ELSE t.words || excluded.words END`;

/** The last value of a tuple is a list of words. */
function withVectors(tuples: string): string {
  return tuples.replace(/(\$\d+)\)/g, "array_to_tsvector($1::text[]))");
}

function readSums(row: Row): Sums {
  const number = (name: string): number => Number(row[name]);
  const text = (name: string): string | null => (typeof row[name] === "string" ? row[name] : null);
  return {
    traceId: String(row["trace_id"]),
    day: String(row["day"]),
    project: String(row["project"]),
    name: String(row["name"]),
    started: number("started"),
    ended: row["ended"] === null ? null : number("ended"),
    runs: number("runs"),
    errors: number("errors"),
    inputTokens: number("input_tokens"),
    outputTokens: number("output_tokens"),
    bytes: number("bytes"),
    threadId: text("thread_id"),
    lacksResult: row["status"] === "success" && row["output"] === null,
    models: new Set(JSON.parse(String(row["models"])) as readonly string[]),
    labels: new Set(),
    words: undefined,
    isChanged: false,
    isRecosted: false,
    isRetold: false,
  };
}

function newSums({ traceId, main, share }: MergedRun, day: string): Sums {
  return {
    traceId,
    day,
    ...readNames(main),
    started: share.start,
    ended: share.end,
    runs: 0,
    errors: 0,
    inputTokens: 0,
    outputTokens: 0,
    bytes: 0,
    threadId: null,
    lacksResult: false,
    isChanged: false,
    isRecosted: false,
    isRetold: false,
    words: undefined,
    models: new Set(),
    labels: new Set(),
  };
}

/** The difference between the run's former and present share. */
function addRun(trace: Sums, run: MergedRun, before: StoredRun | null): void {
  const { share, main } = run;
  const isRoot = main["parent_run_id"] === undefined;
  trace.isChanged = true;
  trace.runs += before === null ? 1 : 0;
  trace.errors += Number(share.status === "error") - Number(before?.share.status === "error");
  trace.inputTokens += share.facts.inputTokens - (before?.share.facts.inputTokens ?? 0);
  trace.outputTokens += share.facts.outputTokens - (before?.share.facts.outputTokens ?? 0);
  trace.bytes += share.bytes - (before?.share.bytes ?? 0);
  trace.threadId ??= share.facts.threadId;
  if (share.end !== null) trace.ended = Math.max(trace.ended ?? share.end, share.end);
  trace.started = isRoot ? share.start : Math.min(trace.started, share.start);
  if (isRoot) Object.assign(trace, readNames(main));
  if (share.facts.model !== null) trace.models.add(share.facts.model);
  for (const tag of listTags(run)) trace.labels.add(hashTag(tag));
  trace.isRecosted ||= share.facts.cost !== (before?.share.facts.cost ?? null);
  trace.isRetold ||= isRoot || isAgentSpan(share) || (trace.lacksResult && trace.runs <= LATE_RUNS_MAX);
}
