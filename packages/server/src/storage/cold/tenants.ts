// What tenants use. A deployment without limits leaves the column empty, and its indexes too.
import type { TenantTx } from "../../ports/ports.ts";
import { encodeNamespace } from "../shared/store-namespaces.ts";
import { type ColdSql, readNumber } from "./cold-sql.ts";

export function tenantVerbs(sql: ColdSql): TenantTx {
  const { schema } = sql;
  return {
    holdTenant: (tenant) => sql.hold(`tenant ${tenant}`),
    ownThread(threadId, tenant) {
      sql.holdThread(threadId);
      const other = "(tenant IS NULL OR tenant <> ?)";
      sql.run(`UPDATE ${schema}threads SET tenant = ? WHERE thread_id = ? AND ${other}`, tenant, threadId, tenant);
    },
    ownRun(runId) {
      const own = `(SELECT t.tenant FROM ${schema}threads AS t WHERE t.thread_id = ${schema}runs.thread_id)`;
      sql.run(`UPDATE ${schema}runs SET tenant = ${own} WHERE run_id = ?`, runId);
    },
    ownStoreItem(namespace, key, tenant) {
      const item = "ns = ? AND key = ?";
      sql.run(`UPDATE ${schema}store_items SET tenant = ? WHERE ${item}`, tenant, encodeNamespace(namespace), key);
    },
    countTenantRuns: (tenant) =>
      readNumber(
        sql,
        `SELECT count(*) AS n FROM ${schema}runs WHERE tenant = ? AND status IN ('pending', 'running')`,
        tenant,
      ),
    countTenantQuestions: (tenant) =>
      readNumber(
        sql,
        `SELECT count(*) AS n FROM ${schema}threads AS t
         JOIN ${schema}interrupts AS i ON i.thread_id = t.thread_id AND i.state = 'open'
         WHERE t.tenant = ? AND t.status IN ('busy', 'interrupted')`,
        tenant,
      ),
    async measureTenant(tenant) {
      const row = await sql.get(measureSql(schema), tenant, tenant);
      return { bytes: Number(row?.["bytes"] ?? 0), rows: Number(row?.["n"] ?? 0) };
    },
  };
}

/** Sizes alone: neither database reads a large value for its size. */
function measureSql(schema: string): string {
  const parts = [
    ["threads", "metadata", "config"],
    ["runs", "request", "metadata", "input"],
    ["checkpoints", "body", "metadata", "small"],
    ["writes", "entries"],
    ["blobs", "data"],
    ["interrupts", "value", "answer"],
  ].map(([table = "", ...columns]) => {
    const bytes = columns.map((column) => `coalesce(octet_length(r.${column}), 0)`).join(" + ");
    return `SELECT count(*) AS n, sum(${bytes}) AS bytes FROM own JOIN ${schema}${table} AS r ON r.thread_id = own.thread_id`;
  });
  const items = `SELECT count(*) AS n, sum(octet_length(value)) AS bytes FROM ${schema}store_items WHERE tenant = ?`;
  return `WITH own AS (SELECT thread_id FROM ${schema}threads WHERE tenant = ?)
    SELECT sum(n) AS n, sum(bytes) AS bytes FROM (${[...parts, items].join(" UNION ALL ")}) AS parts`;
}
