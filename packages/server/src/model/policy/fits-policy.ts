// Which questions a policy fits, and what it answers. Pure.
// Invariants:
//   fits-policy.1. A policy answers a whole question: with several actions it fits each of them.
//   fits-policy.2. Values are compared with their types: "50" is no number, and fits no order.
//   fits-policy.3. Only own members of objects are found, whatever their names. A dot always goes one object deeper.
//   fits-policy.4. Never for a dangerous question, one for people only, with four eyes or several votes, unless an
//        administrator wrote it.
import { answerAll, recognise } from "@holdpoint/api/dialects.ts";
import { isForPeopleOnly } from "@holdpoint/api/person-only.ts";
import { isDangerous } from "@holdpoint/api/text/payload-excerpt.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt } from "../interrupt.ts";
import { needsVotes } from "../review/votes.ts";
import type { Policy, PolicyRule } from "../policy.ts";

export interface AskedItem {
  readonly interrupt: Interrupt;
  /** Metadata of the thread. */
  readonly metadata: JsonObject;
  /** Config of the run that asked. */
  readonly config: JsonObject;
}

export function fitsQuestion(
  { conditions }: Pick<PolicyRule, "conditions">,
  { interrupt, metadata }: AskedItem,
): boolean {
  const { assistantId, graphId, threadId, value } = interrupt;
  const { actions } = recognise(value, interrupt.responseSchema);
  const shared = { assistant: assistantId, graph: graphId, thread: threadId, metadata, payload: value };
  const each: readonly JsonObject[] =
    actions.length === 0
      ? [shared]
      : actions.map(({ name, args }) => ({ ...shared, ...(name === null ? {} : { action: name }), args }));
  return each.every((facts) => Object.entries(conditions).every(([path, tests]) => holds(facts, path, tests))); // fits-policy.1
}

/** fits-policy.4. */
export function needsAdministrator({ interrupt, config }: AskedItem): boolean {
  const { value, review } = interrupt;
  return isDangerous(value) || isForPeopleOnly(interrupt, config) || review?.fourEyes === true || needsVotes(review);
}

/** @returns null if the question does not allow the decision */
export function buildPolicyAnswer(
  { answer }: Pick<Policy, "answer">,
  { value, responseSchema }: Pick<Interrupt, "value" | "responseSchema">,
): { readonly value: Json } | null {
  if (typeof answer !== "string") return answer;
  const built = answerAll(recognise(value, responseSchema), { type: answer });
  return built.ok ? built : null;
}

function holds(facts: JsonObject, path: string, tests: Json): boolean {
  const found = find(facts, path.split("."));
  return Object.entries(tests as JsonObject).every(([operator, wanted]) =>
    operator === "exists" ? (found !== undefined) === wanted : found !== undefined && passes(operator, found, wanted),
  );
}

/** fits-policy.3. */
function find(facts: JsonObject, steps: readonly string[]): Json | undefined {
  let found: Json | undefined = facts;
  for (const step of steps) {
    if (found === undefined || !isJsonObject(found) || !Object.hasOwn(found, step)) return undefined;
    found = found[step];
  }
  return found;
}

/** fits-policy.2. */
function passes(operator: string, found: Json, wanted: Json): boolean {
  if (operator === "eq") return found === wanted;
  if (operator === "in") return (wanted as readonly Json[]).includes(found);
  if (typeof found !== "number" || typeof wanted !== "number") return false;
  if (operator === "lt") return found < wanted;
  if (operator === "lte") return found <= wanted;
  return operator === "gt" ? found > wanted : found >= wanted;
}
