// Trace sampler: keeps or drops whole traces (decode → sample → join → translate → …).
//   the rate keeps the trace        it passes at once, without any memory
//   a rule about requests keeps it  the same
//   a rule could still keep it      its spans and log records wait, until one of them matches or the trace is quiet
// Invariants:
//   - The rate decides by a hash of the trace id: every replica, and every restart, decides alike.
//   - A trace has one decision, which holds for its late spans too, while it is among the DECISIONS_MAX newest: a kept
//     trace is whole.
//   - Every item is passed on once or discarded once.
//   - Waiting items take at most `waitingBytesMax`: beyond it the oldest trace is decided early, as if it were quiet.
//   trace-sampler.5. A restart drops no rest of a kept trace: recall() tells which traces have runs with a place in the
//        spool, note() shows the items that are done already. Either can only keep a trace.
import { hash } from "node:crypto";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { IsFailedRecord } from "./failed-item.ts";
import { applies, isOfSender, type OfferedItem } from "./rule-match.ts";
import type { SampleDefinition } from "./sample-schema.ts";
import { hasConditions } from "./span-match.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, AttributeValue, Span } from "../otlp/span.ts";

export interface SampledItem extends OfferedItem {
  readonly pass: () => void;
  readonly discard: () => void;
}

export interface SamplerStats {
  /** Spans and log records of traces that were not kept. */
  readonly sampledOut: number;
  readonly keptTraces: number;
  readonly droppedTraces: number;
  readonly undecidedTraces: number;
  readonly decidedEarly: number;
}

export const NO_SAMPLING: SamplerStats = Object.freeze({
  sampledOut: 0,
  keptTraces: 0,
  droppedTraces: 0,
  undecidedTraces: 0,
  decidedEarly: 0,
});

export interface TraceSampler {
  readonly offer: (item: SampledItem) => void;
  /** For an item that an earlier process has passed on or discarded: it only counts for the decision. */
  readonly note: (item: OfferedItem) => void;
  /** A run of this trace has been emitted: the trace was kept. `tenantId` is `Tenant.id`. */
  readonly recall: (tenantId: string, traceId: string) => void;
  readonly waitingBytes: () => number;
  readonly stats: () => SamplerStats;
  /** Decides every waiting trace. */
  readonly drain: () => void;
  /** No wait ends by itself any more. */
  readonly pause: () => void;
}

export interface SamplerOptions {
  readonly rules: SampleDefinition;
  readonly waitingBytesMax: number;
}

interface Trace {
  readonly key: string;
  readonly draw: number;
  decision: "kept" | "dropped" | null;
  waiting: SampledItem[];
  bytes: number;
  lastSeen: number;
}

export interface SamplerPorts {
  /** Monotonic ms: the end of every quiet time (pipeline.6). */
  readonly quietUntil: () => number;
  readonly clock: Clock;
  readonly isFailedRecord: IsFailedRecord;
}

interface Sampling {
  readonly options: SamplerOptions;
  readonly ports: SamplerPorts;
  /** Least recently seen first. */
  readonly traces: Map<string, Trace>;
  readonly undecided: Set<Trace>;
  readonly counts: { sampledOut: number; keptTraces: number; droppedTraces: number; decidedEarly: number };
  waitingBytes: number;
  cancelSweep: (() => void) | null;
}

const DECISIONS_MAX = 100_000;
const DRAW_DIGITS = 13;
const DRAW_RANGE = 16 ** DRAW_DIGITS;

export function createTraceSampler(options: SamplerOptions, ports: SamplerPorts): TraceSampler {
  const counts = { sampledOut: 0, keptTraces: 0, droppedTraces: 0, decidedEarly: 0 };
  const traces = new Map<string, Trace>();
  const state: Sampling = {
    options,
    ports,
    traces,
    undecided: new Set(),
    counts,
    waitingBytes: 0,
    cancelSweep: null,
  };
  return {
    offer: (item) => offer(state, item),
    note: (item) => note(state, item),
    recall: (tenantId, traceId) => keepAgain(state, buildTraceKey(tenantId, traceId)),
    waitingBytes: () => state.waitingBytes,
    stats: () => ({ ...counts, undecidedTraces: state.undecided.size }),
    drain() {
      for (const trace of state.undecided) decide(state, trace, "dropped");
    },
    pause() {
      state.cancelSweep?.();
      state.cancelSweep = null;
    },
  };
}

/** A number from 0 to below 1. */
export function drawTrace(traceId: string): number {
  return Number.parseInt(hash("sha256", traceId).slice(0, DRAW_DIGITS), 16) / DRAW_RANGE;
}

function offer(state: Sampling, offered: SampledItem): void {
  const { traceId } = offered;
  if (traceId === "") return offered.pass();
  const trace = findTrace(state, buildTraceKey(offered.tenant.id, traceId));
  trace.lastSeen = state.ports.clock.monotonic();
  if (trace.decision === null && isKept(state, trace, offered)) decide(state, trace, "kept");
  else if (trace.decision === null && !canWait(state, trace, offered)) decide(state, trace, "dropped");
  if (trace.decision === "kept") return offered.pass();
  if (trace.decision === "dropped") {
    state.counts.sampledOut++;
    return offered.discard();
  }
  hold(state, trace, offered);
}

