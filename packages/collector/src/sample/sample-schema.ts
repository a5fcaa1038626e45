// Sample schema: `drop` and `sample` of the rules file.
import { z } from "zod";
import { KeyHashSchema } from "../shared/key-hash.ts";
import { CONDITIONS, hasConditions } from "./span-match.ts";

const RULES_MAX = 200;

const DropRuleSchema = z.strictObject(CONDITIONS).refine(hasConditions, {
  error: "needs at least one of span, scope and attribute",
});

export const DropSchema = z.array(DropRuleSchema).max(RULES_MAX);

const rate = z.number().min(0).max(1);

const SampleRuleSchema = z
  .strictObject({
    rate: rate.default(1).describe("Part of the traces that the rule keeps."),
    error: z.literal(true).optional().describe("Traces with an error."),
    projects: z.array(z.string().min(1)).min(1).optional().describe("Requests of these projects (Tracing-Project)."),
    tenants: z.array(z.string().min(1)).min(1).optional().describe("Requests with these X-Tenant-Id headers."),
    key_sha256: z
      .array(KeyHashSchema)
      .min(1)
      .optional()
      .describe("Requests with these API keys, each by its SHA-256, so that the file holds no key."),
    ...CONDITIONS,
  })
  .refine((rule) => isAboutRequests(rule) || rule.error || hasConditions(rule), {
    error: "needs at least one condition",
  });

function isAboutRequests({
  key_sha256,
  projects,
  tenants,
}: {
  readonly [name in "key_sha256" | "projects" | "tenants"]?: readonly string[] | undefined;
}): boolean {
  return key_sha256 !== undefined || projects !== undefined || tenants !== undefined;
}

export const SampleSchema = z.strictObject({
  rate: rate.describe("Part of all traces that is kept."),
  keep: z.array(SampleRuleSchema).max(RULES_MAX).default([]).describe("Rules that keep more of some traces."),
  wait_ms: z
    .int()
    .min(10)
    .max(3_600_000)
    .default(10_000)
    .describe("Quiet time of a trace after which no rule can keep it any more."),
});

export type DropDefinition = z.infer<typeof DropSchema>;
export type SampleDefinition = z.infer<typeof SampleSchema>;
export type SampleRule = SampleDefinition["keep"][number];
