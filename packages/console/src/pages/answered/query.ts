// Query of the page Answered: filters of the URL → parameters of the search; entries → words. Pure.
import type { FoundAuditEntry } from "@holdpoint/api/audit.ts";
import type { Tone } from "../../ui/controls.tsx";

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

const DECIDED: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  approve: ["approved", "green"],
  edit: ["edited", "accent"],
  reject: ["rejected", "red"],
  ignore: ["ignored", "neutral"],
};

/** `approved`, `edited`: what an entry is, in a word, and its colour. */
export function nameEntry({ action, decision }: Pick<FoundAuditEntry, "action" | "decision">): readonly [string, Tone] {
  const decided = action === "answered" ? DECIDED[decision ?? ""] : undefined;
  return decided ?? [action.replaceAll("_", " "), action.startsWith("answered") ? "green" : "neutral"];
}

/** How the run ended that followed: the words of a chip. */
export function endWords(status: string | null, endedBy: string | null): string | null {
  if (status === null) return null;
  if (status === "interrupted") return endedBy === "pause" ? "paused again" : "cancelled";
  return status;
}
