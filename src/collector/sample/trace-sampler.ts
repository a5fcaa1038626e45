// Trace sampler: keeps or drops whole traces (decode → sample → join → translate → …).
//   the rate keeps the trace        it passes at once, without any memory
//   a rule about requests keeps it  the same
//   a rule could still keep it      its spans and log records wait, until one of them matches or the trace is quiet
// Invariants:
//   trace-sampler.1. The rate decides by a hash of the trace id: every replica, and every restart, decides alike.
//   trace-sampler.2. A trace has one decision, which holds for its late spans too, while it is among the DECISIONS_MAX
//        newest: a kept trace is whole.
//   trace-sampler.3. Every item is passed on once or discarded once.
//   trace-sampler.4. Waiting items take at most `waitingBytesMax`: beyond it the oldest trace is decided early, as if it
//        were quiet.
import { hash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, AttributeValue, Span } from "../otlp/span.ts";
import { hashOfKey } from "../shared/key-hash.ts";
import type { OpenFeeds } from "../shared/open-feeds.ts";
import type { Tenant } from "../shared/tenants.ts";
import type { SampleDefinition, SampleRule } from "./sample-schema.ts";
import { hasConditions, isError, matches } from "./span-match.ts";

export interface SampledItem {
  readonly item: Span | LogRecord;
  /** Of the item, or of the run that it becomes; "" passes at once. */
  readonly traceId: string;
  /** Of the request. */
  readonly tenant: Tenant;
  /** Of the request: its header. */
  readonly project: string;
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

export interface SamplerPorts extends Pick<OpenFeeds, "quietUntil"> {
  readonly clock: Clock;
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

/** trace-sampler.1: a number from 0 to below 1. */
function drawOf(traceId: string): number {
  return Number.parseInt(hash("sha256", traceId).slice(0, DRAW_DIGITS), 16) / DRAW_RANGE;
}

function offer(state: Sampling, offered: SampledItem): void {
  const { traceId } = offered;
  if (traceId === "") return offered.pass();
  const trace = traceOf(state, traceId + offered.tenant.id);
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

function traceOf({ traces }: Sampling, key: string): Trace {
  const known = traces.get(key);
  const trace: Trace = known ?? {
    key,
    draw: drawOf(key.slice(0, 32)),
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

function isKept({ options }: Sampling, { draw }: Trace, offered: SampledItem): boolean {
  const { keep, rate } = options.rules;
  return draw < rate || keep.some((rule) => draw < rule.rate && applies(rule, offered));
}

function applies(rule: SampleRule, { item, project, tenant }: SampledItem): boolean {
  if (rule.projects?.includes(project) === false || !isOfSender(rule, tenant)) return false;
  return (rule.error !== true || isError(item)) && matches(rule, item);
}

function isOfSender({ key_sha256, tenants }: SampleRule, tenant: Tenant): boolean {
  if (tenants?.includes(tenant.tenantId) === false) return false;
  return key_sha256 === undefined || key_sha256.includes(keyHashOf(tenant));
}

const keyHashes = new WeakMap<Tenant, string>();

function keyHashOf(tenant: Tenant): string {
  const known = keyHashes.get(tenant) ?? hashOfKey(tenant.apiKey);
  keyHashes.set(tenant, known);
  return known;
}

/** A later span could match a rule that would keep this trace: all its spans have one sender. */
function canWait({ options }: Sampling, { draw }: Trace, { tenant }: SampledItem): boolean {
  return options.rules.keep.some(
    (rule) => draw < rule.rate && (rule.error === true || hasConditions(rule)) && isOfSender(rule, tenant),
  );
}

function hold(state: Sampling, trace: Trace, offered: SampledItem): void {
  const bytes = sizeOf(offered.item);
  trace.waiting.push(offered);
  trace.bytes += bytes;
  state.waitingBytes += bytes;
  state.undecided.add(trace);
  for (const oldest of state.undecided) {
    if (state.waitingBytes <= state.options.waitingBytesMax) break;
    state.counts.decidedEarly++;
    decide(state, oldest, "dropped"); // trace-sampler.4
  }
  planSweep(state);
}

/** trace-sampler.2, trace-sampler.3. */
function decide(state: Sampling, trace: Trace, decision: "kept" | "dropped"): void {
  const { waiting } = trace;
  trace.decision = decision;
  trace.waiting = [];
  state.waitingBytes -= trace.bytes;
  trace.bytes = 0;
  state.undecided.delete(trace);
  if (decision === "kept") {
    state.counts.keptTraces++;
    for (const item of waiting) item.pass();
  } else {
    state.counts.droppedTraces++;
    state.counts.sampledOut += waiting.length;
    for (const item of waiting) item.discard();
  }
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

/** About the memory of an item: its texts, and a fixed part for the rest. */
function sizeOf(item: Span | LogRecord): number {
  const own = ITEM_BYTES + sumOf(item.attributes.values);
  if ("severity" in item) return own + sizeOfValue(item.body);
  return item.events.reduce((sum, { attributes }) => sum + VALUE_BYTES + sumOf(attributes.values), own);
}

function sumOf(values: readonly AttributeValue[]): number {
  return values.reduce<number>((sum, value) => sum + sizeOfValue(value), 0);
}

function sizeOfValue(value: AttributeValue): number {
  if (typeof value === "string") return VALUE_BYTES + BYTES_A_CHARACTER * value.length;
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  if (value instanceof Uint8Array) return VALUE_BYTES + value.length;
  return VALUE_BYTES + sumOf(isList(value) ? value : value.values);
}

function isList(value: Attributes | readonly AttributeValue[]): value is readonly AttributeValue[] {
  return Array.isArray(value);
}
