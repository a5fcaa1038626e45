// Query of the page Answered: filters of the URL → parameters of the search. Pure.

export interface AnsweredFilters {
  /** Words that the server searches for. */
  readonly text?: string | undefined;
  readonly action?: string | undefined;
  readonly by?: string | undefined;
  readonly via?: string | undefined;
  readonly graph?: string | undefined;
  readonly since?: string | undefined;
}

/** What ends an item. */
const DECISIONS = "answered,answered_as_fork,continued,expired,abandoned,bypassed,cancelled";

export const ACTIONS = [
  ["answered,answered_as_fork,continued", "Answered"],
  ["expired", "Deadline passed"],
  ["abandoned,cancelled,bypassed", "Discarded"],
  ["claimed,released,assigned,reopened", "Claims and assignments"],
  ["acts", "Administrative acts"],
] as const;

export const CHANNELS = [
  "inbox",
  "api",
  "slack",
  "email",
  "deadline",
  "policy",
  "mcp",
  "a2a",
  "server",
  "cli",
] as const;

const DAY_MS = 86_400_000;
export const PERIODS = [
  ["1", "Last 24 hours"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
] as const;

export function buildSearch(
  { text, action, by, via, graph, since }: AnsweredFilters,
  now: number,
): Readonly<Record<string, string | undefined>> {
  const days = Number(since);
  return {
    q: text,
    ...(action === "acts" ? { kind: "act" } : { action: action ?? DECISIONS }),
    by,
    via,
    graph_id: graph,
    since: Number.isFinite(days) && days > 0 ? new Date(now - days * DAY_MS).toISOString() : undefined,
  };
}

/** How the run ended that followed: the words of a chip. */
export function endWords(status: string | null, endedBy: string | null): string | null {
  if (status === null) return null;
  if (status === "interrupted") return endedBy === "pause" ? "paused again" : "cancelled";
  return status;
}
