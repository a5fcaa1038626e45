// Live: the state of a running run from its events: growing messages, the graph state, the finished nodes. Pure.
// Invariants:
//   thread/live.1. Replaying a run's events gives the same result: nothing counts twice.
//   thread/live.2. Events of unknown kinds change nothing.
import type { StreamEvent } from "../../api/events.ts";

export interface Live {
  /** The newest full state; null before the first. */
  readonly values: Readonly<Record<string, unknown>> | null;
  /** Streaming messages by id, in start order. */
  readonly writing: ReadonlyMap<string, Members>;
  /** In the order of their end; nodes of subgraphs as in drawings: `outer:inside:node`. */
  readonly nodesDone: readonly string[];
  readonly error: string | null;
}

export type Members = Readonly<Record<string, unknown>>;

export const NOTHING_YET: Live = { values: null, writing: new Map(), nodesDone: [], error: null };

export function withEvent(live: Live, { event, data }: StreamEvent): Live {
  const [kind = "", ...namespace] = event.split("|");
  if (kind === "metadata") return NOTHING_YET; // thread/live.1: a restarted or replayed run
  if (kind === "error") return { ...live, error: formatMessage(data) };
  if (kind === "messages" || kind.startsWith("messages/")) return withMessage(live, kind, data);
  if (!isMembers(data)) return live; // thread/live.2
  if (kind === "values") return namespace.length > 0 ? live : { ...live, values: data }; // subgraphs have their own
  if (kind !== "updates") return live;
  const path = namespace.map((part) => `${part.replace(/:.*$/, "")}:`).join("");
  const nodes = Object.keys(data).flatMap((name) => (name.startsWith("__") ? [] : [`${path}${name}`]));
  return { ...live, nodesDone: [...live.nodesDone, ...nodes] };
}

/** The messages of the state plus the streaming ones; the last ones may be incomplete. */
export function mergeMessages(live: Live, before: unknown): readonly unknown[] {
  const known = live.values?.["messages"] ?? (isMembers(before) ? before["messages"] : undefined);
  const list = Array.isArray(known) ? (known as readonly unknown[]) : [];
  const ids = new Set(list.map((one) => (isMembers(one) ? one["id"] : undefined)));
  return [...list, ...[...live.writing.values()].filter(({ id }) => !ids.has(id))];
}

function withMessage(live: Live, kind: string, data: unknown): Live {
  const list = Array.isArray(data) ? (data as readonly unknown[]) : [];
  if (kind === "messages/metadata") return live;
  const writing = new Map(live.writing);
  // Complete messages arrive as a list; a chunk arrives with its metadata as [chunk, metadata].
  const isChunk = kind === "messages";
  for (const one of isChunk ? list.slice(0, 1) : list) {
    if (!isMembers(one) || typeof one["id"] !== "string") continue;
    const before = writing.get(one["id"]);
    writing.set(one["id"], isChunk && before !== undefined && isPiece(one) ? joined(before, one) : one);
  }
  return { ...live, writing };
}

const isPiece = ({ type }: Members): boolean => String(type).endsWith("Chunk") || type === "ai";

function joined(before: Members, piece: Members): Members {
  const [old, young] = [before["content"], piece["content"]];
  const content =
    typeof old === "string" && typeof young === "string" ? old + young : [...toParts(old), ...toParts(young)];
  const calls = [before["tool_calls"], piece["tool_calls"]].filter((one) => Array.isArray(one) && one.length > 0);
  return { ...before, content, ...(calls.length === 0 ? {} : { tool_calls: calls.at(-1) }) };
}

function toParts(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content as readonly unknown[];
  return typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
}

function formatMessage(data: unknown): string {
  if (!isMembers(data)) return String(data);
  const { message, error } = data;
  if (typeof message === "string") return message;
  return typeof error === "string" ? error : "The run failed.";
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
