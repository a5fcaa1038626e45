// Resume: may this answer be taken, and which questions does it answer? Pure: rows in, decision or refusal out.
// Invariants (architecture: "Life of an answer"):
//   agent/resume-rules.1. An answer is taken only while its question is open on a paused thread.
//   agent/resume-rules.2. With several questions open, a bare value is refused: it does not say which.
//   agent/resume-rules.3. An id that was ever asked here is stale (409) once it is not open, any other is unknown (422).
//   agent/resume-rules.4. All answers of one call are taken, or none.
//   agent/resume-rules.5. A question of an older checkpoint is answered anew only by a command that says `fork: true`.
import { ApiError } from "../../base/api-error.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import { faultsOf } from "./answer-schema.ts";
import { isAnswerMap, type Intent } from "./run-intent.ts";
import type { CarriedAnswer, Interrupt, SubgraphCheckpoint, Thread } from "../model/model.ts";
import { openQuestions, refuserOf, unknownInterrupt, type Refuse } from "./resume-refusal.ts";

export interface AcceptedAnswers {
  readonly answers: readonly CarriedAnswer[];
  readonly questions: readonly Interrupt[];
}

/** Where an answer aims at: the checkpoint that the call names, when it is not that of the open pause. */
export interface AnswerAim {
  readonly olderCheckpoint: string | null;
  /** The command says `fork: true`. */
  readonly fork: boolean;
}

export const AT_OPEN_PAUSE: AnswerAim = { olderCheckpoint: null, fork: false };

/**
 * @param known every question ever asked on the thread.
 * @throws {ApiError} `thread_busy`, `no_pending_interrupt`, `answer_ambiguous`, `interrupt_stale`, `interrupt_unknown`,
 *   `answer_invalid`
 */
export function acceptAnswers(
  thread: Thread,
  known: readonly Interrupt[],
  resume: Json,
  { olderCheckpoint, fork }: AnswerAim,
): AcceptedAnswers {
  const open = olderCheckpoint === null ? openQuestions(thread, known) : questionsAt(known, olderCheckpoint);
  const byId = new Map(known.map((interrupt) => [interrupt.interruptId, interrupt]));
  const refuse = refuserOf(thread, known);
  if (isAnswerMap(resume)) {
    for (const id of Object.keys(resume)) if (!byId.has(id)) throw unknownInterrupt(thread, id, open); // agent/resume-rules.3
  }
  if (olderCheckpoint !== null && !fork) throw refuseOlder(refuse, thread, open, byId, resume, olderCheckpoint); // agent/resume-rules.5

  if (isAnswerMap(resume)) {
    const questions: Interrupt[] = [];
    for (const [id, value] of Object.entries(resume)) {
      const question = byId.get(id) as Interrupt;
      const answerable =
        olderCheckpoint === null ? open.includes(question) : question.rootCheckpointId === olderCheckpoint;
      if (!answerable) {
        const code = thread.status === "busy" ? "thread_busy" : "interrupt_stale";
        throw refuse(code, notOpenText(thread, id), question, value); // agent/resume-rules.1
      }
      questions.push(question);
    }
    checkReady(thread, olderCheckpoint, open, refuse, null);
    return accept(questions, (question) => resume[question.interruptId] ?? null); // agent/resume-rules.4
  }
  checkReady(thread, olderCheckpoint, open, refuse, resume);
  if (open.length > 1) {
    throw refuse(
      "answer_ambiguous", // agent/resume-rules.2
      `${open.length} interrupts are waiting: send {"<interrupt id>": <answer>} for one or more of them.`,
      undefined,
      resume,
    );
  }
  return accept(open, () => resume);
}

/**
 * The checkpoint that a call names to start from; null when it goes on where the thread is. An answer may name the
 * checkpoint of its question, of a subgraph's too: that is where it goes anyhow.
 */
export function olderCheckpoint(
  { checkpointId, subgraph }: NamedCheckpoint,
  thread: Thread,
  known: readonly Interrupt[],
  { kind }: Intent,
): string | null {
  if (kind !== "resume") return checkpointId === thread.checkpointId ? null : checkpointId;
  const isOpenPause = openQuestions(thread, known).some((question) =>
    subgraph === null
      ? question.rootCheckpointId === checkpointId
      : question.graphNs === subgraph.ns && question.checkpointId === subgraph.checkpointId,
  );
  if (isOpenPause || (subgraph === null && checkpointId === thread.checkpointId)) return null;
  return checkpointId;
}

