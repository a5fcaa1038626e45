// Resume rules: acceptance of an answer, and its target interrupts. Pure: rows in, decision or refusal out.
// Invariants (interrupts/ARCHITECTURE.md):
//   agent/resume-rules.1. An answer is accepted only while its interrupt is open on a paused thread.
//   agent/resume-rules.2. With several open interrupts, a bare value is ambiguous and is rejected. So it is for a question
//        under review rules that took the place of another one: it may be meant for that.
//   agent/resume-rules.3. The id of a closed interrupt of this thread is stale (409); any other id is unknown (422).
//   agent/resume-rules.4. All answers of one call are accepted, or none.
//   agent/resume-rules.5. Only a command with `fork: true` answers an interrupt of an older checkpoint again.
//   - A fork runs a node of the root graph from its last interrupt there. LangGraph takes no answer to an earlier one,
//     or to one in a subgraph: such a fork is refused.
import type { ApiError, ErrorCode } from "@holdpoint/base/api-error.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { schemaRefusal } from "./answer-schema.ts";
import { REPLACED, replacesReviewed } from "./asked-before.ts";
import { isAnswerMap, type Intent } from "./run-intent.ts";
import type { CarriedAnswer, Interrupt, SubgraphCheckpoint, Thread } from "../model/model.ts";
import { maskSecrets } from "../model/payload/mask-secrets.ts";
import { describePayload } from "../model/payload/shown-payload.ts";
import {
  AnswerRefusals,
  openInterrupts,
  RefusedAnswers,
  createRefuser,
  unknownInterrupt,
  type Refuse,
} from "./problem-details.ts";

export interface AcceptedAnswers {
  readonly answers: readonly CarriedAnswer[];
  readonly interrupts: readonly Interrupt[];
}

/** Target of an answer: the checkpoint in the call, if it differs from that of the open pause. */
export interface AnswerTarget {
  readonly olderCheckpoint: string | null;
  /** The command has `fork: true`. */
  readonly fork: boolean;
  /** Additional refusal of an interrupt, such as the assignment of its inbox item. */
  readonly refusal?: (interrupt: Interrupt) => ApiError | null;
}

/**
 * @param known all interrupts of the thread
 * @throws {RefusedAnswers} `thread_busy`, `interrupt_stale`, `interrupt_unknown`, `answer_invalid`, with the refusal of
 *   each interrupt
 * @throws {ApiError} `thread_busy`, `no_pending_interrupt`, `answer_ambiguous`, if the call names no interrupt
 */
export function acceptAnswers(
  thread: Thread,
  known: readonly Interrupt[],
  resume: Json,
  target: AnswerTarget,
): AcceptedAnswers {
  const { olderCheckpoint, fork } = target;
  const open = olderCheckpoint === null ? openInterrupts(thread, known) : interruptsAt(known, olderCheckpoint);
  const refuse = createRefuser(thread, known);
  const older = olderCheckpoint !== null && !fork ? olderCheckpoint : null;
  if (isAnswerMap(resume)) {
    const refusals = buildRefusals(thread, known, resume, target);
    refusals.throwFirst("unknown"); // agent/resume-rules.3
    if (older !== null)
      throw refuseOlder(refuse, thread, namedBy(resume, known), { resume, checkpointId: older, last: open });
    refusals.throwFirst("closed"); // agent/resume-rules.1
    checkReady(thread, target, open, (code, detail) => refuse(code, detail, undefined, null));
    refusals.throwFirst("invalid"); // agent/resume-rules.4
    if (olderCheckpoint !== null) checkForks(refuse, namedBy(resume, known), open, resume);
    return carried(namedBy(resume, known), (interrupt) => resume[interrupt.interruptId] ?? null);
  }
  if (older !== null) throw refuseOlder(refuse, thread, open, { resume, checkpointId: older, last: open }); // agent/resume-rules.5
  checkReady(thread, target, open, (code, detail) => refuse(code, detail, undefined, resume));
  const [only] = open;
  if (only === undefined || open.length > 1) {
    const detail = `${open.length} interrupts are pending: send {"<interrupt id>": <answer>} for one or more of them.`;
    throw refuse("answer_ambiguous", detail, undefined, resume); // agent/resume-rules.2
  }
  if (replacesReviewed(known, only)) throw refuse("answer_ambiguous", REPLACED, undefined, resume);
  const refusal = target.refusal?.(only) ?? schemaRefusal(only, resume);
  if (refusal !== null) throw new RefusedAnswers(refusal, new Map([[only.interruptId, refusal]]));
  if (olderCheckpoint !== null) checkForks(refuse, [only], open, resume);
  return carried([only], () => resume);
}

