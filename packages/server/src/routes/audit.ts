// Routes of the audit trail: of one thread, and of all.
import * as contract from "@holdpoint/api/audit.ts";
import { getAudit } from "@holdpoint/api/inbox.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { exportTrail, type AuditFormat } from "../inbox/audit/audit-export.ts";
import { readAudit } from "../inbox/audit/audit-trail.ts";
import { type AuditSearch, exportAudit, foundObjects, searchAudit } from "../inbox/audit/search-audit.ts";
import { verifyAudit, type AuditFault, type AuditReport } from "../inbox/audit/verify-audit.ts";
import type { AgentContext } from "../context/context.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Ask } from "../auth/authorize.ts";
import { createSight } from "../auth/sight.ts";
import { ACTS, DECISIONS, type EntryKind, isActTrail, readEntryKind } from "../model/audit-actions.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { Caller, Scope } from "../model/model.ts";
import { id, json, route, type AgentRoute } from "./route.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import { queryWords } from "@holdpoint/api/text/search-words.ts";
import type { AuditPlace } from "../ports/ports.ts";

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
    route(contract.searchAudit, async ({ query, ...call }) => {
      const sight = createSight(call);
      const search = toAuditSearch(query, call.scope, await askForKind(query, call.ask));
      if (search.search.length > 0) await agent.search.catchUp();
      if (query.format !== "json") await noteExport(agent, call, query);
      if (query.format !== "json")
        return fileReply(query.format, exportAudit(agent, search, { format: query.format, sight }));
      const { rows, next } = await searchAudit(agent, search);
      return json({ items: await foundObjects(rows, sight), next_cursor: next === null ? null : encodeCursor(next) });
    }),
    route(getAudit, async ({ query, ...call }) => {
      const sight = createSight(call);
      const { after, limit, format } = query;
      const threadId = id(call.ids, "thread_id");
      const first = await readAudit(agent, { threadId, after, limit }, sight);
      if (format === "json") return json({ items: first.items, next_after: first.next });
      await noteExport(agent, call, { format, thread_id: threadId });
      return fileReply(format, exportTrail(agent, { threadId, after }, { format, sight }));
    }),
  ];
}

/** @throws {ApiError} `forbidden` */
async function askForKind({ kind, action }: SearchQuery, ask: Ask): Promise<AuditKind> {
  const wanted = kind ?? (action?.some((one) => readEntryKind(one) === "act") === true ? "all" : "decision");
  if (wanted !== "decision") await ask("acts:search", {});
  return wanted;
}

/** Before the first line leaves. */
async function noteExport(
  { storage, clock }: AgentContext,
  { caller }: { readonly caller: Caller },
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const fields = JSON.parse(JSON.stringify(given)) as JsonObject;
  const act = buildAct(caller, { action: "audit_exported", at: clock.now(), subject: "audit trail", fields });
  await storage.transaction((tx) => tx.audit([act]));
}

const TYPES: Readonly<Record<AuditFormat, string>> = { csv: "text/csv", ndjson: "application/x-ndjson" };

function fileReply(format: AuditFormat, body: AsyncGenerator<string>): HttpReply {
  return { status: 200, body, headers: { "Content-Type": `${TYPES[format]}; charset=utf-8` } };
}

function reportObject({ entries, deleted, erased, heads, faults, faultCount }: AuditReport): object {
  return {
    intact: faultCount === 0,
    entries,
    deleted,
    erased,
    chains: heads.length,
    anchor: heads.map(({ chain, count, hash }) => `${chain}:${count}:${hash}`).join(","),
    faults: faults.map(faultObject),
    fault_count: faultCount,
  };
}

function faultObject({ fault, chain, position, last, threadId, seq }: AuditFault): object {
  return { fault, chain, position, last_position: last, thread_id: threadId, seq };
}

type AuditKind = EntryKind | "all";

type SearchQuery = NonNullable<(typeof contract.searchAudit)["query"]["_output"]>;

/** The parameters of a search of the audit trail → the query of the storage. @throws {ApiError} `invalid_request` */
function toAuditSearch(query: SearchQuery, scope: Scope, kind: AuditKind): AuditSearch {
  return {
    scope,
    threadId: query.thread_id ?? null,
    graphId: query.graph_id ?? null,
    assistantId: query.assistant_id ?? null,
    actions: chooseActions(query.action ?? null, kind),
    by: query.by ?? null,
    via: query.via ?? null,
    since: query.since ?? null,
    until: query.until ?? null,
    search: queryWords(query.q),
    after: query.cursor === undefined ? null : decodePlace(query.cursor),
    limit: query.limit,
  };
}

/** Those of the kind; of a caller who names other ones only, none. */
function chooseActions(named: readonly string[] | null, kind: AuditKind): readonly string[] {
  if (kind === "all") return named ?? [];
  if (named === null) return kind === "act" ? ACTS : DECISIONS;
  const left = named.filter((action) => readEntryKind(action) === kind);
  return left.length === 0 ? ["none"] : left;
}

function encodeCursor({ at, threadId, seq }: AuditPlace): string {
  return Buffer.from(JSON.stringify([at, threadId, seq])).toString("base64url");
}

function decodePlace(cursor: string): AuditPlace {
  try {
    const [at, threadId, seq] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as readonly Json[];
    if (
      typeof at === "number" &&
      typeof threadId === "string" &&
      typeof seq === "number" &&
      (isActTrail(threadId) || isUuid(threadId))
    )
      return { at, threadId, seq };
  } catch {
    // rejected below
  }
  throw new ApiError("invalid_request", "cursor is not from an earlier reply of this call.");
}
