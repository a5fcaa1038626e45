// Trace store: the embedded tracing backend's data as a service: open, write, read, sweep.
import type { Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { openDatabase, type Database } from "./database.ts";
import { createTraceQueries, type TraceQueries } from "./query.ts";
import type { RunChange } from "./run-change.ts";
import type { TraceConfig } from "./settings.ts";
import { createTraceWriter, type TraceWriter, type Written } from "./write.ts";

export interface TraceStore extends Service, TraceQueries {
  /** Durable on return. */
  write(changes: readonly RunChange[]): Written;
  deleteTrace(traceId: string): boolean;
  /** Null, or the reason why writes fail. */
  readonly problem: () => string | null;
  readonly totals: TraceWriter["totals"];
}

const SWEEP_EVERY_MS = 60_000;
/** Beyond it, the least recently changed traces go. */
const RUNS_MAX = 200_000;

export function createTraceStore(
  folder: string,
  config: Pick<TraceConfig, "traceBytesMax" | "traceAgeMax"> & { readonly runsMax?: number },
  ports: { readonly clock: Clock; readonly log: Log },
): TraceStore {
  const { clock, log } = ports;
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
      open = { db, writer: createTraceWriter(db, bounds), queries: createTraceQueries(db) };
      cancelSweep = clock.after(SWEEP_EVERY_MS, sweep);
    },
    async stop() {
      cancelSweep();
      open?.db.close();
      open = null;
    },
    write(changes) {
      const written = opened().writer.write(changes, clock.now());
      if (written.evictedTraces > 0) log.debug("traces_evicted", { traces: written.evictedTraces });
      if (written.dropped > 0) log.warning("trace_runs_dropped", { runs: written.dropped });
      return written;
    },
    deleteTrace: (traceId) => opened().writer.deleteTrace(traceId),
    problem: () => opened().db.problem(),
    totals: () => opened().writer.totals(),
    search: (search) => opened().queries.search(search),
    trace: (traceId) => opened().queries.trace(traceId),
    run: (runId) => opened().queries.run(runId),
    attachment: (runId, name) => opened().queries.attachment(runId, name),
    projects: () => opened().queries.projects(),
  };
}
