// Policy: an answer that a person gave in advance to the later questions that fit its conditions.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Scope } from "./caller.ts";

/** A decision that the question allows for all of its actions, or a value as it is. */
export type PolicyAnswer = "approve" | "reject" | { readonly value: Json };

export interface PolicyRule {
  readonly conditions: JsonObject;
  readonly answer: PolicyAnswer;
  readonly until: number | null;
}

export interface Policy extends PolicyRule {
  readonly policyId: string;
  /** The person who answers by it. */
  readonly createdBy: string;
  /** An administrator wrote it. */
  readonly isAdmin: boolean;
  /** The threads that the author reaches. */
  readonly reach: Scope;
  readonly createdAt: number;
}

/** The author of the policies of langgraph.json. */
export const CONFIG_AUTHOR = "langgraph.json";