/** Refusal of each answer on its own, by interrupt id. An answer that is not in it would be accepted alone. */
export function buildRefusals(
  thread: Thread,
  known: readonly Interrupt[],
  resume: JsonObject,
  { olderCheckpoint, refusal: refuseMore }: AnswerTarget,
): AnswerRefusals {
  const open = olderCheckpoint === null ? openInterrupts(thread, known) : interruptsAt(known, olderCheckpoint);
  const isOpen = (interrupt: Interrupt): boolean =>
    olderCheckpoint === null ? open.includes(interrupt) : interrupt.rootCheckpointId === olderCheckpoint;
  const byId = new Map(known.map((interrupt) => [interrupt.interruptId, interrupt]));
  const refusals = new AnswerRefusals();
  for (const [id, value] of Object.entries(resume)) {
    const interrupt = byId.get(id);
    if (interrupt === undefined) {
      refusals.add(id, "unknown", unknownInterrupt(thread, id, open));
      continue;
    }
    const more = refuseMore?.(interrupt) ?? null;
    if (more !== null) refusals.add(id, "closed", more);
    else if (!isOpen(interrupt)) {
      const code = thread.status === "busy" ? "thread_busy" : "interrupt_stale";
      refusals.add(id, "closed", createRefuser(thread, known)(code, notOpenText(thread, id), interrupt, value));
    } else {
      const invalid = schemaRefusal(interrupt, value);
      if (invalid !== null) refusals.add(id, "invalid", invalid);
    }
  }
  return refusals;
}

/**
 * Checkpoint in the call that differs from the current one; null if the run continues the thread. An answer may name
 * the checkpoint of its interrupt, or of a subgraph: it goes there in any case.
 */
export function olderCheckpoint(
  { checkpointId, subgraph }: NamedCheckpoint,
  thread: Thread,
  known: readonly Interrupt[],
  { kind }: Intent,
): string | null {
  if (kind !== "resume") return checkpointId === thread.checkpointId ? null : checkpointId;
  const isOpenPause = openInterrupts(thread, known).some((interrupt) =>
    subgraph === null
      ? interrupt.rootCheckpointId === checkpointId
      : interrupt.graphNs === subgraph.ns && interrupt.checkpointId === subgraph.checkpointId,
  );
  if (isOpenPause || (subgraph === null && checkpointId === thread.checkpointId)) return null;
  return checkpointId;
}

interface NamedCheckpoint {
  readonly checkpointId: string | null;
  readonly subgraph: SubgraphCheckpoint | null;
}

/** At an older checkpoint, each task shows its last interrupt. */
function interruptsAt(known: readonly Interrupt[], checkpointId: string): readonly Interrupt[] {
  const last = new Map<string, Interrupt>();
  for (const interrupt of known) {
    if (interrupt.rootCheckpointId !== checkpointId) continue;
    const task = `${interrupt.graphNs} ${interrupt.taskId}`;
    const other = last.get(task);
    if (other === undefined || other.index <= interrupt.index) last.set(task, interrupt); // the later of two with one number
  }
  return [...last.values()];
}

