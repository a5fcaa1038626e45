// Deadlines section of langgraph.json, `interrupt_deadlines`: rules by graph and node, set by the deployment.
import * as z from "zod";
import type { GraphRunResult, OpenInterrupt } from "../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";

const SECONDS_MAX = 10 * 366 * 24 * 3600;

const RULE = z.strictObject({
  expires_in_seconds: z.number().min(0).max(SECONDS_MAX),
  on_expiry: z.union([z.literal("fail"), z.strictObject({ answer: z.unknown() })]).optional(),
});

/** Graph → node, or `*` for its other nodes → rule. */
export const DEADLINES_SECTION = z.record(z.string(), z.record(z.string(), RULE));

/** Graph → node or `*` → `{expires_in_seconds, on_expiry}`. */
export type DeadlineRules = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

export function deadlineRules(section: z.infer<typeof DEADLINES_SECTION> | undefined): DeadlineRules {
  return (section ?? {}) as DeadlineRules;
}

export function deadlineRemarks(section: DeadlineRules, graphs: readonly string[]): readonly string[] {
  return Object.keys(section)
    .filter((graphId) => !graphs.includes(graphId))
    .map((graphId) => `"interrupt_deadlines.${graphId}" names no graph of this file and has no effect`);
}

/** Adds the deployment's rule to each interrupt that has one. */
export function withDeadlines(result: GraphRunResult, rules: DeadlineRules, graphId: string): GraphRunResult {
  const { outcome } = result;
  const ofGraph = Object.hasOwn(rules, graphId) ? rules[graphId] : undefined;
  if (ofGraph === undefined || outcome.kind !== "question") return result;
  const interrupts = outcome.interrupts.map((question): OpenInterrupt => {
    const node = question.ns.at(-1)?.split(":")[0] ?? "";
    const rule = Object.hasOwn(ofGraph, node) ? ofGraph[node] : ofGraph["*"];
    return rule === undefined ? question : { ...question, deadline: rule };
  });
  return { ...result, outcome: { ...outcome, interrupts } };
}
