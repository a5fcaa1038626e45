// Inbox query: the parameters of a list of items → the query of the storage, and its cursors.
import type * as z from "zod";
import type { inboxChoices, inboxFilter } from "@holdpoint/api/inbox-filter.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { InboxSearch } from "../../inbox/inbox.ts";
import type { Scope } from "../../model/model.ts";
import { queryWords } from "@holdpoint/api/text/search-words.ts";
import type { InboxPlace } from "../../ports/ports.ts";

/** The items that a count covers. */
export function searchedBy(query: z.output<typeof inboxChoices>, scope: Scope, now: number): InboxSearch {
  return {
    scope,
    threadId: query.thread_id ?? null,
    graphId: query.graph_id ?? null,
    assistantId: query.assistant_id ?? null,
    node: query.node ?? null,
    kind: query.kind ?? null,
    claimedBy: query.claimed_by ?? null,
    unclaimed: query.unclaimed,
    assignedTo: query.assigned_to ?? null,
    unassigned: query.unassigned,
    snoozed: query.snoozed === undefined ? null : query.snoozed === "true",
    deadline: query.deadline ?? null,
    createdBefore: query.older_than === undefined ? null : now - query.older_than,
    metadata: query.metadata ?? null,
    search: queryWords(query.q),
    after: null,
    limit: 0,
    descending: false,
    order: "age",
  };
}

/** One page. @throws {ApiError} `invalid_request` */
export function toInboxSearch(query: z.output<typeof inboxFilter>, scope: Scope, now: number): InboxSearch {
  const { sort, cursor, limit } = query;
  const order = sort === "deadline" || sort === "priority" ? sort : "age";
  return {
    ...searchedBy(query, scope, now),
    after: cursor === undefined ? null : decodePlace(cursor, order),
    limit,
    descending: sort === "newest",
    order,
  };
}

export function encodeCursor({ createdAt, threadId, interruptId, expiresAt, priority }: InboxPlace): string {
  return Buffer.from(JSON.stringify([createdAt, threadId, interruptId, expiresAt, priority])).toString("base64url");
}

/** @throws {ApiError} `invalid_request` */
function decodePlace(cursor: string, order: InboxSearch["order"]): InboxPlace {
  try {
    const [createdAt, threadId, interruptId, expiresAt, priority] = JSON.parse(
      Buffer.from(cursor, "base64url").toString(),
    ) as readonly Json[];
    const hasTimes =
      isTime(createdAt) &&
      (order !== "deadline" || expiresAt === null || isTime(expiresAt)) &&
      (order !== "priority" || isTime(priority));
    if (hasTimes && typeof threadId === "string" && typeof interruptId === "string" && isUuid(threadId)) {
      return {
        createdAt,
        threadId,
        interruptId,
        expiresAt: isTime(expiresAt) ? expiresAt : null,
        priority: isTime(priority) ? priority : 0,
      };
    }
  } catch {
    // rejected below
  }
  throw new ApiError("invalid_request", "cursor is not from an earlier reply of this call.");
}

const isTime = (value: Json | undefined): value is number => Number.isSafeInteger(value);