/** In the order of the call. */
function namedBy(resume: JsonObject, known: readonly Interrupt[]): readonly Interrupt[] {
  const byId = new Map(known.map((interrupt) => [interrupt.interruptId, interrupt]));
  return Object.keys(resume).flatMap((id) => byId.get(id) ?? []);
}

/**
 * Clients send the displayed checkpoint with every answer, so a late click does not request a fork
 * (agent/resume-rules.5).
 */
function refuseOlder(
  refuse: Refuse,
  thread: Thread,
  named: readonly Interrupt[],
  {
    resume,
    checkpointId,
    last,
  }: { readonly resume: Json; readonly checkpointId: string; readonly last: readonly Interrupt[] },
): ApiError {
  const interrupt = named.find(({ state }) => state === "answered") ?? named[0];
  const value = isAnswerMap(resume) && interrupt !== undefined ? (resume[interrupt.interruptId] ?? null) : resume;
  if (thread.status === "busy") return refuse("thread_busy", BUSY, interrupt, value);
  if (interrupt === undefined)
    return refuse("no_pending_interrupt", `Checkpoint ${checkpointId} has no interrupt.`, undefined, value);
  const { interruptId, state } = interrupt;
  const detail =
    state === "open"
      ? `Interrupt ${interruptId} does not belong to checkpoint ${checkpointId}: omit the checkpoint.`
      : `Interrupt ${interruptId} was ${state}.${isForkable(interrupt, last) ? FORK_HINT : ""}`;
  return refuse("interrupt_stale", detail, interrupt, value);
}

const FORK_HINT = ' To answer it again as a fork, send "fork": true in the command.';

/** @param last the last interrupt of each task at the checkpoint */
function isForkable({ graphNs, taskId, index }: Interrupt, last: readonly Interrupt[]): boolean {
  return graphNs === "" && !last.some((one) => one.graphNs === "" && one.taskId === taskId && one.index > index);
}

function checkForks(refuse: Refuse, named: readonly Interrupt[], last: readonly Interrupt[], resume: Json): void {
  const other = named.find((interrupt) => !isForkable(interrupt, last));
  if (other === undefined) return;
  const value = isAnswerMap(resume) ? (resume[other.interruptId] ?? null) : resume;
  const detail = `Interrupt ${other.interruptId} cannot be answered as a fork: it is in a subgraph, or its node has asked again since. Fork from a checkpoint before its node instead, without an answer.`;
  throw refuse("interrupt_stale", detail, other, value);
}

const BUSY = "The thread has a run in progress; an answer is never queued.";

function checkReady(
  thread: Thread,
  { olderCheckpoint }: AnswerTarget,
  open: readonly Interrupt[],
  refuse: (code: ErrorCode, detail: string) => ApiError,
): void {
  if (thread.status === "busy") throw refuse("thread_busy", BUSY);
  if (open.length === 0 || (olderCheckpoint !== null && thread.status === "error"))
    throw refuse("no_pending_interrupt", "The thread has no pending interrupt.");
}

function carried(interrupts: readonly Interrupt[], chooseValue: (interrupt: Interrupt) => Json): AcceptedAnswers {
  const answers = interrupts.map((interrupt): CarriedAnswer => {
    const { interruptId, libraryId, graphNs, taskId, checkpointId, index, createdAt } = interrupt;
    const { random: _random, ...shown } = describePayload(interrupt.value, createdAt, Number.POSITIVE_INFINITY);
    const value = chooseValue(interrupt);
    const masked = maskSecrets(value, interrupt.responseSchema);
    const readable = masked === value ? {} : { masked };
    return { interruptId, libraryId, graphNs, taskId, checkpointId, index, value, shown, ...readable };
  });
  return { answers, interrupts };
}

function notOpenText(thread: Thread, id: string): string {
  return thread.status === "busy" ? BUSY : `Interrupt ${id} is no longer open.`;
}
