// Choice of a policy for one question.
// Invariants:
//   - The author of a policy must still have the right to write it, within limits that have the thread, and may answer
//     the question as a person could: neither excluded nor left out of the assignees.
//   - Policies that fit and disagree answer nothing.
import type { Json } from "@holdpoint/base/json/json.ts";
import { inScope } from "../auth/scope.ts";
import type { AgentContext } from "../context/context.ts";
import { type Caller, CONFIG_AUTHOR, type Policy } from "../model/model.ts";
import { type AskedItem, buildPolicyAnswer, fitsQuestion, needsAdministrator } from "../model/policy/fits-policy.ts";
import { reviewRefusal, toCaller } from "../model/review/reviewers.ts";
import { formatProposal } from "../model/review/verdict.ts";
import type { CredentialTx } from "../ports/ports.ts";

export interface PolicyChoice {
  readonly policy: Policy;
  /** The author. */
  readonly answerer: Caller;
  readonly value: Json;
}

export type PolicyContext = Pick<AgentContext, "access" | "configPolicies">;

/** @returns null: the question stays open */
export async function choosePolicy(
  agent: PolicyContext,
  tx: CredentialTx,
  asked: AskedItem,
  policies: readonly Policy[],
): Promise<PolicyChoice | null> {
  const { interrupt } = asked;
  const able: PolicyChoice[] = [];
  for (const policy of policies) {
    if (!fitsQuestion(policy, asked) || !inScope(asked.metadata, policy.reach)) continue;
    const answer = buildPolicyAnswer(policy, interrupt);
    const answerer = answer === null ? null : await findAnswerer(agent, tx, policy, asked);
    if (answer === null || answerer === null || reviewRefusal(interrupt, answerer) !== null) continue;
    able.push({ policy, answerer, value: answer.value });
  }
  const [first = null, ...others] = able;
  const proposal = first === null ? "" : formatProposal(interrupt, first.value);
  return others.every(({ value }) => formatProposal(interrupt, value) === proposal) ? first : null;
}

/** @returns null for an author who may not write such a policy */
async function findAnswerer(
  { access, configPolicies }: PolicyContext,
  tx: CredentialTx,
  policy: Policy,
  asked: AskedItem,
): Promise<Caller | null> {
  const { policyId, createdBy, isAdmin } = policy;
  const asAdmin = needsAdministrator(asked);
  if (asAdmin && !isAdmin) return null;
  const nobody = { user: null, permissions: [], origin: { address: "", userAgent: null, policyId } };
  if (configPolicies.includes(policy)) return { ...nobody, name: CONFIG_AUTHOR };
  const event = asAdmin ? "policies:administrate" : "policies:create";
  if ((await access?.isCurrent?.(tx, { by: createdBy, metadata: asked.metadata }, event)) === false) return null;
  const person = await tx.person(createdBy);
  return { ...nobody, name: createdBy, ...(person === null ? {} : toCaller(person)) };
}
