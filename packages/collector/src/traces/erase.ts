// Erasure of traces: those of a thread, or those that name a person, in pages.
import { createPersonalNames, type PersonalNames } from "@holdpoint/base/personal-names.ts";
import { EVERY_TRACE, type Cursor } from "./query.ts";
import type { TraceStore } from "./store.ts";

export interface TraceErasure {
  /** Null for the traces of all threads, with `identifiers`. */
  readonly threadId: string | null;
  /** Names of a person: only traces that have one. Null for all traces of the thread. */
  readonly identifiers: readonly string[] | null;
  /** Null for the first page. */
  readonly cursor: Cursor | null;
  /** Counts, and deletes nothing. */
  readonly dryRun: boolean;
}

export interface ErasedTraces {
  /** Deleted traces of this page. */
  readonly traces: number;
  /** Null at the end: then the files hold nothing of what was deleted. */
  readonly next: Cursor | null;
}

const PAGE = 200;
/** Traces that are read whole. */
const READ_PAGE = 20;

/** Idempotent: a call after a crash finds what is left. */
export async function eraseTraces(store: TraceStore, erasure: TraceErasure): Promise<ErasedTraces> {
  const { threadId, identifiers, cursor, dryRun } = erasure;
  const limit = identifiers === null ? PAGE : READ_PAGE;
  const { items, next } = await store.search({ ...EVERY_TRACE, threadId, limit, cursor });
  const names = identifiers === null ? null : createPersonalNames(identifiers, "");
  let traces = 0;
  for (const { trace_id: id } of items) {
    if (names !== null && !(await namesPerson(store, names, id))) continue;
    traces++;
    if (!dryRun) await store.deleteTrace(id);
  }
  if (!dryRun && next === null) await store.scrub();
  return { traces, next };
}

async function namesPerson(store: TraceStore, names: PersonalNames, traceId: string): Promise<boolean> {
  const trace = await store.trace(traceId);
  if (trace === null) return false;
  if (names.names(trace, "content")) return true;
  const { runs } = JSON.parse(trace) as { readonly runs: readonly { readonly run_id: string }[] };
  for (const { run_id: runId } of runs) {
    const run = await store.run(runId);
    if (run === null) continue;
    if (names.names(run, "content")) return true;
    const { attachments = [] } = JSON.parse(run) as { readonly attachments?: readonly { readonly name: string }[] };
    for (const { name } of attachments) {
      const file = await store.attachment(runId, name);
      if (file !== null && names.names(Buffer.from(file.bytes).toString(), "content")) return true;
    }
  }
  return false;
}
