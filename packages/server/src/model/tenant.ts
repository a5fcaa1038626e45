// Tenant limits: what a key, a person or a tenant may use of the server. Null: no limit.

export interface TenantLimit {
  /** Calls that make or change something, on average. */
  readonly callsPerSecond: number | null;
  /** Calls that may come at once. */
  readonly burst: number;
  /** Runs that are queued or running. */
  readonly runsMax: number | null;
  /** Open questions, and runs that may still ask one. */
  readonly questionsMax: number | null;
  /** Counts threads with all that belongs to them, and store items. */
  readonly bytesMax: number | null;
}

/** Names of the limits, as the configuration file and refusals have them. */
export type LimitName = "calls_per_second" | "runs_max" | "questions_max" | "bytes_max";

export interface TenantLimits {
  /** Member of the caller that names its tenant; null: each caller is one, by its name. */
  readonly tenant: string | null;
  readonly fallback: TenantLimit;
  readonly named: ReadonlyMap<string, TenantLimit>;
}
