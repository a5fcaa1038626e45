// On paused: what new input, an update, a goto and a cron do to a thread that waits for a person. Decided where the run is
// accepted, under the lock of the thread (docs/concepts/runs-and-pauses.md has the table).
// Invariants:
//   - The run's own choice counts, then that of its assistant. Without any, the pause is given up. A run whose
//     `multitask_strategy` is `reject` has made its choice, unless it also names another.
//   - A run that answers or continues the pause goes through, whatever the choice.
//   - An input counts as the answer only for the one open question; its schema and its rules apply as to any answer. It
//     names no question, so it answers none under review rules that took the place of another one.
//   - Whoever answers a question with review rules says so: the choice of the assistant makes no input the answer to
//     one. Its sender may not know of the question.
//   - A schedule decides nothing: the run of a cron answers no question and continues no breakpoint.
//   - `reject` holds for a run in the queue too: it ends when its thread pauses (runs/execute/behind-pause.ts).
import { ApiError } from "@holdpoint/base/api-error.ts";
import { exceedsBytes } from "@holdpoint/base/json/json-size.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { AuditVia, Interrupt, MultitaskStrategy, OnPaused, Thread } from "../model/model.ts";
import { serializeInterrupt } from "../wire/api-objects.ts";
import { REPLACED, replacesReviewed } from "./asked-before.ts";
import { openInterrupts } from "./problem-details.ts";
import type { Intent } from "./run-intent.ts";

export const ON_PAUSED = ["abandon", "reject", "enqueue", "answer"] as const satisfies readonly OnPaused[];

/** Member of an assistant's metadata. */
const ASSISTANT_KEY = "on_paused";

/** What a call says itself. */
export interface Choice {
  readonly onPaused: OnPaused | null;
  readonly multitaskStrategy: MultitaskStrategy;
}

/** A run to accept on a thread. */
export interface PausedCall extends Choice {
  readonly thread: Thread;
  /** All interrupts of the thread. */
  readonly known: readonly Interrupt[];
  readonly intent: Intent;
  /** Metadata of its assistant. */
  readonly assistant: JsonObject;
  readonly answerBytesMax: number;
  readonly via: AuditVia | undefined;
}

export interface PausedDecision {
  /** The intent in view of the choice: an input may be an answer. */
  readonly intent: Intent;
  /** The run waits for the end of the pause. */
  readonly waits: boolean;
  /** If the thread pauses while the run is in the queue, the run ends. */
  readonly refusesPause: boolean;
}

/** @throws {ApiError} `thread_paused`, `answer_ambiguous`, `answer_too_large` */
export function decideOnPaused(call: PausedCall): PausedDecision {
  const { thread, intent, onPaused, multitaskStrategy, assistant, via } = call;
  const isPaused = thread.status === "interrupted";
  if (isPaused && via === "cron" && intent.kind === "continue" && thread.pause === "breakpoint")
    throw paused(call, "and a cron continues no breakpoint");
  const free = { intent, waits: false, refusesPause: false };
  if (intent.kind === "resume" || intent.kind === "continue") return free;
  const own = onPaused ?? (multitaskStrategy === "reject" ? "reject" : null);
  const policy = own ?? readOnPaused(assistant) ?? "abandon";
  if (!isPaused) return { ...free, refusesPause: policy === "reject" };
  switch (policy) {
    case "abandon":
      return free;
    case "enqueue":
      return { ...free, waits: true };
    case "answer":
      return { ...free, intent: inputAsAnswer(call, own !== null) };
    case "reject":
      throw paused(call, `and ${onPaused === null && own !== null ? "multitask_strategy" : "on_paused"} is reject`);
    default:
      return policy satisfies never;
  }
}

/** @param isOwnChoice the call itself says that its input is the answer */
function inputAsAnswer(call: PausedCall, isOwnChoice: boolean): Intent {
  const { thread, known, intent, answerBytesMax } = call;
  if (call.via === "cron") throw paused(call, "and a cron answers no question");
  if (intent.kind !== "input") throw paused(call, "and only an input can be its answer");
  const open = openInterrupts(thread, known);
  const [only] = open;
  if (only === undefined) throw paused(call, "at a breakpoint, which takes no answer");
  if (open.length > 1) {
    const detail = `${open.length} interrupts are pending: send {"<interrupt id>": <answer>} for one or more of them.`;
    throw new ApiError("answer_ambiguous", detail, details(call));
  }
  if (only.review !== null && !isOwnChoice)
    throw paused(call, 'at a question with review rules: an input answers it only with on_paused "answer" of its own');
  if (replacesReviewed(known, only)) throw new ApiError("answer_ambiguous", REPLACED, details(call));
  if (exceedsBytes(intent.input, answerBytesMax)) {
    throw new ApiError("answer_too_large", `The input is an answer, and those have at most ${answerBytesMax} bytes.`);
  }
  return { kind: "resume", resume: { [only.interruptId]: intent.input } };
}

function paused(call: PausedCall, why: string): ApiError {
  return new ApiError("thread_paused", `The thread waits for a person, ${why}.`, details(call));
}

function details({ thread, known }: PausedCall): JsonObject {
  const pending = openInterrupts(thread, known).map((interrupt) => serializeInterrupt(interrupt, true));
  return { thread_status: thread.status, pending, see: `/threads/${thread.threadId}/state` };
}

/** @returns null without a valid choice */
function readOnPaused(metadata: JsonObject): OnPaused | null {
  return ON_PAUSED.find((one) => one === metadata[ASSISTANT_KEY]) ?? null;
}

/** Whether an input may be the answer, by the call or by the assistant. */
export function mayAnswerByInput({ onPaused, multitaskStrategy }: Choice, assistant: JsonObject): boolean {
  return (onPaused ?? (multitaskStrategy === "reject" ? "reject" : readOnPaused(assistant))) === "answer";
}

/** True if the assistant's metadata choose for runs that do not. */
export function choosesOnPaused(metadata: JsonObject): boolean {
  return metadata[ASSISTANT_KEY] !== undefined;
}

/** @throws {ApiError} `invalid_request`: with a typo, a question would be given up */
export function checkOnPaused(metadata: JsonObject): void {
  const given: Json | undefined = metadata[ASSISTANT_KEY];
  if (given === undefined || readOnPaused(metadata) !== null) return;
  const message = `must be one of ${ON_PAUSED.join(", ")}`;
  throw new ApiError("invalid_request", `body field metadata.${ASSISTANT_KEY}: ${message}`, {
    errors: [{ path: `metadata.${ASSISTANT_KEY}`, message }],
  });
}
