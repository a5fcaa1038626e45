// Routes of policies: parse → operation → reply.
import * as contract from "@holdpoint/api/policies.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import { toAccessValue } from "../../auth/handler-value.ts";
import type { AgentContext } from "../../context/context.ts";
import type { Policy } from "../../model/model.ts";
import { type DryRun, dryRunPolicy } from "../../policies/dry-run.ts";
import { createPolicy, listPolicies, requireRule, revokePolicy, signPolicy } from "../../policies/write-policy.ts";
import { type AgentRoute, id, json, NO_CONTENT, route } from "../route.ts";

export function policyRoutes(agent: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.listPolicies, async (call) => {
      const stored = await listPolicies(agent, call);
      const fixed = agent.configPolicies.map((policy) => policyObject(policy, "langgraph.json"));
      return json({ policies: [...fixed, ...stored.map((policy) => policyObject(policy, "stored"))] });
    }),
    route(contract.createPolicy, async ({ body, ...call }) => {
      const policy = await createPolicy(agent, call, { ...body, answer: body.answer ?? null });
      return { ...json(policyObject(policy, "stored")), status: 201 };
    }),
    route(contract.revokePolicy, async ({ ids, ...call }) => {
      await revokePolicy(agent, call, id(ids, "policy_id"));
      return NO_CONTENT;
    }),
    route(contract.dryRunPolicy, async ({ body, caller, ask }) => {
      const rule = requireRule({ ...body, answer: body.answer ?? null }, agent.clock.now());
      const reach = await ask("threads:search", toAccessValue("threads:search", { ids: {}, query: {}, body: {} }));
      const policy = await signPolicy(agent, { caller, ask, reach }, rule);
      const found = await dryRunPolicy(agent, policy, reach);
      return json({ ...found, text: describe(found) });
    }),
  ];
}

function describe({ decisions, answered, approved }: DryRun): string {
  return `Of the last ${decisions} decisions, this rule would have answered ${answered}, people had approved ${approved}.`;
}

function policyObject(policy: Policy, source: contract.PolicyObject["source"]): contract.PolicyObject {
  const { policyId, conditions, answer, until, createdBy, createdAt, isAdmin } = policy;
  return {
    policy_id: policyId,
    source,
    when: conditions,
    answer,
    until: until === null ? null : isoTime(until),
    created_by: createdBy,
    created_at: source === "stored" ? isoTime(createdAt) : null,
    administrator: isAdmin,
  };
}
