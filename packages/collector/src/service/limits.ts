// Limits and times of the collector that hold in every installation. Tests pass others.
export const COLLECTOR_LIMITS = {
  /** Concurrent uploads. */
  inflightUploadsMax: 8,
  /** One upload, reply included. */
  uploadTimeoutMs: 30_000,
  /** Pause of a key's uploads after failed retries; doubles up to 5 minutes. */
  retryCooldownMs: 30_000,
  /** Time without new spans of a trace after which spans without their parent are sent. */
  orphanTimeoutMs: 10_000,
  /** Age at which an undelivered batch of the spool goes to the dead letters. */
  spoolAgeMaxMs: 7 * 24 * 60 * 60 * 1000,
  /** Bytes kept for destinations that are behind; beyond it, the oldest requests are deleted. */
  forwardBytesMax: 1024 * 1024 * 1024,
} as const;

export type CollectorLimits = Readonly<Record<keyof typeof COLLECTOR_LIMITS, number>>;
