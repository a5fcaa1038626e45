// Log: one line per event, as JSON for machines or text for people, on one stream.
// Invariants:
//   log.1. A known secret never appears in a line, in any field.
//   log.2. Logging never throws.
//   log.3. Fields never change a line's time, level or event, and never control a terminal.

export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Readonly<Record<string, unknown>>;

/** `log.info("run_finished", { run_id, duration_ms })`: a constant event name, then fields. */
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
  const secrets = maskOrder(options.secrets);
  const emit = (level: LogLevel, event: string, fields: LogFields = {}): void => {
    if (LOG_LEVELS.indexOf(level) < threshold) return;
    try {
      const time = new Date(options.now()).toISOString();
      const head = { time, level, event };
      const line = options.json
        ? JSON.stringify({ ...head, ...fields, ...head }, plain) // log.3; the first `head` keeps it in front
        : `${time.slice(11, 23)} ${level.padEnd(7)} ${event}${readable(fields)}`;
      options.write(`${maskWith(line, secrets)}\n`); // log.1
    } catch {
      try {
        options.write(`{"level":"error","event":"log_failed","of":${JSON.stringify(event)}}\n`);
      } catch {
        return; // log.2: no channel is left to report it
      }
    }
  };
  return {
    debug: (event, fields) => emit("debug", event, fields),
    info: (event, fields) => emit("info", event, fields),
    warning: (event, fields) => emit("warning", event, fields),
    error: (event, fields) => emit("error", event, fields),
  };
}

/** Values that JSON cannot represent, or represents as `{}`, become text. */
function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return value;
}

function readable(fields: LogFields): string {
  let line = "";
  for (const [name, value] of Object.entries(fields)) {
    const shown =
      typeof value === "string" && !/[\s"=\u0000-\u001f]/.test(value) ? value : JSON.stringify(value, plain);
    line += ` ${name}=${shown}`;
  }
  return line.replace(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`); // log.3
}

/** Masks every known secret, raw and as JSON escapes it. */
export function mask(line: string, secrets: readonly string[]): string {
  return maskWith(line, maskOrder(secrets));
}

/** Longest first: masking a secret that is a prefix of another must not leave the rest readable. */
function maskOrder(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return forms.filter((form) => form !== "").sort((a, b) => b.length - a.length);
}

function maskWith(line: string, forms: readonly string[]): string {
  return forms.reduce((masked, form) => masked.replaceAll(form, "***"), line);
}
