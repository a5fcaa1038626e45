// Writing and revocation of policies, each with its audit entry in the same transaction.
// Invariants:
//   - A policy is of its author: it reaches what the author reached, and only an administrator's answers questions that
//     need one.
//   - A revocation takes the lock of the policy: after its reply the policy answers nothing.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { type Ask, askRight } from "../auth/authorize.ts";
import { toAccessValue } from "../auth/handler-value.ts";
import type { AgentContext } from "../context/context.ts";
import { nameAuthor } from "../model/audit-author.ts";
import type { AuditEntry, AuditVia, Caller, Policy, PolicyRule, Scope } from "../model/model.ts";
import { type GivenPolicy, PolicyFault, readPolicyRule } from "../model/policy/policy-rule.ts";
import type { Tx } from "../ports/ports.ts";

const POLICIES_MAX = 1000;

export interface PolicyCall {
  readonly caller: Caller;
  readonly scope: Scope;
  readonly ask: Ask;
}

/** @throws {ApiError} `policy_invalid` */
export function requireRule(given: GivenPolicy, now: number): PolicyRule {
  try {
    const rule = readPolicyRule(given);
    if (rule.until !== null && rule.until <= now) throw new PolicyFault("until: is in the past");
    return rule;
  } catch (error) {
    throw error instanceof PolicyFault ? new ApiError("policy_invalid", `The policy ${error.message}.`) : error;
  }
}

/** @throws {ApiError} `policy_invalid`, `policy_limit`, `forbidden` */
export async function createPolicy(
  agent: AgentContext,
  { caller, ask }: PolicyCall,
  given: GivenPolicy,
): Promise<Policy> {
  const rule = requireRule(given, agent.clock.now());
  const reach = await ask("threads:answer", toAccessValue("threads:answer", { ids: {}, query: {}, body: {} }));
  const policy = await signPolicy(agent, { caller, ask, reach }, rule);
  await agent.storage.transaction((tx) => storePolicies(tx, [policy], { caller, via: "api" }));
  return policy;
}

export async function signPolicy(
  { newId, clock }: Pick<AgentContext, "newId" | "clock">,
  { caller, ask, reach }: Pick<PolicyCall, "caller" | "ask"> & { readonly reach: Scope },
  rule: PolicyRule,
): Promise<Policy> {
  const isAdmin = !("refusal" in (await askRight(ask, "policies:administrate", {})));
  return { ...rule, policyId: newId(), createdBy: caller.name, isAdmin, reach, createdAt: clock.now() };
}

/** @throws {ApiError} `policy_limit` */
export async function storePolicies(
  tx: Pick<Tx, "countPolicies" | "insertPolicy" | "audit">,
  policies: readonly Policy[],
  author: { readonly caller: Caller; readonly via: AuditVia },
): Promise<void> {
  const [first] = policies;
  if (first === undefined) return;
  if ((await tx.countPolicies(first.createdAt)) + policies.length > POLICIES_MAX)
    throw new ApiError("policy_limit", `The server has ${POLICIES_MAX} policies: revoke those that nobody needs.`);
  for (const policy of policies) await tx.insertPolicy(policy);
  await tx.audit(policies.map((policy) => buildEntry("policy_written", policy, author, policy.createdAt)));
}

/** @throws {ApiError} `policy_not_found`, `policy_fixed` */
export async function revokePolicy(
  agent: AgentContext,
  { caller, scope }: PolicyCall,
  policyId: string,
): Promise<void> {
  if (agent.configPolicies.some((one) => one.policyId === policyId))
    throw new ApiError("policy_fixed", "The policy is in langgraph.json: take it out there.");
  await agent.storage.transaction(async (tx) => {
    const policy = await tx.deletePolicy(policyId);
    if (policy === null || !mayRead(policy, { caller, scope }))
      throw new ApiError("policy_not_found", `There is no policy ${policyId}.`);
    await tx.audit([buildEntry("policy_revoked", policy, { caller, via: "api" }, agent.clock.now())]);
  });
}

/** Stored ones that the caller may see: with limits, its own. */
export async function listPolicies(
  { storage, clock }: Pick<AgentContext, "storage" | "clock">,
  call: Pick<PolicyCall, "caller" | "scope">,
): Promise<readonly Policy[]> {
  const stored = await storage.read((tx) => tx.policies(clock.now()));
  return stored.filter((policy) => mayRead(policy, call));
}

function mayRead({ createdBy }: Policy, { caller, scope }: Pick<PolicyCall, "caller" | "scope">): boolean {
  return scope === null || createdBy === caller.name;
}

function buildEntry(
  action: "policy_written" | "policy_revoked",
  { policyId, conditions, answer, until }: Policy,
  { caller, via }: { readonly caller: Caller; readonly via: AuditVia },
  at: number,
): AuditEntry {
  const value: JsonObject = { when: conditions, answer, until };
  return { ...nameAuthor(caller, via), threadId: policyId, at, action, interruptId: null, runId: null, value };
}