interface NamedCheckpoint {
  readonly checkpointId: string | null;
  readonly subgraph: SubgraphCheckpoint | null;
}

/** At an older checkpoint, each task shows its last question. */
function questionsAt(known: readonly Interrupt[], checkpointId: string): readonly Interrupt[] {
  const last = new Map<string, Interrupt>();
  for (const interrupt of known) {
    if (interrupt.rootCheckpointId !== checkpointId) continue;
    const task = `${interrupt.graphNs} ${interrupt.taskId}`;
    const other = last.get(task);
    if (other === undefined || other.index < interrupt.index) last.set(task, interrupt);
  }
  return [...last.values()];
}

/** Clients send the checkpoint that they show with every answer: a click that comes too late is no wish to fork (agent/resume-rules.5). */
function refuseOlder(
  refuse: Refuse,
  thread: Thread,
  asked: readonly Interrupt[],
  byId: ReadonlyMap<string, Interrupt>,
  resume: Json,
  checkpointId: string,
): ApiError {
  const named = isAnswerMap(resume) ? Object.keys(resume).flatMap((id) => byId.get(id) ?? []) : asked;
  const question = named.find(({ state }) => state === "answered") ?? named[0];
  const value = isAnswerMap(resume) && question !== undefined ? (resume[question.interruptId] ?? null) : resume;
  if (thread.status === "busy") return refuse("thread_busy", BUSY, question, value);
  if (question === undefined)
    return refuse("no_pending_interrupt", `No interrupt was asked at checkpoint ${checkpointId}.`, undefined, value);
  const { interruptId, state } = question;
  const detail =
    state === "open"
      ? `Interrupt ${interruptId} waits at another checkpoint than ${checkpointId}: leave the checkpoint out.`
      : `Interrupt ${interruptId} was ${state}. To answer it anew as a fork, send "fork": true in the command.`;
  return refuse("interrupt_stale", detail, question, value);
}

const BUSY = "The thread has a run in progress; an answer is never queued.";

function checkReady(
  thread: Thread,
  olderCheckpoint: string | null,
  open: readonly Interrupt[],
  refuse: Refuse,
  value: Json,
): void {
  if (thread.status === "busy") throw refuse("thread_busy", BUSY, undefined, value);
  if (open.length === 0 || (olderCheckpoint !== null && thread.status === "error"))
    throw refuse("no_pending_interrupt", "The thread has no pending interrupt.", undefined, value);
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
  const errors = faults.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  throw new ApiError("answer_invalid", `The answer does not fit what was asked for: ${faultText(errors[0], value)}.`, {
    interrupt_id: question.interruptId,
    see: `/inbox/${question.threadId}/${question.interruptId}`,
    errors,
  });
}

/** A fault in words: `amount should be a number, and is the text "12"` is what a form has to show. */
function faultText(fault: { readonly path: string; readonly message: string } | undefined, answer: Json): string {
  if (fault === undefined) return "it has another form";
  const { path, message } = fault;
  const what = path === "" ? "the answer" : path;
  if (message === "Invalid input") return `${what} has none of the forms that are allowed`; // of several schemas none fits
  const expected = /expected (string|number|boolean|object|array|integer|null)\b/.exec(message)?.[1];
  if (expected === undefined) return `${what}: ${message}`;
  const given = path === "" ? answer : at(answer, path.split("."));
  const article = /^[aeio]/.test(expected) ? "an" : "a";
  return `${what} should be ${article} ${expected}, and ${saidOf(given)}`;
}

function at(value: Json, path: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

function saidOf(given: Json | undefined): string {
  if (given === undefined) return "is missing";
  if (given === null) return "is null";
  if (typeof given === "string") return `is the text ${JSON.stringify(given.slice(0, 40))}`;
  if (Array.isArray(given)) return "is a list";
  return typeof given === "object" ? "is an object" : `is ${JSON.stringify(given)}`;
}

function notOpenText(thread: Thread, id: string): string {
  return thread.status === "busy" ? BUSY : `Interrupt ${id} is not open any more.`;
}
