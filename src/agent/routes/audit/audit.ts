// Routes of the audit trail: of one thread, and of all.
import * as contract from "../../../api/audit/audit.ts";
import { getAudit } from "../../../api/inbox.ts";
import { ApiError } from "../../../base/api-error.ts";
import { exportTrail, type AuditFormat } from "../../audit/audit-export.ts";
import { readAudit } from "../../audit/audit-trail.ts";
import { exportAudit, foundObject, searchAudit } from "../../audit/search-audit.ts";
import { verifyAudit, type AuditFault, type AuditReport } from "../../audit/verify-audit.ts";
import type { AgentContext } from "../../context.ts";
import { serializeAuditEntry } from "../../serializers/inbox-item.ts";
import { id, json, route, type AgentRoute } from "../route.ts";
import type { HttpReply } from "../../../http/server/reply.ts";
import { auditSearchOf, cursorOf } from "./audit-query.ts";

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
    route(contract.searchAudit, async ({ query, scope }) => {
      const search = auditSearchOf(query, scope);
      if (search.search.length > 0) await agent.search.catchUp();
      if (query.format !== "json") return fileReply(query.format, exportAudit(agent, search, query.format));
      const { rows, next } = await searchAudit(agent, search);
      return json({ items: rows.map(foundObject), next_cursor: next === null ? null : cursorOf(next) });
    }),
    route(getAudit, async ({ ids, query }) => {
      const threadId = id(ids, "thread_id");
      const first = await readAudit(agent, threadId, { after: query.after, limit: query.limit });
      if (query.format === "json") return json({ items: first.items.map(serializeAuditEntry), next_after: first.next });
      return fileReply(query.format, exportTrail(agent, { threadId, after: query.after }, query.format));
    }),
  ];
}

const TYPES: Readonly<Record<AuditFormat, string>> = { csv: "text/csv", ndjson: "application/x-ndjson" };

function fileReply(format: AuditFormat, body: AsyncGenerator<string>): HttpReply {
  return { status: 200, body, headers: { "Content-Type": `${TYPES[format]}; charset=utf-8` } };
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
