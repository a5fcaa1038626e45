// Write: one upload → rows, in one transaction and a bounded number of statements.
// The pieces:
//   trace-rows.ts  the traces of an upload with the sums of their runs
//   write.ts       the transaction
// Invariants:
//   postgres/write.1. Writers of one trace, in any number of processes, come one after the other: each holds the locks of
//        its traces before it reads them. Locks are taken in one order.
//   - The result is that of write.ts: fields merge in any order, sums are those of the runs.
import { createHash } from "node:crypto";
import { computeTraceCosts } from "@holdpoint/api/traces/trace-costs.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import { mergeRun, placeRun, toStoredRun, type MergedRun, type StoredRun } from "../merged-run.ts";
import { formatPreview } from "../preview.ts";
import { FIELDS, type Attachment, type RunChange } from "../run-change.ts";
import { clipped } from "../run-share.ts";
import { readFileSizes, readOpened, type SealedCells } from "../sealed-cells.ts";
import { tellStory } from "../story.ts";
import type { Written } from "../write.ts";
import { FILE_SIZE, readStory } from "./query.ts";
import { putRows, type Sql, type TraceSql } from "./sql.ts";
import { createTraceRows, type Clocked, type TraceBounds, type TraceRow, type TraceRows } from "./trace-rows.ts";

/** Bounds the locks of one upload; two traces may share one. */
const LOCKS = 256;
const LOCK_CLASS = 0x7472;

export async function writeChanges(
  db: TraceSql,
  changes: readonly RunChange[],
  bounds: TraceBounds,
  at: Clocked & { readonly cells: SealedCells },
): Promise<Written> {
  const { cells } = at;
  return db.transaction(async (sql) => {
    const runIds = [...new Set(changes.map(({ runId }) => runId))];
    const traceIds = await findTraces(sql, changes, runIds);
    await lockTraces(sql, traceIds); // postgres/write.1
    const traces = await createTraceRows(sql, traceIds, bounds, at);
    const { stored, unreadable } = await readRuns(sql, cells, runIds);
    const files = await readFiles(sql, cells, runIds);
    const put = new Map<string, MergedRun>();
    const kept: RunChange[] = [];
    for (const change of changes) {
      const before = stored.get(change.runId) ?? null;
      const placed = placeRun(before, change);
      if (placed === null || unreadable.has(change.runId)) continue; // sealed-cells.2
      const sizes = new Map(files.get(change.runId));
      for (const { name, bytes } of change.attachments) sizes.set(name, bytes.length);
      const run = mergeRun(
        placed,
        before,
        change,
        [...sizes.values()].reduce((sum, size) => sum + size, 0),
      );
      if (!traces.add(run, before, change)) continue;
      files.set(run.runId, sizes);
      stored.set(run.runId, run);
      put.set(run.runId, run);
      kept.push(change);
    }
    await putRuns(sql, cells, [...put.values()], traces);
    await putFiles(sql, sealFiles(cells, kept), put, traces);
    await traces.put();
    await finishTraces(sql, cells, traces);
    return { stored: kept.length, dropped: changes.length - kept.length, evictedTraces: 0 };
  });
}

/** For patches that name no trace, those of the stored runs. */
async function findTraces(
  sql: Sql,
  changes: readonly RunChange[],
  runIds: readonly string[],
): Promise<readonly string[]> {
  const named = changes.flatMap(({ main }) => (typeof main["trace_id"] === "string" ? [main["trace_id"]] : []));
  const isWhole = changes.every(({ main }) => typeof main["trace_id"] === "string");
  const rows = isWhole
    ? []
    : await sql.all("SELECT DISTINCT trace_id FROM holdpoint_traces.runs WHERE run_id = ANY($1::text[])", runIds);
  return [...new Set([...named, ...rows.map((row) => String(row["trace_id"]))])];
}

/** postgres/write.1. Also held while a trace is deleted. */
export async function lockTraces(sql: Sql, traceIds: readonly string[]): Promise<void> {
  const numbers = traceIds.map((id) => createHash("sha256").update(id).digest().readUInt16BE(0) % LOCKS);
  const sorted = [...new Set(numbers)].toSorted((a, b) => a - b).map(String);
  await sql.all(
    "SELECT pg_advisory_xact_lock($1::int, n) FROM unnest($2::int[]) WITH ORDINALITY AS t (n, at) ORDER BY at",
    LOCK_CLASS,
    sorted,
  );
}

interface StoredRuns {
  readonly stored: Map<string, StoredRun>;
  /** Ids of stored runs that do not open. */
  readonly unreadable: ReadonlySet<string>;
}

async function readRuns(sql: Sql, cells: SealedCells, runIds: readonly string[]): Promise<StoredRuns> {
  const columns = `run_id, trace_id, main, facts, ${FIELDS.join(", ")}`;
  const rows = await sql.all(`SELECT ${columns} FROM holdpoint_traces.runs WHERE run_id = ANY($1::text[])`, runIds);
  const stored = new Map(readOpened(rows, (row) => [String(row["run_id"]), toStoredRun(cells.open("runs", row))]));
  const ids = rows.map((row) => String(row["run_id"]));
  return { stored, unreadable: new Set(ids.filter((id) => !stored.has(id))) };
}

