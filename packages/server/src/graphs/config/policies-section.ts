// Policies section of langgraph.json, `policies`: answers in advance that the deployment gives.
import { policyRule } from "@holdpoint/api/policies.ts";
import { uuidV5 } from "@holdpoint/base/ids.ts";
import * as z from "zod";
import { BUILT_IN_NAMESPACE } from "../../model/built-in-assistant.ts";
import { CONFIG_AUTHOR, type Policy } from "../../model/model.ts";
import { PolicyFault, readPolicyRule } from "../../model/policy/policy-rule.ts";

const POLICIES_MAX = 1000;

/** Whoever writes the file administers the server. */
export const POLICIES_SECTION = z
  .array(
    policyRule.transform((given, context): Policy => {
      try {
        const rule = readPolicyRule({ ...given, answer: given.answer ?? null });
        const policyId = uuidV5(`policy ${JSON.stringify(rule)}`, BUILT_IN_NAMESPACE);
        return { ...rule, policyId, createdBy: CONFIG_AUTHOR, isAdmin: true, reach: null, createdAt: 0 };
      } catch (error) {
        if (!(error instanceof PolicyFault)) throw error;
        context.addIssue({ code: "custom", message: error.message });
        return z.NEVER;
      }
    }),
  )
  .max(POLICIES_MAX);
