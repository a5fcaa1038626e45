// Checkpointer section of langgraph.json → the lifetime of threads, and warnings about the rest.
import * as z from "zod";

const MINUTES_MAX = 10 * 366 * 24 * 60;
const MINUTE_MS = 60_000;

const minutes = z.number().positive().max(MINUTES_MAX);

export const CHECKPOINTER_SECTION = z
  .looseObject({
    ttl: z
      .looseObject({
        default_ttl: minutes.nullish(),
        strategy: z.enum(["delete", "keep_latest"]).default("delete"),
        sweep_interval_minutes: minutes.nullish(),
        expire_paused: z.boolean().default(false),
      })
      .nullish(),
  })
  .nullish();

type Section = z.infer<typeof CHECKPOINTER_SECTION>;

export interface CheckpointerConfig {
  /** For threads without their own time to live. */
  readonly fallback: { readonly ttlMs: number | null; readonly ttlStrategy: "delete" | "keep_latest" };
  readonly sweepEveryMs: number | null;
  /** Paused threads expire too, with their open questions. */
  readonly expirePaused: boolean;
}

export function checkpointerConfig(section: Section): CheckpointerConfig {
  const ttl = section?.ttl ?? null;
  const milliseconds = (given: number | null | undefined): number | null =>
    typeof given === "number" ? Math.ceil(given * MINUTE_MS) : null;
  return {
    fallback: { ttlMs: milliseconds(ttl?.default_ttl), ttlStrategy: ttl?.strategy ?? "delete" },
    sweepEveryMs: milliseconds(ttl?.sweep_interval_minutes),
    expirePaused: ttl?.expire_paused ?? false,
  };
}

export function checkpointerRemarks(section: Section): readonly string[] {
  return Object.keys(section ?? {})
    .filter((key) => key !== "ttl")
    .map((key) => `"checkpointer.${key}" has no effect: the server's own database keeps the checkpoints`);
}
