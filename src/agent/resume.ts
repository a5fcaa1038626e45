// Resume: may this answer be taken, and which questions does it answer? Pure: rows in, decision or refusal out.
// Invariants (architecture: "Resume rules"):
//   RS1. An answer is taken only while its question is open on a paused thread.
//   RS2. With several questions open, a bare value is refused: it does not say which.
//   RS3. An id that was ever asked here is stale (409) once it is not open, any other is unknown (422).
//   RS4. All answers of one call are taken, or none.
import { isoTime } from "../base/clock.ts";
import { ApiError, type ErrorCode } from "../base/errors.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { faultsOf } from "./answer-schema.ts";
import { isAnswerMap } from "./intent.ts";
import type { CarriedAnswer, Interrupt, Thread } from "./model.ts";
import { interruptToWire } from "./wire.ts";

export interface AcceptedAnswers {
  readonly answers: readonly CarriedAnswer[];
  readonly questions: readonly Interrupt[];
}

/**
 * @param known every question ever asked on the thread.
 * @param forkFrom the checkpoint the call names, when it is not the newest (rule 6).
 * @throws {ApiError} `thread_busy`, `no_pending_interrupt`, `paused_at_breakpoint`, `answer_ambiguous`,
 *   `interrupt_stale`, `interrupt_unknown`, `answer_invalid`
 */
export function acceptAnswers(
  thread: Thread,
  known: readonly Interrupt[],
  resume: Json,
  forkFrom: string | null,
): AcceptedAnswers {
  const open = forkFrom === null ? openQuestions(thread, known) : questionsAt(known, forkFrom);
  const byId = new Map(known.map((interrupt) => [interrupt.interruptId, interrupt]));
  const refuse = (code: ErrorCode, detail: string, answered: Interrupt | undefined, value: Json): ApiError =>
    refusal(code, detail, thread, known, answered, value);

  if (isAnswerMap(resume)) {
    const questions: Interrupt[] = [];
    for (const [id, value] of Object.entries(resume)) {
      const question = byId.get(id);
      if (question === undefined) throw unknown(id, open); // RS3
      const answerable = forkFrom === null ? open.includes(question) : question.rootCheckpointId === forkFrom;
      if (!answerable) throw refuse(notOpenCode(thread), notOpenText(thread, id), question, value); // RS1
      questions.push(question);
    }
    checkReady(thread, forkFrom, open, refuse, null);
    return accept(questions, (question) => resume[question.interruptId] ?? null); // RS4
  }
  checkReady(thread, forkFrom, open, refuse, resume);
  if (open.length > 1) {
    throw refuse(
      "answer_ambiguous", // RS2
      `${open.length} interrupts are waiting: send {"<interrupt id>": <answer>} for one or more of them.`,
      undefined,
      resume,
    );
  }
  return accept(open, () => resume);
}

function openQuestions(thread: Thread, known: readonly Interrupt[]): readonly Interrupt[] {
  if (thread.status !== "interrupted" || thread.pause !== "question") return [];
  return known.filter((interrupt) => interrupt.state === "open");
}

/** At an older checkpoint, each task shows its last question. */
function questionsAt(known: readonly Interrupt[], checkpointId: string): readonly Interrupt[] {
  const last = new Map<string, Interrupt>();
  for (const interrupt of known) {
    if (interrupt.rootCheckpointId !== checkpointId) continue;
    const other = last.get(interrupt.libraryId);
    if (other === undefined || other.index < interrupt.index) last.set(interrupt.libraryId, interrupt);
  }
  return [...last.values()];
}

type Refuse = (code: ErrorCode, detail: string, answered: Interrupt | undefined, value: Json) => ApiError;

function checkReady(
  thread: Thread,
  forkFrom: string | null,
  open: readonly Interrupt[],
  refuse: Refuse,
  value: Json,
): void {
  if (thread.status === "busy")
    throw refuse("thread_busy", "The thread has a run in progress; an answer is never queued.", undefined, value);
  if (forkFrom === null && thread.status === "interrupted" && thread.pause === "breakpoint") {
    const detail = "The thread is paused at a breakpoint: continue it with input null.";
    throw refuse("paused_at_breakpoint", detail, undefined, value);
  }
  if (open.length === 0 || (forkFrom !== null && thread.status === "error"))
    throw refuse("no_pending_interrupt", "No interrupt is waiting for an answer on this thread.", undefined, value);
}

function accept(questions: readonly Interrupt[], valueOf: (question: Interrupt) => Json): AcceptedAnswers {
  const answers = questions.map((question): CarriedAnswer => {
    const value = valueOf(question);
    checkSchema(question, value);
    const { interruptId, libraryId, graphNs, taskId, checkpointId, index } = question;
    return { interruptId, libraryId, graphNs, taskId, checkpointId, index, value };
  });
  return { answers, questions };
}

function checkSchema(question: Interrupt, value: Json): void {
  if (question.responseSchema === null) return;
  const faults = faultsOf(question.responseSchema, value);
  if (faults === null || faults.length === 0) return; // a schema beyond our validator is checked by the node itself
  const issues = faults.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  throw new ApiError("answer_invalid", `The answer to ${question.interruptId} does not fit what the node asked for.`, {
    interrupt_id: question.interruptId,
    response_schema: question.responseSchema,
    errors: issues,
  });
}

function unknown(id: string, open: readonly Interrupt[]): ApiError {
  return new ApiError("interrupt_unknown", `No interrupt ${id} was ever asked on this thread.`, {
    pending: open.map((interrupt) => interruptToWire(interrupt, true)),
  });
}

function notOpenCode(thread: Thread): ErrorCode {
  return thread.status === "busy" ? "thread_busy" : "interrupt_stale";
}

function notOpenText(thread: Thread, id: string): string {
  return thread.status === "busy"
    ? "The thread has a run in progress; an answer is never queued."
    : `Interrupt ${id} is not open any more.`;
}

/** Tells what waits now and, when the question was answered, by which run: a cut-off client recognises its own answer. */
function refusal(
  code: ErrorCode,
  detail: string,
  thread: Thread,
  known: readonly Interrupt[],
  named: Interrupt | undefined,
  value: Json,
): ApiError {
  const pending = openQuestions(thread, known).map((interrupt) => interruptToWire(interrupt, true));
  const question = named ?? (pending.length === 0 ? lastAnswered(known) : undefined);
  const { extra, headers } = question === undefined ? UNANSWERED : answeredBy(question, value);
  return new ApiError(code, detail, { thread_status: thread.status, pending, ...extra }, headers);
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