/** Bytes of the attachments of each run, by name. */
async function readFiles(
  sql: Sql,
  cells: SealedCells,
  runIds: readonly string[],
): Promise<Map<string, Map<string, number>>> {
  const text = `SELECT run_id, name, ${FILE_SIZE} FROM holdpoint_traces.attachments
    WHERE run_id = ANY($1::text[])`;
  const found = new Map<string, Map<string, number>>();
  for (const row of readFileSizes(cells, await sql.all(text, runIds))) {
    const id = String(row["run_id"]);
    found.set(id, (found.get(id) ?? new Map<string, number>()).set(String(row["name"]), Number(row["bytes"])));
  }
  return found;
}

const RUN_COLUMNS = ["dotted_order", "bytes", "cost", "facts", "summary", "main", "type", ...FIELDS] as const;

async function putRuns(sql: Sql, cells: SealedCells, runs: readonly MergedRun[], traces: TraceRows): Promise<void> {
  const seal = <T extends string | null>({ runId, traceId }: MergedRun, column: string, cell: T): T =>
    cells.seal("runs", column, [runId, traceId], cell);
  const rows = runs.map((run) => {
    const { runId, traceId, dottedOrder, share, summary, main, fields } = run;
    return [
      traces.dayOf(traceId),
      runId,
      traceId,
      dottedOrder,
      share.bytes,
      share.facts.cost,
      seal(run, "facts", JSON.stringify(share)),
      seal(run, "summary", summary),
      seal(run, "main", JSON.stringify(main)),
      typeof main["run_type"] === "string" ? main["run_type"] : null,
      ...FIELDS.map((field) => seal(run, field, fields[field] ?? null)),
    ];
  });
  const text = (values: string): string =>
    `INSERT INTO holdpoint_traces.runs (day, run_id, trace_id, ${RUN_COLUMNS.join(", ")}) VALUES ${values}
      ON CONFLICT (run_id, day) DO UPDATE SET ${RUN_COLUMNS.map((name) => `${name} = excluded.${name}`).join(", ")}`;
  await putRows(sql, text, rows);
}

type RunFiles = Pick<RunChange, "runId"> & {
  readonly attachments: readonly (Omit<Attachment, "bytes"> & { readonly bytes: Uint8Array })[];
};

function sealFiles(cells: SealedCells, changes: readonly RunChange[]): readonly RunFiles[] {
  return changes.map(({ runId, attachments }) => ({
    runId,
    attachments: attachments.map(({ name, type, bytes }) => {
      return { name, type, bytes: cells.seal("attachments", "bytes", [runId, name], bytes) };
    }),
  }));
}

async function putFiles(
  sql: Sql,
  changes: readonly RunFiles[],
  runs: ReadonlyMap<string, MergedRun>,
  traces: TraceRows,
): Promise<void> {
  for (const { runId, attachments } of changes) {
    const traceId = runs.get(runId)?.traceId ?? "";
    for (const { name, type, bytes } of attachments)
      await sql.all(
        `INSERT INTO holdpoint_traces.attachments (day, run_id, trace_id, name, type, bytes)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (run_id, name, day) DO UPDATE SET type = excluded.type, bytes = excluded.bytes`,
        traces.dayOf(traceId),
        runId,
        traceId,
        name,
        type,
        bytes,
      );
  }
}

/** Costs and stories of the traces whose runs changed them. */
async function finishTraces(sql: Sql, cells: SealedCells, traces: TraceRows): Promise<void> {
  for (const trace of traces.changed()) {
    if (trace.isRecosted) await sumCosts(sql, trace);
    if (trace.isRetold) await retell(sql, cells, trace);
  }
}

async function sumCosts(sql: Sql, { traceId, day }: TraceRow): Promise<void> {
  const text = `SELECT dotted_order, cost FROM holdpoint_traces.runs
    WHERE trace_id = $1 AND day = $2 AND cost IS NOT NULL`;
  const runs = (await sql.all(text, traceId, day)).map((row) => ({
    dotted_order: String(row["dotted_order"]),
    cost: Number(row["cost"]),
  }));
  const { total } = computeTraceCosts(runs);
  await sql.all("UPDATE holdpoint_traces.traces SET cost = $3 WHERE trace_id = $1 AND day = $2", traceId, day, total);
}

async function retell(sql: Sql, cells: SealedCells, { traceId, day }: TraceRow): Promise<void> {
  const story = tellStory(await readStory(sql, cells, { traceId, day }));
  if (story === null) return;
  const ids = [story.newest, story.root, ...(story.result === null ? [] : [story.result])];
  const text = `SELECT run_id, trace_id, error, inputs, outputs FROM holdpoint_traces.runs
    WHERE run_id = ANY($1::text[]) AND day = $2`;
  const rows = await sql.all(text, ids, day);
  const told = new Map(readOpened(rows, (row) => [String(row["run_id"]), cells.open("runs", row)]));
  const seal = (column: string, cell: string | null): string | null => cells.seal("traces", column, [traceId], cell);
  const read = (field: string, runId: string | null): string | null => {
    const value = runId === null ? null : told.get(runId)?.[field];
    return typeof value === "string" ? value : null;
  };
  const [error, inputs, outputs] = [
    read("error", story.newest),
    read("inputs", story.root),
    read("outputs", story.result),
  ];
  await sql.all(
    `UPDATE holdpoint_traces.traces SET status = $3, error = $4, latency = $5, waited = $6, waiting_since = $7,
            input = $8, output = $9 WHERE trace_id = $1 AND day = $2`,
    traceId,
    day,
    story.status,
    seal("error", error === null ? null : clipped(JSON.parse(error) as Json)),
    story.latency,
    story.waited,
    story.waitingSince,
    seal("input", inputs === null ? null : formatPreview(inputs)),
    seal("output", outputs === null ? null : formatPreview(outputs)),
  );
}
