// Recent log: a log that also keeps its newest warnings and errors in memory, for the console.
import type { Log, LogFields } from "./log.ts";

export interface LogEntry {
  readonly at: string;
  readonly level: "warning" | "error";
  readonly event: string;
  readonly fields: LogFields;
}

export interface RecentLog extends Log {
  /** Newest first, at most `entriesMax`. */
  readonly recent: () => readonly LogEntry[];
}

export function createRecentLog(log: Log, entriesMax: number, now: () => number): RecentLog {
  let entries: readonly LogEntry[] = [];
  const keep = (level: LogEntry["level"], event: string, fields: LogFields = {}): void => {
    entries = [{ at: new Date(now()).toISOString(), level, event, fields }, ...entries].slice(0, entriesMax);
    log[level](event, fields);
  };
  return {
    debug: (event, fields) => log.debug(event, fields),
    info: (event, fields) => log.info(event, fields),
    warning: (event, fields) => keep("warning", event, fields),
    error: (event, fields) => keep("error", event, fields),
    recent: () => entries,
  };
}
