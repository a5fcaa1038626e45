// Trace store: the embedded tracing backend's data as a service: open, write, read, sweep.
import type { Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { openDatabase, type Database } from "./database.ts";
import {
  createTraceQueries,
  type TraceFile,
  type TracePage,
  type TraceProject,
  type TraceQueries,
  type TraceSearch,
} from "./query.ts";
import type { RunChange } from "./run-change.ts";
import { createSealedCells } from "./sealed-cells.ts";
import type { TraceConfig } from "./settings.ts";
import { claimTraceKeys, type KeyMarks } from "./trace-keys.ts";
import { createTraceWriter, type TraceWriter, type Written } from "./write.ts";

/** The port of the read API and of uploads. Two adapters: this file on SQLite, and postgres/ for many processes. */
export interface TraceStore extends Service {
  /** Durable when it resolves. */
  write(changes: readonly RunChange[]): Promise<Written>;
  deleteTrace(traceId: string): Promise<boolean>;
  /** What was deleted is in no file of the embedded store any more. */
  scrub(): Promise<void>;
  search(search: TraceSearch): Promise<TracePage>;
  /** JSON text `{"trace": …, "runs": […]}`, runs in tree order; null for an unknown trace. */
  trace(traceId: string): Promise<string | null>;
  /** JSON text of one run with all its fields; null for an unknown run. */
  run(runId: string): Promise<string | null>;
  attachment(runId: string, name: string): Promise<TraceFile | null>;
  projects(): Promise<readonly TraceProject[]>;
  /** Null, or the reason why writes fail. */
  readonly problem: () => string | null;
}

export interface TraceStorePorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Seals what runs contain; null without encryption. */
  readonly ring: Keyring | null;
}

function keyMarks(db: Database): KeyMarks {
  const cells = ["runs.main", "attachments.bytes", "traces.error", "traces.input", "traces.output"];
  return {
    add: (id, proof) => db.run("INSERT INTO keys (id, proof) VALUES (?, ?)", id, proof),
    remove: (id) => db.run("DELETE FROM keys WHERE id = ?", id),
    isUsed: (beginning) =>
      cells.some((cell) => {
        const [table = "", column = ""] = cell.split(".");
        const sql = `SELECT 1 FROM ${table} WHERE CAST(substr(${column}, 1, ?) AS TEXT) = ? LIMIT 1`;
        return db.get(sql, beginning.length, beginning) !== null;
      }),
  };
}

export interface LocalTraceStore extends TraceStore {
  readonly totals: TraceWriter["totals"];
}

const SWEEP_EVERY_MS = 60_000;
/** Beyond it, the least recently changed traces go. */
const RUNS_MAX = 200_000;

export function createTraceStore(
  folder: string,
  config: Pick<TraceConfig, "traceBytesMax" | "traceAgeMax" | "search"> & { readonly runsMax?: number },
  ports: TraceStorePorts,
): LocalTraceStore {
  const { clock, log, ring } = ports;
  let open: { readonly db: Database; readonly writer: TraceWriter; readonly queries: TraceQueries } | null = null;
  let cancelSweep: () => void = () => undefined;
  const opened = (): NonNullable<typeof open> => {
    if (open === null) throw new Error("the trace store is not open");
    return open;
  };

  const sweep = (): void => {
    try {
      const expired = opened().writer.expire(clock.now() - config.traceAgeMax);
      if (expired > 0) log.info("traces_expired", { traces: expired });
      opened().db.run("PRAGMA incremental_vacuum(1000)");
    } catch (error) {
      log.warning("trace_sweep_failed", { reason: describeError(error).message });
    }
    cancelSweep = clock.after(SWEEP_EVERY_MS, sweep);
  };

  return {
    name: "traces",
    async start() {
      const db = openDatabase(folder, clock, log);
      const bounds = { runsMax: config.runsMax ?? RUNS_MAX, bytesMax: config.traceBytesMax };
      const contents = { cells: createSealedCells(ring), isSearched: config.search ?? ring === null };
      try {
        await claimTraceKeys(db.all("SELECT id, proof FROM keys"), keyMarks(db), ports);
      } catch (error) {
        db.close();
        throw error;
      }
      open = { db, writer: createTraceWriter(db, bounds, contents), queries: createTraceQueries(db, contents) };
      cancelSweep = clock.after(SWEEP_EVERY_MS, sweep);
    },
    async stop() {
      cancelSweep();
      open?.db.close();
      open = null;
    },
    async write(changes) {
      const written = opened().writer.write(changes, clock.now());
      if (written.evictedTraces > 0) log.debug("traces_evicted", { traces: written.evictedTraces });
      if (written.dropped > 0) log.warning("trace_runs_dropped", { runs: written.dropped });
      return written;
    },
    deleteTrace: async (traceId) => opened().writer.deleteTrace(traceId),
    scrub: async () => opened().db.scrub(),
    problem: () => opened().db.problem(),
    totals: () => opened().writer.totals(),
    search: async (search) => opened().queries.search(search),
    trace: async (traceId) => opened().queries.trace(traceId),
    run: async (runId) => opened().queries.run(runId),
    attachment: async (runId, name) => opened().queries.attachment(runId, name),
    projects: async () => opened().queries.projects(),
  };
}
