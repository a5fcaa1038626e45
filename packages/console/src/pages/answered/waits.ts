// Waits: answered entries of the audit trail → how long questions waited, and how often their actions were approved. Pure.
import type { FoundAuditEntry } from "@holdpoint/api/audit.ts";

type Entry = Pick<FoundAuditEntry, "by" | "action" | "at" | "asked_at" | "decision" | "graph_id" | "tool">;

export interface Waits {
  /** A graph, an action, or a group of the people who answered. */
  readonly name: string;
  readonly count: number;
  /** Milliseconds from question to answer. */
  readonly median: number;
  readonly p90: number;
  /** Share of approvals, also with changes, among decisions that approve or reject; null without any. */
  readonly approved: number | null;
}

/** Most waits first. @param readNames the groups that an entry counts in; none leaves it out */
export function groupWaits(
  entries: readonly Entry[],
  readNames: (entry: Entry) => readonly (string | null)[],
): readonly Waits[] {
  const answered = entries.filter(({ action, asked_at: asked }) => action === "answered" && asked !== null);
  const pairs = answered.flatMap((entry) =>
    readNames(entry).flatMap((name) => (name === null ? [] : [{ name, entry }])),
  );
  return [...Map.groupBy(pairs, ({ name }) => name)]
    .map(([name, list]) =>
      summarise(
        name,
        list.map(({ entry }) => entry),
      ),
    )
    .toSorted((one, other) => other.count - one.count);
}

function summarise(name: string, entries: readonly Entry[]): Waits {
  const waits = entries
    .map(({ at, asked_at: asked }) => Math.max(0, Date.parse(at) - Date.parse(asked ?? at)))
    .toSorted((one, other) => one - other);
  const quantile = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0;
  const approvals = entries.filter(({ decision }) => decision === "approve" || decision === "edit").length;
  const rejections = entries.filter(({ decision }) => decision === "reject" || decision === "ignore").length;
  const decided = approvals + rejections;
  return {
    name,
    count: entries.length,
    median: quantile(0.5),
    p90: quantile(0.9),
    approved: decided === 0 ? null : approvals / decided,
  };
}

/** One line a group, with a head. No name is a formula of a spreadsheet, as in the server's exports. */
export function formatCsv(groups: readonly (readonly [by: string, waits: readonly Waits[]])[]): string {
  const quote = (text: string): string => `"${text.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;
  const rows = groups.flatMap(([by, waits]) =>
    waits.map(({ name, count, median, p90, approved }) =>
      [by, quote(name), count, median / 1000, p90 / 1000, approved ?? ""].join(","),
    ),
  );
  return `${["by,name,answers,median_seconds,p90_seconds,approved", ...rows].join("\r\n")}\r\n`;
}
