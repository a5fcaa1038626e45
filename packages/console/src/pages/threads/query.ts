// Query of the thread list: URL parameters → the server search. Pure.
import { parsePairs } from "../../ui/pairs.ts";

export interface ThreadFilters {
  /** Words that the server searches for. */
  readonly text?: string | undefined;
  readonly status?: string | undefined;
  readonly graph?: string | undefined;
  /** `key=value`, several separated by commas; a JSON value counts as JSON. */
  readonly metadata?: string | undefined;
  /** An id, or its beginning. */
  readonly id?: string | undefined;
  readonly sort?: string | undefined;
}

export const STATUSES = ["idle", "busy", "interrupted", "error"] as const;
const ID_UNITS = 36;

export function searchBody(filters: ThreadFilters, limit: number, offset: number): Readonly<Record<string, unknown>> {
  const { text, status, graph, metadata, id, sort } = filters;
  const pairs = { ...parsePairs(metadata), ...(graph === undefined ? {} : { graph_id: graph }) };
  return {
    limit,
    offset,
    sort_by: sort === "created" ? "created_at" : "updated_at",
    select: ["thread_id", "created_at", "updated_at", "metadata", "status", "interrupts", "error"],
    extract: { last: "values.messages[-1].content", first: "values.messages[0].content" },
    ...(text === undefined ? {} : { q: text }),
    ...(STATUSES.some((one) => one === status) ? { status } : {}),
    ...(Object.keys(pairs).length === 0 ? {} : { metadata: pairs }),
    ...(id === undefined || id.trim() === "" ? {} : { id_prefix: id.trim().slice(0, ID_UNITS) }),
  };
}

/** The content of a message as one line. */
export function formatLine(content: unknown): string {
  if (typeof content === "string") return content.replaceAll(/\s+/g, " ").trim();
  if (!Array.isArray(content)) return "";
  return (content as readonly unknown[])
    .map((part) => (typeof part === "object" && part !== null && "text" in part ? String(part.text) : ""))
    .filter((text) => text !== "")
    .join(" ");
}
