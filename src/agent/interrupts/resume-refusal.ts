// Resume refusal: the problem that a refused answer gets: what waits now and, when its question was answered, by which run.
import { isoTime } from "../../base/clock.ts";
import { ApiError, type ErrorCode } from "../../base/api-error.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import type { Interrupt, Thread } from "../model/model.ts";
import { interruptToWire } from "../serializers/api-objects.ts";

/** @param named the question that the answer was for, as far as it can be said. */
export type Refuse = (code: ErrorCode, detail: string, named: Interrupt | undefined, value: Json) => ApiError;

export function openQuestions(thread: Thread, known: readonly Interrupt[]): readonly Interrupt[] {
  if (thread.status !== "interrupted" || thread.pause !== "question") return [];
  return known.filter((interrupt) => interrupt.state === "open");
}

/** A cut-off client recognises its own answer by `answered`. */
export function refuserOf(thread: Thread, known: readonly Interrupt[]): Refuse {
  return (code, detail, named, value) => {
    const pending = openQuestions(thread, known).map((interrupt) => interruptToWire(interrupt, true));
    const question = named ?? (pending.length === 0 ? lastAnswered(known) : undefined);
    const { extra, headers } = question === undefined ? UNANSWERED : answeredBy(question, value);
    return new ApiError(
      code,
      detail,
      { thread_status: thread.status, ...extra, pending, see: seeThread(thread.threadId) },
      headers,
    );
  };
}

/** Where what a problem is too short for can be had. */
function seeThread(threadId: string): string {
  return `/threads/${threadId}/state`;
}

export function unknownInterrupt(thread: Thread, id: string, open: readonly Interrupt[]): ApiError {
  return new ApiError("interrupt_unknown", `No interrupt ${id} was ever asked on this thread.`, {
    see: seeThread(thread.threadId),
    pending: open.map((interrupt) => interruptToWire(interrupt, true)),
  });
}

interface RefusalParts {
  readonly extra: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

const UNANSWERED: RefusalParts = { extra: {}, headers: {} };

/** The members of a refusal that say which run took the answer. @param value the answer that came too late, if one did. */
export function answeredBy(question: Interrupt, value: Json | undefined): RefusalParts {
  const { answer, threadId, interruptId } = question;
  if (question.state !== "answered" || answer === null) return UNANSWERED;
  const answered = {
    interrupt_id: interruptId,
    run_id: answer.runId,
    at: isoTime(answer.at),
    by: answer.by,
    ...(value === undefined ? {} : { same_value: JSON.stringify(answer.value) === JSON.stringify(value) }),
  };
  return { extra: { answered }, headers: { Location: `/threads/${threadId}/runs/${answer.runId}/join` } };
}

function lastAnswered(known: readonly Interrupt[]): Interrupt | undefined {
  let last: Interrupt | undefined;
  for (const interrupt of known) {
    if (interrupt.answer !== null && (last?.answer ?? null) === null) last = interrupt;
    else if (interrupt.answer !== null && (last?.answer?.at ?? 0) <= interrupt.answer.at) last = interrupt;
  }
  return last;
}
