// Answer items: answers to open items through the inbox, with its rules: one answer counts, however many are sent.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { OwnApi } from "./own-api.ts";

export interface ItemAnswer {
  readonly item: Pick<InboxItem, "thread_id" | "id">;
  /** Undefined to continue at a breakpoint. */
  readonly resume: Json | undefined;
}

export type Answered =
  | { readonly ok: true; readonly runId: string }
  /** `code`: for example `interrupt_stale`, `answer_rejected` */
  | { readonly ok: false; readonly code: string; readonly reason: string };

/**
 * All answers in one call; one result each, in their order.
 * @param idempotencyKey a repeated call with it gets the results of the first one
 * @throws {ApiRefusal}
 */
export async function answerItems(
  api: OwnApi,
  answers: readonly ItemAnswer[],
  idempotencyKey: string | null = null,
): Promise<readonly Answered[]> {
  const body = answers.map(({ item, resume }) => ({
    thread_id: item.thread_id,
    interrupt_id: item.id,
    ...(resume === undefined ? {} : { resume }),
  }));
  const { results } = (await api.call("POST", "/inbox/answers", { body, idempotencyKey })) as unknown as {
    readonly results: readonly Result[];
  };
  return results.map((result): Answered => {
    if (result.status === "answered") return { ok: true, runId: result.run_id };
    return { ok: false, code: result.problem.code, reason: result.problem.detail };
  });
}

/** One member of the reply of `/inbox/answers`. */
type Result =
  | { readonly status: "answered"; readonly run_id: string }
  | { readonly status: "refused" | "pending"; readonly problem: { readonly code: string; readonly detail: string } };

/** Codes of refusals after which the same item is still open. */
const STILL_OPEN = new Set(["answer_invalid", "answer_too_large", "invalid_request", "sibling_refused"]);

export function isStillOpen({ code }: { readonly code: string }): boolean {
  return STILL_OPEN.has(code);
}

/** Codes after which others must answer the item: the caller's vote is counted, or the review rules exclude the caller. */
const FOR_OTHERS = new Set(["approvals_pending", "reviewer_not_assigned", "reviewer_excluded", "review_rules_invalid"]);

export function isForOthers({ code }: { readonly code: string }): boolean {
  return FOR_OTHERS.has(code);
}
