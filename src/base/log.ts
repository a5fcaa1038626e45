// Log: one line an event, for a machine (JSON) or a person, on one stream.
// Invariants:
//   L1. A known secret never appears in a line, whatever field it hides in.
//   L2. Logging never throws.

export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Readonly<Record<string, unknown>>;

/** `log.info("run_finished", { run_id, duration_ms })`: the event is a constant name, the rest are fields. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warning(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly json: boolean;
  readonly secrets: readonly string[];
  readonly now: () => number;
  readonly write: (line: string) => void;
}

export function createLog(options: LogOptions): Log {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const emit = (level: LogLevel, event: string, fields: LogFields = {}): void => {
    if (LOG_LEVELS.indexOf(level) < threshold) return;
    try {
      const time = new Date(options.now()).toISOString();
      const line = options.json
        ? JSON.stringify({ time, level, event, ...fields })
        : `${time.slice(11, 23)} ${level.padEnd(7)} ${event}${readable(fields)}`;
      options.write(`${mask(line, options.secrets)}\n`); // L1
    } catch {
      options.write(`{"level":"error","event":"log_failed","of":${JSON.stringify(event)}}\n`); // L2
    }
  };
  return {
    debug: (event, fields) => emit("debug", event, fields),
    info: (event, fields) => emit("info", event, fields),
    warning: (event, fields) => emit("warning", event, fields),
    error: (event, fields) => emit("error", event, fields),
  };
}

function readable(fields: LogFields): string {
  let line = "";
  for (const [name, value] of Object.entries(fields)) {
    const shown = typeof value === "string" && !/[\s"=]/.test(value) ? value : JSON.stringify(value);
    line += ` ${name}=${shown}`;
  }
  return line;
}

/** Replaces every known secret, as it stands and as JSON escapes it. */
export function mask(line: string, secrets: readonly string[]): string {
  let masked = line;
  for (const secret of secrets) {
    masked = masked.replaceAll(secret, "***").replaceAll(JSON.stringify(secret).slice(1, -1), "***");
  }
  return masked;
}
