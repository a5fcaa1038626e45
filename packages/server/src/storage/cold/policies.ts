// Policies: answers that people gave in advance.
import type { Policy } from "../../model/model.ts";
import type { PolicyTx } from "../../ports/ports.ts";
import { POLICY_COLUMNS } from "../shared/columns.ts";
import { type ColdSql, coldTable, readNumber } from "./cold-sql.ts";

export function policyVerbs(sql: ColdSql): PolicyTx {
  const { schema } = sql;
  const policies = coldTable<Policy>(sql, "policies", { ...POLICY_COLUMNS, isAdmin: ["is_admin", "flag"] });
  const hold = (policyId: string): void => sql.hold(`policy ${policyId}`);
  const valid = "(until IS NULL OR until > ?)";
  return {
    insertPolicy: (policy) => policies.insert(policy),
    policies: async (now) =>
      (await sql.all(`${policies.select} WHERE ${valid} ORDER BY policy_id`, now)).map(policies.read),
    async holdPolicy(policyId, now) {
      hold(policyId);
      return policies.readOrNull(await sql.get(`${policies.select} WHERE policy_id = ? AND ${valid}`, policyId, now));
    },
    async countPolicies(now) {
      sql.hold("policies");
      sql.run(`DELETE FROM ${schema}policies WHERE until <= ?`, now);
      return readNumber(sql, `SELECT count(*) AS n FROM ${schema}policies`);
    },
    async deletePolicy(policyId) {
      hold(policyId);
      return (await policies.remove("policy_id = ?", policyId))[0] ?? null;
    },
  };
}
