// Erasure of traces: those of a thread, in pages.
import type { Cursor, TraceSearch } from "./query.ts";
import type { TraceStore } from "./store.ts";

export interface TraceErasure {
  readonly threadId: string;
  /** Null for the first page. */
  readonly cursor: Cursor | null;
  /** Counts, and deletes nothing. */
  readonly dryRun: boolean;
}

export interface ErasedTraces {
  readonly traces: number;
  /** Null at the end: then the files hold nothing of what was deleted. */
  readonly next: Cursor | null;
}

const PAGE = 200;

/** Idempotent: a call after a crash finds what is left. */
export async function eraseTraces(
  store: TraceStore,
  { threadId, cursor, dryRun }: TraceErasure,
): Promise<ErasedTraces> {
  const { items, next } = await store.search({ ...EVERY, threadId, limit: PAGE, cursor });
  if (!dryRun) for (const { trace_id: id } of items) await store.deleteTrace(id);
  if (!dryRun && next === null) await store.scrub();
  return { traces: items.length, next };
}

const EVERY: TraceSearch = {
  project: null,
  name: null,
  status: null,
  words: [],
  model: null,
  tool: null,
  threadId: null,
  tag: null,
  metadata: [],
  latencyMin: null,
  latencyMax: null,
  from: null,
  to: null,
  limit: PAGE,
  cursor: null,
};
