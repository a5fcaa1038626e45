// Missing: the reviewers from whom a vote is still expected, as far as the rules name them. Pure.
import type { Review } from "@holdpoint/api/inbox.ts";

/** Named people and groups without a vote. A group stays: its members are unknown here. */
export function listMissing({
  assignees,
  excluded,
  votes,
}: Pick<Review, "assignees" | "excluded" | "votes">): readonly string[] {
  const done = new Set([...votes.map(({ by }) => by), ...excluded]);
  return [...new Set(assignees.flat())].filter((entry) => !done.has(entry));
}

/** `group:finance` → `the group finance`. */
export function formatList(entries: readonly string[]): string {
  return entries.map((entry) => (entry.startsWith("group:") ? `the group ${entry.slice(6)}` : entry)).join(", ");
}
