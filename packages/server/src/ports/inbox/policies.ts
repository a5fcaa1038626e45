// Storage port for policies.
import type { Policy } from "../../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

export interface PolicyTx {
  insertPolicy(policy: Policy): Awaitable<void>;
  /** Those that have not expired, the oldest first. */
  policies(now: number): Awaitable<readonly Policy[]>;
  /** Until the commit no other transaction takes or deletes it. @returns null if it was revoked or has expired */
  holdPolicy(policyId: string, now: number): Awaitable<Policy | null>;
  /** Those that have not expired; deletes the others. */
  countPolicies(now: number): Awaitable<number>;
  deletePolicy(policyId: string): Awaitable<Policy | null>;
}
