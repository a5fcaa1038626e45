// Place in the trace: the parent of a span, and the ids that the SDK of the backend declares for its run.
import type { Facts } from "./attributes/span-facts.ts";
import { sources, type Sources } from "./attributes/known-keys.ts";
import type { DeclaredIds } from "../shared/trace-run.ts";

const TRACE_ID = sources("langsmith.trace.id");
const RUN_ID = sources("langsmith.span.id");
const DOTTED_ORDER = sources("langsmith.span.dotted_order");
const PARENT_SPAN = sources("langsmith.traceable_parent_otel_span_id");
const PARENT_RUN = sources("langsmith.span.parent_id");
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;

/** Named by the backend's SDK, else the span's own, else the span of the SDK's parent run. */
export function readParent(facts: Facts): string {
  const named = facts.peek(PARENT_SPAN).toLowerCase(); // transport noise
  if (SPAN_ID.test(named)) return named;
  if (facts.span.parentSpanId !== "") return facts.span.parentSpanId;
  // Its spans have the first half of their run's id, or the run has the span's id after zeros.
  const run = takeUuid(facts, PARENT_RUN).replaceAll("-", "");
  return run.startsWith("0000000000000000") ? run.slice(16) : run.slice(0, 16);
}

export function readDeclaredIds(facts: Facts): DeclaredIds | null {
  const traceId = takeUuid(facts, TRACE_ID);
  const runId = takeUuid(facts, RUN_ID);
  if (traceId === "" && runId === "") return null;
  return { traceId, runId, dottedOrder: facts.text(DOTTED_ORDER) };
}

export function takeUuid(facts: Facts, from: Sources): string {
  const mark = facts.mark();
  const text = facts.text(from).toLowerCase();
  if (UUID.test(text)) return text;
  facts.release(mark);
  return "";
}
