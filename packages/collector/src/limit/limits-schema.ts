// Limits schema: `limits` of the rules file.
import { z } from "zod";
import { KeyHashSchema } from "../shared/key-hash.ts";

const KEYS_MAX = 10_000;

const count = z.int().min(1).max(1e15).nullable().optional();

const LIMITS = {
  items_per_second: z
    .number()
    .min(0.001)
    .max(1e9)
    .nullable()
    .optional()
    .describe("Spans and log records a second, on average. null: no limit."),
  burst: count.describe("Items that may come at once. Default: those of 10 seconds."),
  items_per_day: count.describe("Spans and log records from 00:00 to 24:00 UTC. null: no limit."),
  usd_per_day: z
    .number()
    .min(0.000001)
    .max(1e9)
    .nullable()
    .optional()
    .describe("Cost of model calls from 00:00 to 24:00 UTC, by senders and PRICES_FILE. null: no limit."),
  bytes_per_day: count.describe("Bytes of decompressed bodies from 00:00 to 24:00 UTC. null: no limit."),
};

const KeySchema = z.strictObject({
  name: z.string().min(1).max(100).describe("Appears in the log."),
  key_sha256: KeyHashSchema,
  ...LIMITS,
});

export const LimitsSchema = z
  .strictObject({
    default: z.strictObject(LIMITS).default({}).describe("Limits of each key."),
    keys: z
      .array(KeySchema)
      .max(KEYS_MAX)
      .default([])
      .describe("Other limits of some keys; the rest is as in default."),
  })
  .refine(({ keys }) => new Set(keys.map(({ key_sha256 }) => key_sha256)).size === keys.length, {
    error: "has two entries of one key",
    path: ["keys"],
  });

export type LimitsDefinition = z.infer<typeof LimitsSchema>;
