// Contract of the storage port for policies, one part of storage.contract.ts.
// Rules:
//   contract/policies.1. A policy reads back as stored until its end, and is deleted once.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Policy } from "../../model/model.ts";
import type { Storage } from "../../ports/ports.ts";

export function policyCases(open: (t: TestContext) => Promise<Storage>, odd: JsonObject, newId: NewId): void {
  test("policies read back until their end, and are deleted once (contract/policies.1)", async (t) => {
    const storage = await open(t);
    const kept: Policy = {
      policyId: newId(),
      conditions: { "args.amount": { lte: 50 }, payload: { eq: odd } },
      answer: { value: odd },
      createdBy: "ann",
      isAdmin: true,
      reach: [{ key: "team", op: "eq", value: "a" }],
      createdAt: 1,
      until: null,
    };
    const ending: Policy = { ...kept, policyId: newId(), answer: "approve", isAdmin: false, reach: null, until: 10 };
    await storage.transaction(async (tx) => {
      await tx.insertPolicy(kept);
      await tx.insertPolicy(ending);
    });
    assert.deepEqual(await storage.read((tx) => tx.policies(9)), [kept, ending]);
    assert.deepEqual(await storage.read((tx) => tx.policies(10)), [kept]);
    assert.deepEqual(await storage.transaction((tx) => tx.holdPolicy(ending.policyId, 9)), ending);
    assert.equal(await storage.transaction((tx) => tx.holdPolicy(ending.policyId, 10)), null);
    assert.equal(await storage.transaction((tx) => tx.countPolicies(9)), 2);
    assert.equal(await storage.transaction((tx) => tx.countPolicies(10)), 1);
    assert.deepEqual(await storage.transaction((tx) => tx.deletePolicy(kept.policyId)), kept);
    assert.equal(await storage.transaction((tx) => tx.deletePolicy(kept.policyId)), null);
  });
}
