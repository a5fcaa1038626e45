// Calls of policies: answers in advance to the later questions that fit.
import * as z from "zod";
import { operation } from "./operation.ts";
import { json, jsonObject } from "./schemas.ts";

const TAG = "Policies";

const until = z.iso.datetime({ offset: true }).nullish().describe("end of the policy; omit it for one without an end");

/** Also an entry of `policies` in langgraph.json. */
export const policyRule = z.strictObject({
  action: z.string().min(1).max(200).nullish().describe("short for when.action: the name of the tool"),
  when: jsonObject
    .nullish()
    .describe(
      "path → value, or {operator: value}: eq, in, lt, lte, gt, gte, exists. Paths: action, args.…, assistant, graph, thread, metadata.…, payload, payload.…",
    ),
  answer: json.describe('"approve", "reject", or {"value": …}'),
  until,
});

export const remember = z.strictObject({
  scope: z
    .enum(["thread", "assistant", "metadata"])
    .describe("questions of this thread, of this assistant, or of threads whose metadata match"),
  match: jsonObject.describe("`action` and `when` of a policy; the action is that of the question unless it says so"),
  until,
});

export type Remember = z.infer<typeof remember>;

export const policyObject = z
  .object({
    policy_id: z.string(),
    source: z.enum(["stored", "langgraph.json"]),
    when: jsonObject,
    answer: z.unknown(),
    until: z.string().nullable(),
    created_by: z.string(),
    created_at: z.string().nullable(),
    administrator: z.boolean().describe("it also answers dangerous questions, four eyes and several approvals"),
  })
  .meta({ id: "Policy" });

export type PolicyObject = z.infer<typeof policyObject>;

export const listPolicies = operation("listPolicies", "get", "/policies", {
  tag: TAG,
  access: "policies:search",
  summary: "List the policies that have not ended: those of langgraph.json, then the stored ones, the oldest first",
  reply: z.object({ policies: z.array(policyObject) }),
  description: "A caller with limits sees its own.",
});

export const createPolicy = operation("createPolicy", "post", "/policies", {
  tag: TAG,
  access: "policies:create",
  summary: "Write a policy: an answer in advance to the questions that fit",
  body: policyRule,
  reply: policyObject,
  status: 201,
  refusals: ["policy_invalid", "policy_limit"],
});

export const revokePolicy = operation("revokePolicy", "delete", "/policies/{policy_id}", {
  tag: TAG,
  access: "policies:delete",
  summary: "Revoke a policy: after the reply it answers nothing",
  reply: null,
  status: 204,
  refusals: ["policy_not_found", "policy_fixed"],
});

export const dryRunPolicy = operation("dryRunPolicy", "post", "/policies/dry-run", {
  tag: TAG,
  access: "policies:search",
  summary: "What a policy would have answered among the last 1,000 decisions of people",
  body: policyRule,
  reply: z.object({
    decisions: z.number().int().describe("decisions of people that the call looked at"),
    answered: z.number().int().describe("those that the policy would have answered"),
    approved: z.number().int().describe("of these, those that people had approved"),
    same: z.number().int().describe("of these, those with the same answer"),
    text: z.string(),
    others: z
      .array(
        z.object({
          thread_id: z.string(),
          interrupt_id: z.string(),
          title: z.string(),
          by: z.string(),
          at: z.string(),
        }),
      )
      .describe("the newest of these to which people had given another answer, at most 20"),
  }),
  refusals: ["policy_invalid"],
});
