// Inbox calls: lists, single items, claims, answers, the audit trail.
import type { AnswerResult as SentResult, AuditEntry, InboxItem } from "@holdpoint/api/inbox.ts";
import type { InboxFacets } from "@holdpoint/api/items/inbox-facets.ts";
import type { Remember } from "@holdpoint/api/policies.ts";
import { call } from "../../api/client.ts";
import { apiKey, callerName } from "../../api/credentials.ts";
import { problemFrom, type ApiProblem } from "../../api/problem.ts";
import { ownName } from "../../hooks/preferences.ts";
import type { Json } from "../../json/json.ts";

export interface InboxPage {
  readonly items: readonly InboxItem[];
  readonly next_cursor: string | null;
}

type Named = Pick<InboxItem, "thread_id" | "id">;

export type InboxQuery = Readonly<Record<string, string | number | boolean | undefined>>;

export function listInbox(query: InboxQuery, signal?: AbortSignal): Promise<InboxPage> {
  return call("GET", "/inbox", { query, signal });
}

export interface Total {
  readonly count: number;
  /** There may be more items than counted. */
  readonly isAtLeast: boolean;
}

/** Matches of a search that a server on SQLite reads. */
const SEARCHED_MAX = 50_000;

/** The number of items on all pages. */
export async function countInbox(query: InboxQuery, signal?: AbortSignal): Promise<Total> {
  const { count } = await call<{ readonly count: number }>("GET", "/inbox/count", { query, signal });
  return { count, isAtLeast: query["q"] !== undefined && count === SEARCHED_MAX };
}

/** The number of items that each choice of a filter would select. */
export function countChoices(query: InboxQuery, signal?: AbortSignal): Promise<InboxFacets> {
  return call("GET", "/inbox/facets", { query: { ...query, metadata_choices: true }, signal });
}

export function getItem({ thread_id, id }: Named, signal?: AbortSignal): Promise<InboxItem> {
  return call("GET", `/inbox/${encodeURIComponent(thread_id)}/${encodeURIComponent(id)}`, { signal });
}

/** The key or the sign-in determines the author's name; without authentication the caller supplies it. */
export function author(): { readonly by?: string } {
  const by = ownName.get().trim();
  return apiKey.get() !== null || callerName.get() !== null || by === "" ? {} : { by };
}

export function claimItem({ thread_id, id }: Named): Promise<InboxItem> {
  return call("POST", `/inbox/${thread_id}/${id}/claim`, { body: author() });
}

/** @param force also releases another person's claim. */
export function releaseItem({ thread_id, id }: Named, force: boolean): Promise<InboxItem> {
  return call("POST", `/inbox/${thread_id}/${id}/release`, { body: { ...author(), force } });
}

export interface Answer {
  readonly thread_id: string;
  readonly interrupt_id: string;
  /** Absent at a breakpoint. */
  readonly resume?: Json;
  /** Also a policy for later questions. */
  readonly remember?: Remember;
}

export interface AnswerResult {
  readonly thread_id: string;
  readonly interrupt_id: string;
  readonly runId: string | null;
  readonly problem: ApiProblem | null;
}

export function answersBody(answers: readonly Answer[]): { readonly by?: string; readonly answers: readonly Answer[] } {
  return { ...author(), answers };
}

/** @param key makes a repeated send idempotent. */
export async function sendAnswers(
  answers: readonly Answer[],
  key: string,
  keepalive = false,
): Promise<readonly AnswerResult[]> {
  const { results } = await call<{ readonly results: readonly SentResult[] }>("POST", "/inbox/answers", {
    body: answersBody(answers),
    headers: { "idempotency-key": key },
    keepalive,
  });
  return results.map(({ thread_id, interrupt_id, run_id, problem }) => ({
    thread_id,
    interrupt_id,
    runId: run_id ?? null,
    problem: problem === undefined ? null : problemFrom(problem, 409),
  }));
}

export function getAudit(
  threadId: string,
  signal?: AbortSignal,
): Promise<{ readonly items: readonly AuditEntry[]; readonly next_after: number | null }> {
  return call("GET", `/threads/${encodeURIComponent(threadId)}/audit`, { query: { limit: 1000 }, signal });
}
