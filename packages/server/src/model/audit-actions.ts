// Actions of the audit trail: decisions about questions, and administrative acts. ARCHITECTURE.md (Acts) has the table.
// Invariants:
//   - The subject of an act chooses one of ACT_TRAILS, so that acts at once seldom wait for the lock of one. Acts about
//     a policy are in the trail of its id. Neither is a thread: no deletion of one takes acts along.
import { hash } from "node:crypto";

export const DECISIONS = [
  "answered",
  "answered_as_fork",
  "continued",
  "abandoned",
  "cancelled",
  "reopened",
  /** Counted towards a decision, which needs more answers. */
  "voted",
  /** The payload or its schema changed, so the votes no longer count. */
  "votes_cleared",
  "assigned",
  "snoozed",
  "commented",
  "escalated",
  "claimed",
  "released",
  "expired",
  /** An edit in the name of a node, or a command that went to one, bypassed the interrupt. */
  "bypassed",
  /** A run disabled breakpoints compiled into its graph. */
  "breakpoints_off",
  /** The deadline passed, but its action was refused. The interrupt stays open. */
  "expiry_refused",
] as const;

export const ACTS = [
  "policy_written",
  "policy_revoked",
  "key_created",
  "key_revoked",
  "expired_key_used",
  "person_removed",
  "role_changed",
  "signed_in",
  "access_refused",
  "assistant_created",
  "assistant_updated",
  "assistant_deleted",
  "cron_created",
  "cron_updated",
  "cron_disabled",
  "cron_deleted",
  "thread_deleted",
  "threads_pruned",
  "run_deleted",
  "runs_pruned",
  "store_item_deleted",
  "server_started",
  "audit_exported",
  "data_exported",
  "data_imported",
  "backup_made",
] as const;

export type DecisionAction = (typeof DECISIONS)[number];
export type ActAction = (typeof ACTS)[number];
export type EntryKind = "decision" | "act";

/** In place of thread ids, which are UUIDs: by the first digit of the subject's hash. */
export const ACT_TRAILS: readonly string[] = Array.from("0123456789abcdef", (digit) => `acts-${digit}`);
const KNOWN_TRAILS: ReadonlySet<string> = new Set(ACT_TRAILS);

export const isActTrail = (id: string): boolean => KNOWN_TRAILS.has(id);

export const chooseActTrail = (subject: string): string => `acts-${hash("sha256", subject).charAt(0)}`;

const KNOWN_ACTS: ReadonlySet<string> = new Set(ACTS);

export function readEntryKind(action: string): EntryKind {
  return KNOWN_ACTS.has(action) ? "act" : "decision";
}
