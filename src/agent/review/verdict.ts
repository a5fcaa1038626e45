// Verdict: whether an answer approves or rejects, and which answers agree. Pure.
// Invariants:
//   verdict.1. A rejection lets no action happen. An answer that allows a part, or that no rule knows, is an approval:
//     it needs as many people as one.
//   verdict.2. Answers agree if they have the same effect: the same decisions, with the same edited arguments. Messages
//     and the order of members do not count.
import { recognise } from "../../api/dialects.ts";
import { isJsonObject, type Json } from "../../base/json/json.ts";
import type { Interrupt, Vote } from "../model/model.ts";

type Verdict = Vote["verdict"];

/**
 * | dialect | a rejection |
 * | --- | --- |
 * | tool approvals | every decision is `reject`, `respond`, `response` or `ignore` |
 * | a boolean schema, other questions | `false`, or an object whose `approved` is false |
 */
export function verdictOf(
  { value, responseSchema }: Pick<Interrupt, "value" | "responseSchema">,
  answer: Json,
): Verdict {
  const { kind } = recognise(value, responseSchema);
  if (kind !== "tool_approval") {
    const approved = isJsonObject(answer) ? answer["approved"] : answer;
    return approved === false ? "reject" : "approve";
  }
  const decisions = decisionsIn(answer);
  const declines = (decision: Json): boolean => DECLINING.has(isJsonObject(decision) ? decision["type"] : null);
  return decisions.length > 0 && decisions.every(declines) ? "reject" : "approve"; // verdict.1
}

const DECLINING: ReadonlySet<Json | undefined> = new Set<Json | undefined>(["reject", "respond", "response", "ignore"]);

/** `{decisions: […]}` of the middleware, `[…]` of agent inboxes. */
function decisionsIn(answer: Json): readonly Json[] {
  const given = isJsonObject(answer) ? answer["decisions"] : answer;
  return Array.isArray(given) ? (given as readonly Json[]) : [];
}

/** Two answers agree exactly if their texts are equal (verdict.2). */
export function proposalOf(
  { value, responseSchema }: Pick<Interrupt, "value" | "responseSchema">,
  answer: Json,
): string {
  const { kind } = recognise(value, responseSchema);
  if (kind !== "tool_approval") return sortedText(answer);
  const decisions = decisionsIn(answer);
  return decisions.length === 0 ? sortedText(answer) : sortedText(decisions.map(effectOf));
}

function effectOf(decision: Json): Json {
  if (!isJsonObject(decision)) return decision;
  const { type } = decision;
  if (type === "approve" || type === "accept") return { type: "approve" }; // agent inboxes repeat the arguments
  return DECLINING.has(type) ? { type: "reject" } : decision;
}

function sortedText(value: Json): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
