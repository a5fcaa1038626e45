// Trace store on PostgreSQL: many processes, one store. Its limits are the age, by days, and the size of one trace.
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import type { TraceConfig } from "../settings.ts";
import { createSealedCells } from "../sealed-cells.ts";
import type { TraceStore, TraceStorePorts } from "../store.ts";
import { claimTraceKeys, type KeyMarks } from "../trace-keys.ts";
import { createQueries } from "./query.ts";
import { addDays, dropDays, formatDay, migrateTraces } from "./trace-tables.ts";
import type { Sql, TraceSql } from "./sql.ts";
import { lockTraces, writeChanges } from "./write.ts";

const SWEEP_EVERY_MS = 60_000;
/** Share of the limit for one trace, as in the embedded store. */
const TRACE_SHARE_MAX = 0.5;
const TRACE_RUNS_MAX = 200_000;

function keyMarks(sql: Sql): KeyMarks {
  const cells = ["runs.main", "attachments.bytes", "traces.error", "traces.input", "traces.output"];
  return {
    add: (id, proof) =>
      sql.all("INSERT INTO holdpoint_traces.keys VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", id, proof),
    remove: (id) => sql.all("DELETE FROM holdpoint_traces.keys WHERE id = $1", id),
    async isUsed(beginning) {
      for (const cell of cells) {
        const [table = "", column = ""] = cell.split(".");
        const head = column === "bytes" ? "encode(substring(bytes FROM 1 FOR $1), 'escape')" : `left(${column}, $1)`;
        const text = `SELECT 1 FROM holdpoint_traces.${table} WHERE ${head} = $2 LIMIT 1`;
        if ((await sql.all(text, beginning.length, beginning)).length > 0) return true;
      }
      return false;
    },
  };
}

/** @param open once, at start */
export function createSharedTraceStore(
  open: () => Promise<TraceSql>,
  config: Pick<TraceConfig, "traceBytesMax" | "traceAgeMax" | "search">,
  ports: TraceStorePorts,
): TraceStore {
  const { clock, log, ring } = ports;
  const contents = { cells: createSealedCells(ring), isSearched: config.search ?? ring === null };
  let db: TraceSql | null = null;
  const known = new Set<string>();
  let cancelSweep: () => void = () => undefined;
  let problem: string | null = null;
  const opened = (): TraceSql => {
    if (db === null) throw new Error("the trace store is not open");
    return db;
  };
  const queries = createQueries({ all: (sql, ...parameters) => opened().all(sql, ...parameters) }, contents);
  const bounds = { runsMax: TRACE_RUNS_MAX, bytesMax: config.traceBytesMax * TRACE_SHARE_MAX };

  const watched = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const done = await work();
      problem = null;
      return done;
    } catch (error) {
      if (error instanceof ApiError && error.code === "storage_unavailable") problem = error.message;
      throw error;
    }
  };

  const sweep = async (): Promise<void> => {
    try {
      for (const day of await watched(() => addDays(opened(), clock.now()))) known.add(day);
      const days = await dropDays(opened(), clock.now() - config.traceAgeMax);
      if (days.length > 0) log.info("trace_days_dropped", { days });
    } catch (error) {
      log.warning("trace_sweep_failed", { reason: describeError(error).message });
    }
    if (db !== null) cancelSweep = clock.after(SWEEP_EVERY_MS, () => void sweep());
  };

  return {
    name: "traces",
    async start() {
      db = await open();
      await migrateTraces(db).catch((error: unknown) => {
        throw new Error(`the database of the traces (DATABASE_URI) cannot be used: ${describeError(error).message}`, {
          cause: error,
        });
      });
      await claimTraceKeys(await db.all("SELECT id, proof FROM holdpoint_traces.keys"), keyMarks(db), ports);
      for (const day of await addDays(db, clock.now())) known.add(day);
      cancelSweep = clock.after(SWEEP_EVERY_MS, () => void sweep());
    },
    async stop() {
      cancelSweep();
      const closing = db;
      db = null;
      await closing?.close();
    },
    async write(changes) {
      const now = clock.now();
      const today = formatDay(now);
      if (!known.has(today)) for (const day of await addDays(opened(), now)) known.add(day);
      const written = await watched(() => writeChanges(opened(), changes, bounds, { ...contents, now, today }));
      if (written.dropped > 0) log.warning("trace_runs_dropped", { runs: written.dropped });
      return written;
    },
    deleteTrace: (traceId) =>
      opened().transaction(async (sql) => {
        await lockTraces(sql, [traceId]);
        for (const table of ["runs", "attachments"])
          await sql.all(`DELETE FROM holdpoint_traces.${table} WHERE trace_id = $1`, traceId);
        const text = "DELETE FROM holdpoint_traces.traces WHERE trace_id = $1 RETURNING 1 AS gone";
        return (await sql.all(text, traceId)).length > 0;
      }),
    scrub: async () => undefined, // PostgreSQL's own vacuum does it
    problem: () => problem,
    ...queries,
  };
}
