// Outcome: the reason why an item is no longer pending, from its state and from the audit trail. Pure.
import type { AuditEntry } from "@holdpoint/api/inbox.ts";

type Entry = Pick<AuditEntry, "action" | "by" | "via" | "at" | "interrupt_id">;

/** @param time shows a time @returns null without an entry of this interrupt */
export function formatOutcome(
  interruptId: string,
  entries: readonly Entry[],
  time: (at: string) => string,
): string | null {
  const last = entries.findLast(({ action, interrupt_id }) => interrupt_id === interruptId && action in ENDS);
  if (last === undefined) return null;
  const said = ENDS[last.action as keyof typeof ENDS];
  return said.replace("{by}", last.by).replace("{at}", time(last.at));
}

const ENDS = {
  expired: "The deadline passed at {at} without an answer, and the run failed.",
  abandoned: "Abandoned at {at}: {by} continued the thread without an answer.",
  cancelled: "Cancelled by {by} at {at}, with its run.",
  bypassed: "Skipped at {at}: {by} edited the state in the name of the node.",
  continued: "Continued by {by} at {at}.",
  answered: "Answered by {by} at {at}.",
  answered_as_fork: "Answered by {by} at {at}, on a branch of the thread.",
} as const;
