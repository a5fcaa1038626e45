// Answers section of langgraph.json, `interrupt_answers`: whether questions get the rules of their payload's dialect.
import * as z from "zod";
import type { GraphRunResult } from "../../ports/ports.ts";

export const ANSWERS_SECTION = z.enum(["checked", "as_given"]);

export type AnswerRules = z.infer<typeof ANSWERS_SECTION>;

/** Marks each question of a deployment that takes answers as they are given. */
export function withAnswerRules(result: GraphRunResult, rules: AnswerRules): GraphRunResult {
  const { outcome } = result;
  if (rules === "checked" || outcome.kind !== "question") return result;
  const interrupts = outcome.interrupts.map((question) => ({ ...question, answers: "as_given" as const }));
  return { ...result, outcome: { ...outcome, interrupts } };
}
