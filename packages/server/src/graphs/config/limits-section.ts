// Limits section of langgraph.json, `limits`: what each key, person or tenant may use. The words of the collector's limits.
import * as z from "zod";
import type { TenantLimit, TenantLimits } from "../../model/model.ts";

const KEYS_MAX = 10_000;
const BURST_SECONDS = 10;

const count = z.int().min(1).max(1e15).nullable().optional();

const LIMITS = {
  calls_per_second: z.number().min(0.001).max(1e9).nullable().optional(),
  burst: count,
  runs_max: count,
  questions_max: count,
  bytes_max: count,
};

const DEFAULT = z.strictObject(LIMITS);

export const LIMITS_SECTION = z
  .strictObject({
    tenant: z.string().min(1).max(150).optional(),
    default: DEFAULT.default({}),
    keys: z
      .array(z.strictObject({ name: z.string().min(1).max(500), ...LIMITS }))
      .max(KEYS_MAX)
      .default([]),
  })
  .refine(({ keys }) => new Set(keys.map(({ name }) => name)).size === keys.length, {
    error: "has two entries of one name",
    path: ["keys"],
  });

/** @returns null without the section */
export function tenantLimits(section: z.infer<typeof LIMITS_SECTION> | undefined): TenantLimits | null {
  if (section === undefined) return null;
  const { tenant = null, default: others, keys } = section;
  return {
    tenant,
    fallback: mergeLimit({}, others),
    named: new Map(keys.map(({ name, ...own }) => [name, mergeLimit(own, others)])),
  };
}

type Given = z.infer<typeof DEFAULT>;

/** A member that `own` lacks is that of `others`; null is no limit. */
function mergeLimit(own: Given, others: Given): TenantLimit {
  const choose = (name: keyof Given): number | null => (own[name] === undefined ? others[name] : own[name]) ?? null;
  const callsPerSecond = choose("calls_per_second");
  // The default burst of other limits does not fit a rate of its own.
  const burst = own.burst ?? (own.calls_per_second === undefined ? others.burst : null);
  return {
    callsPerSecond,
    burst: burst ?? Math.max(1, Math.ceil((callsPerSecond ?? 0) * BURST_SECONDS)),
    runsMax: choose("runs_max"),
    questionsMax: choose("questions_max"),
    bytesMax: choose("bytes_max"),
  };
}
