// Pause, revisions of 2025: the call stays open, and the server sends an elicitation request on its stream. The reply
// is an answer of its own (elicit-ids.ts); this call only waits until the thread continues. These revisions stay because
// the official client (`@modelcontextprotocol/client` 2.4) opens with them unless told otherwise.
// Invariants:
//   - An answer from anywhere ends the wait: open requests to the client are cancelled.
//   - A wait is limited: after ELICIT_WAIT_MS the call ends with the paused run as its result.
import type { Outcome } from "../calls/follow-thread.ts";
import { nextRun } from "../calls/follow-thread.ts";
import { buildElicitId } from "./elicit-ids.ts";
import type { Elicits } from "./elicitation.ts";
import { paramsFor, type Refusals, type ToolCall } from "./tool-call.ts";

export const ELICIT_WAIT_MS = 600_000;

/** The replies to elicitation requests that this process waits for. */
export interface ElicitReplies {
  /** @param onReply null: the answer was accepted; `declined`; otherwise the reason why the item is still open */
  readonly listen: (id: string, onReply: (refusal: ElicitRefusal | null) => void) => () => void;
  readonly arrived: (id: string, refusal: ElicitRefusal | null) => void;
}

export type ElicitRefusal =
  | { readonly kind: "declined" }
  /** `for_others`: only others can answer now, for example after a vote that counts. */
  | { readonly kind: "refused" | "for_others"; readonly reason: string };

export function createElicitReplies(): ElicitReplies {
  const waiting = new Map<string, (refusal: ElicitRefusal | null) => void>();
  return {
    listen(id, onReply) {
      waiting.set(id, onReply);
      return () => void waiting.delete(id);
    },
    arrived: (id, refusal) => waiting.get(id)?.(refusal),
  };
}

/** The stream of the call, as the transport of the SDK writes to it. */
export interface CallStream {
  readonly request: (id: string, method: string, params: object) => Promise<void>;
  readonly notify: (method: string, params: object) => Promise<void>;
}

export interface LegacyPause {
  readonly call: ToolCall;
  readonly outcome: Outcome & { readonly kind: "paused" };
  readonly elicits: Elicits;
  readonly refusals: Refusals;
  readonly round: number;
}

export type PauseEnd =
  | { readonly kind: "unasked" | "declined" | "continued" }
  | { readonly kind: "refused"; readonly refusals: Refusals };

/** Asks the user of the client about every item, and waits for the first thing that happens. */
export async function askAndWait(
  { call, outcome, elicits, refusals, round }: LegacyPause,
  stream: CallStream,
  replies: ElicitReplies,
): Promise<PauseEnd> {
  const over = new AbortController();
  const reply = Promise.withResolvers<PauseEnd>();
  const open = new Set<string>();
  const leaves: (() => void)[] = [];
  try {
    for (const item of outcome.items) {
      const params = await paramsFor(call, item, elicits, refusals);
      if (params === null) continue;
      const id = buildElicitId({ threadId: item.thread_id, interruptId: item.id }, round);
      open.add(id);
      leaves.push(
        replies.listen(id, (refusal) => {
          open.delete(id);
          if (refusal?.kind === "declined") reply.resolve({ kind: "declined" });
          if (refusal?.kind === "for_others") {
            call.forOthers.add(item.id);
            call.notes.push(refusal.reason);
            reply.resolve({ kind: "refused", refusals });
          }
          if (refusal?.kind === "refused")
            reply.resolve({ kind: "refused", refusals: new Map([[item.id, refusal.reason]]) });
        }),
      );
      await stream.request(id, "elicitation/create", params.mode === "url" ? { ...params, elicitationId: id } : params);
    }
    if (open.size === 0) return { kind: "unasked" };
    const limit = AbortSignal.any([call.signal, call.stopping, over.signal, AbortSignal.timeout(ELICIT_WAIT_MS)]);
    const continued = nextRun(call.api, outcome, limit).then((): PauseEnd => ({
      kind: limit.aborted ? "unasked" : "continued",
    }));
    continued.catch(() => undefined); // it may fail after the reply has ended the wait
    return await Promise.race([reply.promise, continued]);
  } finally {
    over.abort();
    for (const leave of leaves) leave();
    for (const id of open) {
      await stream
        .notify("notifications/cancelled", { requestId: id, reason: "answered elsewhere" })
        .catch(() => undefined);
    }
  }
}