/** trace-sampler.5. Without a match it leaves no trace behind: nothing waits that would end it. */
function note(state: Sampling, noted: OfferedItem): void {
  if (noted.traceId === "") return;
  const key = buildTraceKey(noted.tenant.id, noted.traceId);
  if (isKept(state, state.traces.get(key) ?? { draw: drawTrace(noted.traceId) }, noted)) keepAgain(state, key);
}

/** A decision of an earlier process: it has counted the trace. */
function keepAgain(state: Sampling, key: string): void {
  const trace = findTrace(state, key);
  trace.lastSeen = state.ports.clock.monotonic();
  if (trace.decision === null) for (const item of release(state, trace, "kept")) item.pass();
}

function buildTraceKey(tenantId: string, traceId: string): string {
  return traceId + tenantId;
}

function findTrace({ traces }: Sampling, key: string): Trace {
  const known = traces.get(key);
  const trace: Trace = known ?? {
    key,
    draw: drawTrace(key.slice(0, 32)),
    decision: null,
    waiting: [],
    bytes: 0,
    lastSeen: 0,
  };
  if (known !== undefined) traces.delete(key);
  traces.set(key, trace);
  if (traces.size > DECISIONS_MAX)
    for (const old of traces.values()) {
      if (traces.size <= DECISIONS_MAX) break;
      if (old.decision !== null) traces.delete(old.key);
    }
  return trace;
}

function isKept({ options, ports }: Sampling, { draw }: Pick<Trace, "draw">, offered: OfferedItem): boolean {
  const { keep, rate } = options.rules;
  return draw < rate || keep.some((rule) => draw < rule.rate && applies(rule, offered, ports.isFailedRecord));
}

/** A later span could match a rule that would keep this trace: all its spans have one sender. */
function canWait({ options }: Sampling, { draw }: Trace, { tenant }: SampledItem): boolean {
  return options.rules.keep.some(
    (rule) => draw < rule.rate && (rule.error === true || hasConditions(rule)) && isOfSender(rule, tenant),
  );
}

function hold(state: Sampling, trace: Trace, offered: SampledItem): void {
  const bytes = estimateSize(offered.item);
  trace.waiting.push(offered);
  trace.bytes += bytes;
  state.waitingBytes += bytes;
  state.undecided.add(trace);
  for (const oldest of state.undecided) {
    if (state.waitingBytes <= state.options.waitingBytesMax) break;
    state.counts.decidedEarly++;
    decide(state, oldest, "dropped");
  }
  planSweep(state);
}

function decide(state: Sampling, trace: Trace, decision: "kept" | "dropped"): void {
  const waiting = release(state, trace, decision);
  if (decision === "kept") {
    state.counts.keptTraces++;
    for (const item of waiting) item.pass();
  } else {
    state.counts.droppedTraces++;
    state.counts.sampledOut += waiting.length;
    for (const item of waiting) item.discard();
  }
}

/** Returns the items that waited for the decision. */
function release(state: Sampling, trace: Trace, decision: "kept" | "dropped"): readonly SampledItem[] {
  const { waiting } = trace;
  trace.decision = decision;
  trace.waiting = [];
  state.waitingBytes -= trace.bytes;
  trace.bytes = 0;
  state.undecided.delete(trace);
  return waiting;
}

function planSweep(state: Sampling): void {
  if (state.cancelSweep !== null || state.undecided.size === 0) return;
  const { wait_ms: waitMs } = state.options.rules;
  state.cancelSweep = state.ports.clock.after(Math.max(10, waitMs / 4), () => {
    state.cancelSweep = null;
    const quietSince = state.ports.quietUntil() - waitMs;
    for (const trace of state.undecided) if (trace.lastSeen <= quietSince) decide(state, trace, "dropped");
    planSweep(state);
  });
}

const ITEM_BYTES = 1024;
const VALUE_BYTES = 32;
const BYTES_A_CHARACTER = 2;

/** About how much memory it takes while its trace waits: its texts, and a fixed part for the rest. */
function estimateSize(item: Span | LogRecord): number {
  const own = ITEM_BYTES + sumSizes(item.attributes.values);
  if ("severity" in item) return own + sizeOfValue(item.body);
  return item.events.reduce((sum, { attributes }) => sum + VALUE_BYTES + sumSizes(attributes.values), own);
}

function sumSizes(values: readonly AttributeValue[]): number {
  return values.reduce<number>((sum, value) => sum + sizeOfValue(value), 0);
}

function sizeOfValue(value: AttributeValue): number {
  if (typeof value === "string") return VALUE_BYTES + BYTES_A_CHARACTER * value.length;
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  if (value instanceof Uint8Array) return VALUE_BYTES + value.length;
  return VALUE_BYTES + sumSizes(isList(value) ? value : value.values);
}

function isList(value: Attributes | readonly AttributeValue[]): value is readonly AttributeValue[] {
  return Array.isArray(value);
}
