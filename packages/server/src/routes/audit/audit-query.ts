// Audit query: the parameters of a search of the audit trail → the query of the storage.
import type { searchAudit } from "@holdpoint/api/audit/audit.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import { ACTS, DECISIONS, type EntryKind, isActTrail, readEntryKind } from "../../model/audit-actions.ts";
import type { AuditSearch } from "../../inbox/audit/search-audit.ts";
import type { Scope } from "../../model/model.ts";
import { queryWords } from "@holdpoint/api/text/search-words.ts";
import type { AuditPlace } from "../../ports/ports.ts";

export type AuditKind = EntryKind | "all";

export type SearchQuery = NonNullable<(typeof searchAudit)["query"]["_output"]>;

/** @throws {ApiError} `invalid_request` */
export function toAuditSearch(query: SearchQuery, scope: Scope, kind: AuditKind): AuditSearch {
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

export function encodeCursor({ at, threadId, seq }: AuditPlace): string {
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
