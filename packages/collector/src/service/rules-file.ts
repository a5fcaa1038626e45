// Rules file: the rules of operators for stored and sent data (RULES_FILE), read and checked at start.
// The collector never starts with a part of the rules: any fault stops it, with the place in the
//   file and the reason.
import { z } from "zod";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { type Destination, ForwardSchema, withSecretHeaders } from "../forward/forward-schema.ts";
import { type LimitsDefinition, LimitsSchema } from "../limit/limits-schema.ts";
import { RedactSchema } from "../redact/redact-schema.ts";
import { createRedactor, type Redactor, type RedactorOptions } from "../redact/redact.ts";
import { type DropDefinition, DropSchema, type SampleDefinition, SampleSchema } from "../sample/sample-schema.ts";
import { readOperatorFile } from "../shared/operator-file.ts";
import type { CollectorConfig } from "./settings.ts";

const RulesSchema = z.strictObject({
  $schema: z.string().optional(),
  redact: RedactSchema.default([]),
  drop: DropSchema.default([]),
  sample: SampleSchema.optional(),
  forward: ForwardSchema.default([]),
  limits: LimitsSchema.optional(),
});

export interface Rules {
  /** null: no rule redacts. */
  readonly redactor: Redactor | null;
  readonly forward: readonly Destination[];
  readonly drop: DropDefinition;
  /** null: every trace is kept. */
  readonly sample: SampleDefinition | null;
  /** null: no key has limits. */
  readonly limits: LimitsDefinition | null;
}

const NO_RULES: z.infer<typeof RulesSchema> = { redact: [], drop: [], forward: [] };

/** @throws {ConfigError} */
export function readRules(config: CollectorConfig): Rules {
  const {
    redact,
    drop,
    forward,
    limits = null,
    sample = null,
  } = config.rulesFile === null ? NO_RULES : readOperatorFile("RULES_FILE", config.rulesFile, RulesSchema);
  const allRedact = [...redact, ...forward.flatMap((destination) => destination.redact ?? [])];
  if (config.redactHashKey === null && allRedact.some(({ action }) => action === "hash"))
    throw new ConfigError([{ name: "REDACT_HASH_KEY", reason: "is not set, and a rule of RULES_FILE hashes" }]);
  try {
    const options = chooseRedaction(config);
    for (const { name, redact: own } of forward) checkRedaction(name, own, options);
    return {
      redactor: redact.length === 0 ? null : createRedactor(redact, options),
      forward: withHeaders(forward, config.forwardHeaders),
      drop,
      sample,
      limits,
    };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw fault(error instanceof Error ? error.message : "unknown");
  }
}

export function chooseRedaction({ project, redactHashKey }: CollectorConfig): RedactorOptions {
  return { project: project ?? "default", hashKey: redactHashKey };
}

/** @throws {Error} with the name of the destination, of the rule, and the reason. */
function checkRedaction(name: string, rules: Destination["redact"], options: RedactorOptions): void {
  try {
    createRedactor(rules ?? [], options);
  } catch (error) {
    throw new Error(`forward: ${name}: ${error instanceof Error ? error.message : "unknown"}`, { cause: error });
  }
}

function withHeaders(forward: readonly Destination[], headers: string | null): readonly Destination[] {
  try {
    return withSecretHeaders(forward, headers);
  } catch (error) {
    throw new ConfigError([{ name: "FORWARD_HEADERS", reason: error instanceof Error ? error.message : "is invalid" }]);
  }
}

function fault(...reasons: readonly string[]): ConfigError {
  return new ConfigError(reasons.map((reason) => ({ name: "RULES_FILE", reason })));
}

/** For people: how many rules of each kind. */
export function rulesText({ drop, forward, limits, redactor, sample }: Rules): string {
  const counts = [
    `${redactor?.rules.length ?? 0} redact`,
    `${drop.length} drop`,
    `${sample === null ? 0 : 1 + sample.keep.length} sample`,
    `${forward.length} forward`,
    `${limits === null ? 0 : (Object.keys(limits.default).length === 0 ? 0 : 1) + limits.keys.length} limit`,
  ];
  return `rules: ${counts.join(", ")}`;
}

export function rulesJsonSchema(): unknown {
  return z.toJSONSchema(RulesSchema, { io: "input" });
}
