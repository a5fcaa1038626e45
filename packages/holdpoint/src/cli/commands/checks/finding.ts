// Finding: the result of one check of doctor, and the subject of the checks.
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** The remedy; null if the check passes. */
  readonly remedy: string | null;
}

/** The subject of the checks, as a start on this machine would use it. */
export interface Surroundings {
  readonly nodeVersion: string;
  /** The `engines` range of package.json: `^22.19.0 || >=24.1.0`. */
  readonly nodeRequired: string;
  /** @throws {ConfigError} */
  readonly agent: () => Promise<{ readonly port: number; readonly dataDir: string }>;
  /** @throws {ConfigError} */
  readonly collector: () => Promise<{
    readonly port: number;
    readonly tracesPort: number;
    readonly endpoint: string | null;
    /** Whether a variable names the port: without one, the listener on a usual port may be another project's. */
    readonly named: { readonly port: boolean; readonly tracesPort: boolean };
  }>;
  /** Null without the file. @throws {ConfigFileError} */
  readonly graphs: () => Promise<{
    readonly file: string;
    readonly ids: readonly string[];
    readonly remarks: readonly string[];
  } | null>;
}

/** The server that options name; without them, the settings do. */
export interface NamedServer {
  readonly url?: string;
  readonly apiKey?: string;
}

export type Seen = Omit<Finding, "check">;

export const ok = (detail: string): Seen => ({ status: "ok", detail, remedy: null });
export const warn = (detail: string, remedy: string): Seen => ({ status: "warn", detail, remedy });
export const fail = (detail: string, remedy: string): Seen => ({ status: "fail", detail, remedy });
