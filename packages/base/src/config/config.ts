// Configuration: a table of settings in, one frozen record out. Pure: the environment is an argument.
// Invariants:
//   config.1. Every problem is reported at once, each with the variable's name.
//   config.2. A value that does not fit is never replaced by the default.
//   config.3. Every function here shows a secret as "***" and accepts it as NAME_FILE too. Errors about a secret give
//        no reason, unless the parser supplies one that reveals nothing.
import { isDeepStrictEqual } from "node:util";

export type Env = Readonly<Record<string, string | undefined>>;

/** One environment variable: its name, its parser and its default. */
export interface Setting<T> {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly type: string;
  readonly fallback: T;
  /** The default as operators write it (docs/reference/configuration.md shows this text). */
  readonly fallbackText: string;
  readonly limits: string;
  readonly meaning: string;
  readonly secret: boolean;
  /** @throws {Error} with the reason, without the variable's name. */
  readonly parse: (text: string) => T;
}

export type SettingsTable = Readonly<Record<string, Setting<unknown>>>;
export type Config<Table extends SettingsTable> = {
  readonly [Key in keyof Table]: Table[Key] extends Setting<infer T> ? T : never;
};

export interface ConfigProblem {
  readonly name: string;
  readonly reason: string;
}

export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map((problem) => `${problem.name}: ${problem.reason}`).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Why a secret is invalid, in words that reveal nothing of it. */
export class ShownReason extends Error {}

interface Notes {
  readonly meaning: string;
  readonly aliases?: readonly string[];
  readonly secret?: boolean;
}

export function integer<T extends number | null>(
  name: string,
  fallback: T,
  limits: { readonly min: number; readonly max: number },
  notes: Notes,
): Setting<number | T> {
  const kind = { type: "integer", fallback, limits: `${limits.min} to ${limits.max}` };
  return setting<number | T>(name, kind, notes, (text) => {
    if (!/^[+-]?\d+$/.test(text.trim())) throw new Error(`"${text}" is not a whole number`);
    const value = Number(text) + 0; // "-0" is 0
    if (!Number.isSafeInteger(value) || value < limits.min || value > limits.max)
      throw new Error(`${text} is outside ${limits.min} to ${limits.max}`);
    return value;
  });
}

export function text<T extends string | null>(name: string, fallback: T, notes: Notes): Setting<string | T> {
  return setting<string | T>(name, { type: "text", fallback, limits: "not empty" }, notes, (value) => {
    if (value.trim() === "") throw new Error("is empty");
    if (/[\u0000-\u001f]/.test(value)) throw new Error("contains control characters");
    return value;
  });
}

export function choice<const T extends string>(
  name: string,
  fallback: NoInfer<T>,
  options: readonly T[],
  notes: Notes,
): Setting<T> {
  return setting<T>(name, { type: "choice", fallback, limits: options.join(", ") }, notes, (value) => {
    const match = options.find((option) => option.toLowerCase() === value.trim().toLowerCase());
    if (match === undefined) throw new Error(`"${value}" is not one of ${options.join(", ")}`);
    return match;
  });
}

export function boolean<T extends boolean | null>(name: string, fallback: T, notes: Notes): Setting<boolean | T> {
  return setting<boolean | T>(name, { type: "boolean", fallback, limits: "true or false" }, notes, (value) => {
    const lower = value.trim().toLowerCase();
    if (["true", "1", "yes", "on"].includes(lower)) return true;
    if (["false", "0", "no", "off"].includes(lower)) return false;
    throw new Error(`"${value}" is neither true nor false`);
  });
}

/** From the largest. */
const DURATION_UNITS_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** In the largest whole unit: 90 days → `"90d"`. */
function durationText(milliseconds: number): string {
  if (milliseconds === 0) return "0";
  const [unit = "ms", size = 1] = Object.entries(DURATION_UNITS_MS).find(([, one]) => milliseconds % one === 0) ?? [];
  return `${milliseconds / size}${unit}`;
}

/** `"5m"`, `"7d"`, `"250ms"` or a bare number of milliseconds → milliseconds. */
export function durationMs(
  name: string,
  fallback: number,
  limits: { readonly min: number; readonly max: number },
  notes: Notes,
): Setting<number> {
  const fallbackText = durationText(fallback);
  const kind = { type: "duration", fallback, fallbackText, limits: `${limits.min} to ${limits.max} ms` };
  return setting(name, kind, notes, (value) => {
    const match = /^(\d+)(ms|s|m|h|d)?$/.exec(value.trim());
    if (match === null) throw new Error(`"${value}" is not a duration: write 250ms, 30s, 5m, 2h, 7d or milliseconds`);
    const result = Number(match[1]) * (DURATION_UNITS_MS[match[2] ?? "ms"] ?? 1);
    if (!Number.isSafeInteger(result) || result < limits.min || result > limits.max)
      throw new Error(`${value} is outside ${limits.min} to ${limits.max} ms`);
    return result;
  });
}

