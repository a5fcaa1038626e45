// Problem details: the reply to a rejected answer. It lists the open interrupts and the run that consumed
// the interrupt, if any.
import { isoTime } from "@holdpoint/base/clock.ts";
import { ApiError, type ErrorCode } from "@holdpoint/base/api-error.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt, Thread } from "../model/model.ts";
import { serializeInterrupt } from "../wire/api-objects.ts";

/** @param named the interrupt that the answer addresses, if known */
export type Refuse = (code: ErrorCode, detail: string, named: Interrupt | undefined, value: Json) => ApiError;

/** Refusal of a call with answers: the first refusal as its problem, and the refusals by interrupt id. */
export class RefusedAnswers extends ApiError {
  readonly byInterrupt: ReadonlyMap<string, ApiError>;

  constructor({ code, message, extra, headers }: ApiError, byInterrupt: ReadonlyMap<string, ApiError>) {
    super(code, message, extra, headers);
    this.byInterrupt = byInterrupt;
  }
}

/** Reason of a refusal. The order of the checks follows it. */
type Reason = "unknown" | "closed" | "invalid";

/** Refusals of the answers of one call, in the order of the call. */
export class AnswerRefusals {
  readonly #reasons = new Map<string, Reason>();
  readonly #errors = new Map<string, ApiError>();

  add(interruptId: string, reason: Reason, error: ApiError): void {
    this.#reasons.set(interruptId, reason);
    this.#errors.set(interruptId, error);
  }

  get byInterrupt(): ReadonlyMap<string, ApiError> {
    return this.#errors;
  }

  /** @throws {RefusedAnswers} if an answer has this refusal */
  throwFirst(reason: Reason): void {
    for (const [interruptId, error] of this.#errors) {
      if (this.#reasons.get(interruptId) === reason) throw new RefusedAnswers(error, this.#errors);
    }
  }
}

export function openInterrupts(thread: Thread, known: readonly Interrupt[]): readonly Interrupt[] {
  if (thread.status !== "interrupted" || thread.pause !== "question") return [];
  return known.filter((interrupt) => interrupt.state === "open");
}

/** A disconnected client recognises its own answer by `answered`. */
export function createRefuser(thread: Thread, known: readonly Interrupt[]): Refuse {
  return (code, detail, named, value) => {
    const pending = openInterrupts(thread, known).map((interrupt) => serializeInterrupt(interrupt, true));
    const interrupt = named ?? (pending.length === 0 ? lastAnswered(known) : undefined);
    const { extra, headers } = interrupt === undefined ? UNANSWERED : answeredBy(interrupt, value);
    return new ApiError(
      code,
      detail,
      { thread_status: thread.status, ...extra, pending, see: seeThread(thread.threadId) },
      headers,
    );
  };
}

/** Link to details that do not fit into a problem. */
function seeThread(threadId: string): string {
  return `/threads/${threadId}/state`;
}

export function unknownInterrupt(thread: Thread, id: string, open: readonly Interrupt[]): ApiError {
  return new ApiError("interrupt_unknown", `This thread has no interrupt ${id}.`, {
    see: seeThread(thread.threadId),
    pending: open.map((interrupt) => serializeInterrupt(interrupt, true)),
  });
}

interface RefusalParts {
  readonly extra: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

const UNANSWERED: RefusalParts = { extra: {}, headers: {} };

/** Members of a refusal that name the run with the accepted answer. @param value the late answer, if any */
export function answeredBy(interrupt: Interrupt, value: Json | undefined): RefusalParts {
  const { answer, threadId, interruptId } = interrupt;
  if (interrupt.state !== "answered" || answer === null) return UNANSWERED;
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
