// Settle questions: what an accepted run does to what waited on its thread, row by row and in the audit trail.
import type { Json } from "../../base/json/json.ts";
import type { Intent } from "./run-intent.ts";
import type { AuditVia, Caller, Interrupt, Run, Thread } from "../model/model.ts";
import { authorOf } from "../model/audit-author.ts";
import type { Tx } from "../ports/ports.ts";
import type { AcceptedAnswers } from "./resume-rules.ts";

/**
 * Answered questions are marked with their answer; a new input abandons those that were open. Both are audited here.
 * @returns all that waited, as it is now.
 */
export async function resolveOnStart(
  tx: Tx,
  caller: Caller,
  thread: Thread,
  known: readonly Interrupt[],
  breakpoint: Interrupt | null,
  intent: Intent,
  answers: AcceptedAnswers | null,
  run: Run,
  forkFrom: string | null,
  at: number,
  via: AuditVia | undefined,
): Promise<readonly Interrupt[]> {
  const entry = (interrupt: Interrupt, value: Json) => ({
    ...authorOf(caller, via),
    threadId: thread.threadId,
    at,
    interruptId: interrupt.interruptId,
    runId: run.runId,
    value,
  });
  const changed: Interrupt[] = [];
  const audit = [];
  if (intent.kind === "input" || intent.kind === "give_up" || forkFrom !== null) {
    for (const interrupt of known) {
      if (interrupt.state !== "open" || answers?.questions.includes(interrupt) === true) continue;
      changed.push({ ...interrupt, state: "abandoned" });
      audit.push({ ...entry(interrupt, null), action: "abandoned" as const });
    }
  }
  for (const [position, question] of (answers?.questions ?? []).entries()) {
    const value = answers?.answers[position]?.value ?? null;
    changed.push({ ...question, state: "answered", answer: { runId: run.runId, at, by: caller.name, value } });
    const action = forkFrom === null ? ("answered" as const) : ("answered_as_fork" as const);
    audit.push({ ...entry(question, value), action });
  }
  if (breakpoint !== null) {
    const continued = intent.kind === "continue" && forkFrom === null;
    const answer = continued ? { runId: run.runId, at, by: caller.name, value: null } : null;
    changed.push({ ...breakpoint, state: continued ? "answered" : "abandoned", answer });
    audit.push({ ...entry(breakpoint, null), action: continued ? ("continued" as const) : ("abandoned" as const) });
  }
  if (changed.length > 0) await tx.putInterrupts(changed);
  if (audit.length > 0) await tx.audit(audit);
  if (thread.status !== "interrupted") return [];
  const touched = new Set(changed.map((interrupt) => interrupt.interruptId));
  return [...changed, ...known.filter(({ state, interruptId }) => state === "open" && !touched.has(interruptId))];
}
