// Interrupt resolution at the start of a run: updates the open interrupts of the thread and writes the audit trail.
// Invariants:
//   - Answered interrupts store their answer. New input abandons the open ones.
//   - Every change has an audit entry.
//   - So has an open interrupt that a command goes around: the run may abandon it at its end.
import type { Json } from "@holdpoint/base/json/json.ts";
import { gotoTargets, type Intent, withoutEnd } from "./run-intent.ts";
import type { AuditEntry, AuditVia, Caller, Interrupt, Run, Thread } from "../model/model.ts";
import { nameAuthor } from "../model/audit-author.ts";
import type { InterruptTx } from "../ports/ports.ts";
import type { AcceptedAnswers } from "./resume-rules.ts";
import type { ChooseAnswerer } from "./settle-votes.ts";

/** An accepted run, and the state of its thread before it. */
export interface StartedOnThread {
  readonly caller: Caller;
  readonly chooseAnswerer: ChooseAnswerer;
  readonly via: AuditVia | undefined;
  readonly run: Run;
  readonly intent: Intent;
  readonly answers: AcceptedAnswers | null;
  /** Checkpoint of a fork; null if the run continues the thread. */
  readonly forkFrom: string | null;
  readonly thread: Thread;
  /** All interrupts of the thread. */
  readonly known: readonly Interrupt[];
  /** The breakpoint at which the thread is paused. */
  readonly breakpoint: Interrupt | null;
  readonly at: number;
}

/** @returns the interrupts that were open, in their new state */
export async function resolveOnStart(
  tx: Pick<InterruptTx, "putInterrupts" | "audit">,
  started: StartedOnThread,
): Promise<readonly Interrupt[]> {
  const resolved = [
    ...abandonedBy(started),
    ...answeredBy(started),
    ...bypassedBy(started),
    ...breakpointAfter(started),
  ];
  if (resolved.length > 0) {
    await tx.putInterrupts(resolved.map(({ interrupt }) => interrupt));
    await tx.audit(resolved.map((one) => buildEntry(started, one)));
  }
  if (started.thread.status !== "interrupted") return [];
  const changed = resolved.map(({ interrupt }) => interrupt);
  const touched = new Set(changed.map((interrupt) => interrupt.interruptId));
  const untouched = started.known.filter(({ state, interruptId }) => state === "open" && !touched.has(interruptId));
  return [...changed, ...untouched];
}

interface Resolved {
  readonly interrupt: Interrupt;
  readonly action: AuditEntry["action"];
  readonly value: Json;
}

function abandonedBy({ intent, forkFrom, known, answers }: StartedOnThread): readonly Resolved[] {
  if (intent.kind !== "input" && intent.kind !== "end_thread" && forkFrom === null) return [];
  return known
    .filter((interrupt) => interrupt.state === "open" && answers?.interrupts.includes(interrupt) !== true)
    .map((interrupt) => ({ interrupt: { ...interrupt, state: "abandoned" }, action: "abandoned", value: null }));
}

function bypassedBy({ intent, forkFrom, known, answers }: StartedOnThread): readonly Resolved[] {
  const nodes = forkFrom === null ? goneTo(intent) : null;
  if (nodes === null) return [];
  return known
    .filter((interrupt) => interrupt.state === "open" && answers?.interrupts.includes(interrupt) !== true)
    .map((interrupt) => ({ interrupt, action: "bypassed", value: nodes }));
}

/** The nodes that a command goes to; null without one. */
function goneTo(intent: Intent): string | null {
  if (intent.kind !== "command" && intent.kind !== "resume") return null;
  return withoutEnd(gotoTargets(intent.goto)).join(", ") || null;
}

function answeredBy({ answers, run, chooseAnswerer, forkFrom, at }: StartedOnThread): readonly Resolved[] {
  return (answers?.interrupts ?? []).map((interrupt, position) => {
    const value = answers?.answers[position]?.value ?? null;
    const answer = { runId: run.runId, at, by: chooseAnswerer(interrupt).name, value };
    const action = forkFrom === null ? "answered" : "answered_as_fork";
    return { interrupt: { ...interrupt, state: "answered", answer }, action, value };
  });
}

function breakpointAfter({ breakpoint, intent, run, caller, forkFrom, at }: StartedOnThread): readonly Resolved[] {
  if (breakpoint === null) return [];
  const continued = intent.kind === "continue" && forkFrom === null;
  const answer = continued ? { runId: run.runId, at, by: caller.name, value: null } : null;
  const interrupt: Interrupt = { ...breakpoint, state: continued ? "answered" : "abandoned", answer };
  if (continued) return [{ interrupt, action: "continued", value: null }];
  const nodes = goneTo(intent);
  return [{ interrupt, action: nodes === null ? "abandoned" : "bypassed", value: nodes }];
}

function buildEntry(
  { caller, chooseAnswerer, via, thread, run, at }: StartedOnThread,
  { interrupt, action, value }: Resolved,
): AuditEntry {
  const { interruptId } = interrupt;
  const author = action === "answered" ? chooseAnswerer(interrupt) : caller;
  return { ...nameAuthor(author, via), threadId: thread.threadId, at, interruptId, runId: run.runId, value, action };
}