/** A setting of a type of its own. @param parse throws {Error} with the reason, a secret's {ShownReason}. */
export function setting<T>(
  name: string,
  kind: Pick<Setting<T>, "type" | "fallback" | "limits"> & { readonly fallbackText?: string },
  notes: Notes,
  parse: (text: string) => T,
): Setting<T> {
  const { type, fallback, limits } = kind;
  return {
    name,
    type,
    fallback,
    fallbackText: kind.fallbackText ?? (fallback === null ? "none" : String(fallback)),
    limits,
    parse,
    meaning: notes.meaning,
    aliases: notes.aliases ?? [],
    secret: notes.secret ?? false,
  };
}

/**
 * @param readFile reads the file that NAME_FILE points to (secrets only).
 * @throws {ConfigError} with every problem found.
 */
export function readConfig<Table extends SettingsTable>(
  env: Env,
  table: Table,
  readFile: (path: string) => string,
): Config<Table> {
  const problems: ConfigProblem[] = [];
  const config: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(table)) {
    const found = lookUp(env, one, readFile, problems);
    if (found === undefined) {
      config[key] = one.fallback;
      continue;
    }
    try {
      config[key] = one.parse(found.text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const shown = !one.secret || error instanceof ShownReason;
      problems.push({ name: found.name, reason: shown ? reason : "the value is invalid (not shown)" }); // config.3
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config) as Config<Table>;
}

function lookUp(
  env: Env,
  one: Setting<unknown>,
  readFile: (path: string) => string,
  problems: ConfigProblem[],
): { readonly name: string; readonly text: string } | undefined {
  for (const name of [one.name, ...one.aliases]) {
    const text = env[name];
    if (text !== undefined && text !== "") return { name, text };
    const path = one.secret ? env[`${name}_FILE`] : undefined;
    if (path === undefined || path === "") continue;
    try {
      return { name: `${name}_FILE`, text: readFile(path).trim() };
    } catch {
      problems.push({ name: `${name}_FILE`, reason: "cannot read the file" });
      return undefined;
    }
  }
  return undefined;
}

/** One `NAME=value` line a setting, secrets masked (config.3). */
export function printConfig<Table extends SettingsTable>(table: Table, config: Config<Table>): string {
  return Object.entries(table)
    .map(([key, one]) => `${one.name}=${shownValue(one, config[key])}`)
    .join("\n");
}

function shownValue({ secret }: Setting<unknown>, value: unknown): string {
  const shown = value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
  return secret && shown !== "" ? "***" : shown; // config.3
}

export interface SettingLine {
  readonly name: string;
  readonly value: string;
  /** `start`: this process chose the value, as `holdpoint dev` takes a free port. */
  readonly origin: "default" | "environment" | "file" | "start";
  readonly secret: boolean;
  readonly fallback: string;
  readonly meaning: string;
}

/** Every setting with its value, secrets masked (config.3), and the source of the value. */
export function describeConfig<Table extends SettingsTable>(
  table: Table,
  config: Config<Table>,
  env: Env,
): readonly SettingLine[] {
  return Object.entries(table).map(([key, one]) => {
    const isSet = (suffix: string): boolean => [one.name, ...one.aliases].some((name) => isGiven(env[name + suffix]));
    return {
      name: one.name,
      value: shownValue(one, config[key]),
      origin: isSet("") ? "environment" : one.secret && isSet("_FILE") ? "file" : unset(one, config[key]),
      secret: one.secret,
      fallback: one.fallbackText,
      meaning: one.meaning,
    };
  });
}

const unset = ({ fallback }: Setting<unknown>, value: unknown): SettingLine["origin"] =>
  isDeepStrictEqual(value, fallback) ? "default" : "start";

const isGiven = (value: string | undefined): boolean => value !== undefined && value !== "";

/** The secret values of a configuration, for the log's mask. */
export function listSecrets<Table extends SettingsTable>(table: Table, config: Config<Table>): readonly string[] {
  const secrets: string[] = [];
  for (const [key, one] of Object.entries(table)) {
    const value: unknown = config[key];
    if (one.secret && typeof value === "string" && value !== "") secrets.push(value);
  }
  return secrets;
}
