// Routes of the audit trail: of one thread, and of all.
import * as contract from "../../../api/audit/audit.ts";
import { getAudit } from "../../../api/inbox.ts";
import { ApiError } from "../../../base/api-error.ts";
import { auditCsv, auditNdjson } from "../../audit/audit-export.ts";
import { readAudit } from "../../audit/audit-trail.ts";
import { verifyAudit, type AuditFault, type AuditReport } from "../../audit/verify-audit.ts";
import type { AgentContext } from "../../context.ts";
import { serializeAuditEntry } from "../../serializers/inbox-item.ts";
import { id, json, route, type AgentRoute } from "../route.ts";

export function auditRoutes(agent: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.verifyAudit, async ({ query, scope }) => {
      if (scope !== null) {
        const detail =
          "The chains of the audit trail are over all threads: only callers that may see every thread can verify them.";
        throw new ApiError("forbidden", detail);
      }
      return json(reportObject(await verifyAudit(agent, query.anchor ?? [])));
    }),
    route(getAudit, async ({ ids, query }) => {
      const threadId = id(ids, "thread_id");
      const first = await readAudit(agent, threadId, { after: query.after, limit: query.limit });
      if (query.format === "json") return json({ items: first.items.map(serializeAuditEntry), next_after: first.next });
      const [write, type] = query.format === "csv" ? [auditCsv, "text/csv"] : [auditNdjson, "application/x-ndjson"];
      const headers = { "Content-Type": `${type}; charset=utf-8` };
      return { status: 200, body: write(agent, threadId, query.after), headers };
    }),
  ];
}

function reportObject({ entries, deleted, unchained, heads, faults, faultCount }: AuditReport): object {
  return {
    intact: faultCount === 0,
    entries,
    deleted,
    unchained,
    chains: heads.length,
    anchor: heads.map(({ chain, count, hash }) => `${chain}:${count}:${hash}`).join(","),
    faults: faults.map(faultObject),
    fault_count: faultCount,
  };
}

function faultObject({ fault, chain, position, last, threadId, seq }: AuditFault): object {
  return { fault, chain, position, last_position: last, thread_id: threadId, seq };
}
