// Request end: a request is answered or cancelled. Whoever comes second gets `request_ended`, with the request.
import { ApiError, type ErrorCode } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../context/context.ts";
import { answerInbox, type InboxAnswer, type InboxCall } from "../inbox/answer-inbox.ts";
import { failPaused } from "../inbox/fail-paused.ts";
import { nameAuthor } from "../model/audit-author.ts";
import type { Caller } from "../model/model.ts";
import { CANCELLED, decideRequestStatus, type StoredRequest } from "../model/request.ts";
import { hasEnded, isAsked, readRequest, waitForRequest, type RequestAddress } from "./read-request.ts";

/** An end is a commit away. */
const END_MS_MAX = 30_000;

/** The request ended first, or its end is on its way. */
const LOST: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["thread_busy", "interrupt_stale", "no_pending_interrupt"]);

/** The request as it ended, for the reply of the second. */
export class RequestEnded extends Error {
  readonly request: StoredRequest;

  constructor(request: StoredRequest) {
    super("the request has ended");
    this.request = request;
  }
}

/** @throws {RequestEnded} @throws {ApiError} of every refused answer; `approvals_pending` */
export async function answerRequest(
  agent: AgentContext,
  address: RequestAddress,
  call: InboxCall,
  answer: Pick<InboxAnswer, "resume" | "remember">,
): Promise<StoredRequest> {
  const { interrupt } = await settle(agent, address);
  const { requestId: threadId } = address;
  const interruptId = interrupt?.interruptId ?? "";
  const [result] = await answerInbox(agent, call, [{ threadId, interruptId, ...answer }]);
  if (result === undefined) throw new Error("an answer has no result");
  if ("run" in result) return waitForRequest(agent, address, hasEnded, { ms: END_MS_MAX });
  if ("pending" in result) throw result.pending;
  if (LOST.has(result.refusal.code)) await settle(agent, address);
  throw result.refusal;
}

/** @throws {RequestEnded} unless it was cancelled before */
export async function cancelRequest(
  agent: AgentContext,
  caller: Caller,
  address: RequestAddress,
  reason: string | null,
): Promise<StoredRequest> {
  const { requestId: threadId } = address;
  for (;;) {
    const request = await waitForRequest(agent, address, isAsked, { ms: END_MS_MAX });
    if (decideRequestStatus(request) === "cancelled") return request;
    if (hasEnded(request)) throw new RequestEnded(request);
    if (!isAsked(request)) throw new ApiError("thread_busy", "An answer is being taken: try again.");
    const failed = await failPaused(agent, threadId, (open, at) => ({
      error: { error: CANCELLED, message: reason ?? "" },
      how: "abandoned",
      audit: open.map(({ interruptId }) => ({
        ...nameAuthor(caller),
        threadId,
        at,
        action: "cancelled" as const,
        interruptId,
        runId: null,
        value: reason,
      })),
    }));
    if (failed === null) continue; // an answer was faster
    agent.inbox.closed(failed.closed, failed.metadata);
    agent.log.info("request_cancelled", { request_id: threadId });
    return readRequest(agent, address);
  }
}

/** @returns the open request @throws {RequestEnded} */
async function settle(agent: AgentContext, address: RequestAddress): Promise<StoredRequest> {
  const request = await waitForRequest(agent, address, isAsked, { ms: END_MS_MAX });
  if (hasEnded(request)) throw new RequestEnded(request);
  return request;
}
