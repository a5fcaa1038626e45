// Run trace: the spans of one attempt of one run, by OpenTelemetry's conventions for generative AI.
// Invariants:
//   run-trace.1. A run and the runs that continue its pauses are one trace with one root, also across restarts: ids,
//        order and the root's start derive from the runs' stored ids and times.
//   run-trace.2. Messages of people and models are in a span only if the settings request them, as is the text of an
//        error.
//   run-trace.3. Every wait that a run ends is a separate span next to the runs, from the interrupt to the answer.
//   run-trace.4. A requeued attempt sends no spans: the next attempt sends the whole run.
import { hash } from "node:crypto";
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import type { Run, TraceLink, TracedWait } from "../model/model.ts";
import { readableAnswer } from "../model/run.ts";
import type { RunTrace, StepEnd, TraceStep, TracedStep } from "../ports/ports.ts";
import { endAttributes, startAttributes, text } from "./attributes.ts";

/** Starts a span with given ids. */
export interface SpanIds {
  use<T>(ids: { readonly traceId: string; readonly spanId: string }, begin: () => T): T;
}

export interface RunTracePorts {
  readonly tracer: Tracer;
  readonly ids: SpanIds;
  /** True if the sampler keeps the trace with this id. */
  readonly chooseFlags: (traceId: string, context: Context) => number;
  readonly captureContent: boolean;
}

export function beginRunTrace(run: Run, ports: RunTracePorts): RunTrace {
  const { tracer, captureContent } = ports;
  const { trace: link, command } = run.request;
  const answers = new Map((command?.answers ?? []).map((answer) => [answer.interruptId, readableAnswer(answer)]));
  if (link !== undefined && run.attempt === 1)
    for (const wait of link.waits) recordWait(run, wait, answers.get(wait.interruptId), { ...ports, link }); // run-trace.3
  const own = startedSpan(
    {
      name: `invoke_agent ${run.graphId}`,
      id: run.runId,
      startedAt: findBegin(run),
      link,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": run.graphId,
        "gen_ai.agent.id": run.assistantId,
        "gen_ai.conversation.id": run.threadId,
        "holdpoint.run.id": run.runId,
        "holdpoint.run.attempt": run.attempt,
        ...named("run"),
      },
    },
    ports,
  );
  const under = (span: Span): Context => trace.setSpan(ROOT_CONTEXT, span);
  const step = (one: TraceStep, parent: Context): TracedStep => {
    const { name, kind } = describeSpan(one);
    const attributes = { ...startAttributes(one, captureContent), ...named(one.kind) };
    const span = tracer.startSpan(name, { kind, attributes }, parent);
    return {
      step: (inner) => step(inner, under(span)),
      end: (end) => endSpan(span, end, one.kind, captureContent),
    };
  };
  return {
    step: (one) => step(one, under(own)),
    input: (value) => {
      if (captureContent) own.setAttributes(text("input.value", value));
    },
    end(end) {
      if (end === "requeued") return; // run-trace.4
      endSpan(own, end, "run", captureContent);
    },
  };
}

/** Earliest start of the run: it exists before the start, and is the same in every attempt (run-trace.1). */
function findBegin(run: Run): number {
  return run.createdAt + Math.ceil((run.request.afterSeconds ?? 0) * 1000);
}

type WaitPorts = RunTracePorts & { readonly link: TraceLink };

function recordWait(run: Run, wait: TracedWait, answer: unknown, { link, ...ports }: WaitPorts): void {
  const { interruptId, node, kind, since, by } = wait;
  const attributes: Attributes = {
    "gen_ai.conversation.id": run.threadId,
    "holdpoint.interrupt.id": interruptId,
    "holdpoint.interrupt.kind": kind,
    "langsmith.metadata.interrupt_kind": kind,
    ...named("wait"),
    ...(ports.captureContent ? { ...text("output.value", () => answer), "holdpoint.answered_by": by } : {}),
  };
  const id = toUuid(hash("sha256", `${run.runId} ${interruptId}`));
  const span = startedSpan({ name: `wait ${node}`, id, startedAt: since, link, attributes }, ports);
  span.end(run.createdAt);
}

interface PlacedSpan {
  readonly name: string;
  /** A UUID. */
  readonly id: string;
  readonly startedAt: number;
  /** Absent for the root of its trace. */
  readonly link: TraceLink | undefined;
  readonly attributes: Attributes;
}

/** The root, or a span right below a root that ended long ago, perhaps in another process (run-trace.1). */
function startedSpan({ name, id, startedAt, link, attributes }: PlacedSpan, ports: RunTracePorts): Span {
  const spanId = hashSpanId(id);
  const options = { kind: SpanKind.INTERNAL, startTime: startedAt };
  if (link === undefined) {
    const ids = { traceId: toHex(id), spanId };
    return ports.ids.use(ids, () => ports.tracer.startSpan(name, { ...options, attributes }, ROOT_CONTEXT));
  }
  const traceId = toHex(link.rootRunId);
  const traceFlags = ports.chooseFlags(traceId, ROOT_CONTEXT);
  const above = { traceId, spanId: hashSpanId(link.rootRunId), traceFlags, isRemote: true };
  const parent = trace.setSpanContext(ROOT_CONTEXT, above);
  // The collector finds a span's place by its parent. These attributes name it, for a parent that the collector no
  // longer knows.
  const place = {
    "langsmith.trace.id": link.rootRunId,
    "langsmith.span.id": id,
    "langsmith.span.dotted_order": `${buildSegment(link.rootStartedAt, link.rootRunId)}.${buildSegment(startedAt, id)}`,
  };
  const all = { ...options, attributes: { ...attributes, ...place } };
  return ports.ids.use({ traceId, spanId }, () => ports.tracer.startSpan(name, all, parent));
}

function buildSegment(at: number, id: string): string {
  return `${new Date(at).toISOString().replace(/[-:.]/g, "").slice(0, -1)}000Z${id}`;
}

function toHex(id: string): string {
  return id.replaceAll("-", "");
}

function hashSpanId(id: string): string {
  return hash("sha256", id).slice(0, 16);
}

function toUuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** The kind of the span, where tracing UIs look for it. */
function named(kind: TraceStep["kind"] | "run" | "wait"): Attributes {
  return { "holdpoint.kind": kind, "langsmith.metadata.holdpoint_kind": kind };
}

function describeSpan(step: TraceStep): { readonly name: string; readonly kind: SpanKind } {
  switch (step.kind) {
    case "node":
      return { name: step.name, kind: SpanKind.INTERNAL };
    case "model":
      return { name: `chat ${step.model}`, kind: SpanKind.CLIENT };
    case "tool":
      return { name: `execute_tool ${step.name}`, kind: SpanKind.INTERNAL };
    default:
      return step satisfies never;
  }
}

function endSpan(span: Span, end: StepEnd, kind: TraceStep["kind"] | "run", captureContent: boolean): void {
  span.setAttributes(endAttributes(end, kind, captureContent));
  if (end.error !== undefined) {
    span.setAttribute("error.type", end.error.name);
    // run-trace.2
    span.setStatus({ code: SpanStatusCode.ERROR, ...(captureContent ? { message: end.error.message } : {}) });
  }
  span.end();
}
