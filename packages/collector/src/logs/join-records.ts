// Join records: log records meet their spans, in any order (receive → decode → join → translate → assemble → …).
//   before the span   a record waits; the span takes it along as an event when it arrives
//   after the span    the span is translated again with the record, and amends its run
//   without a span    a record that can stand alone becomes a run; the others count as not stored (record-kinds.ts)
// Invariants:
//   - Every record that is passed to add() joins a span, becomes part of a run, counts as not stored, or
//     repeats one that did. Its origin goes with it, so that its mark in the spool is set when that run is safe; a
//     repeated one needs no wait.
//   - A span joins only records of its own tenant: the key of both has it.
//   - No record waits longer than `spanTtlMs` (an event of a session: `orphanTimeoutMs`). Then its records become one
//     child of that span: nothing that was acknowledged is dropped, and nothing overwrites the span.
//   - Memory is bounded. At a limit the oldest records stop waiting, and spans leave reach (span-reach.ts).
//   join-records.5. Without log records a span costs a few comparisons, and only calls of models, tools and agents that
//        lack inputs or outputs are kept in reach: their content may come as a record. A tenant's first record keeps all
//        of its later spans in reach, however long it sends none. (All spans without content would take a tenth of the
//        CPU time per span: they outlive the young generation.)
//   - Only new requests are compared: a replay of the spool has records whose run was not safe.
//   - A span whose records joined it before is a repeat itself: without them it would amend its run to less.
//   - At most `spansMax` spans, the newest; the tree log keeps records for SPAN_TTL.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Span, SpanEvent } from "../otlp/span.ts";
import { NO_ORIGINS, type SpanOrigin } from "../shared/span-origin.ts";
import type { RequestContext, RunContent } from "../shared/trace-run.ts";
import {
  addWaiting,
  createJoinTable,
  type HeldRecord,
  type JoinLimits,
  type JoinTable,
  buildJoinKey,
  removeWaiting,
  sizeOfRecord,
  type WaitingRecords,
} from "./join-table.ts";
import { CHILD, JOINED, type JoinedSpan, emitAlone, emitChild, listOrigins, listPrints } from "./emit-records.ts";
import { toSpanEvent } from "./record-event.ts";
import { classifyRecord } from "./record-kinds.ts";
import { type SeenRecords, isRepeated, recallSeen, writePrint } from "./repeated-records.ts";
import { createSpanReach, isBareCall, type ReachableSpan, type SpanReach } from "./span-reach.ts";

/** The records that an arriving span takes along. */
export interface ClaimedRecords {
  readonly events: readonly SpanEvent[];
  readonly origins: readonly SpanOrigin[];
  /** Those that join it now. */
  readonly records: number;
  readonly seen: SeenRecords;
  /** Fingerprints of those that join it now. */
  readonly prints: readonly string[];
}

export interface JoinPorts {
  readonly clock: Clock;
  readonly emit: (joined: JoinedSpan) => void;
  /** The span has a place, or waits for one: only then it can be amended. */
  readonly isKnown: (tenantId: string, traceId: string, spanId: string) => boolean;
}

export interface RecordJoin {
  /** For records that are stored (record-kinds.ts). */
  readonly add: (record: LogRecord, context: RequestContext, origin: SpanOrigin | null) => "taken" | "repeated";
  /** Emits the spans again that got records since the last call. */
  readonly settle: () => void;
  /** null: no record is for this span. `repeated`: an earlier process had it, with its records. */
  readonly take: (span: Span, tenantId: string, isReplay: boolean) => ClaimedRecords | "repeated" | null;
  /** A record that an earlier process joined. Comes before the first item. */
  readonly recall: PastRecords["recall"];
  /** Records of this span can be expected (join-records.5). */
  readonly isExpected: (context: RequestContext, content: RunContent) => boolean;
  /** Keeps a translated span in reach of later records. */
  readonly keep: (kept: KeptSpan) => void;
  /** No wait ends by itself any more. */
  readonly pause: () => void;
  /** Ends every wait. */
  readonly drain: () => void;
  readonly waitingBytes: () => number;
  readonly countWaitingBytes: (tenantId: string) => number;
  readonly waitingRecords: () => number;
}

export interface KeptSpan {
  /** As received. */
  readonly span: Span;
  readonly context: RequestContext;
  readonly content: RunContent;
  readonly claimed: ClaimedRecords | null;
}

interface Joining {
  readonly limits: JoinLimits;
  readonly ports: JoinPorts;
  readonly table: JoinTable;
  readonly reach: SpanReach;
  /** Tenants that have sent records with ids, the newest last. */
  readonly senders: Set<string>;
  readonly fresh: Set<ReachableSpan>;
  readonly past: PastRecords;
  cancelSweep: (() => void) | null;
}

const SWEEP_MS_MIN = 25;
const SWEEP_MS_MAX = 1000;
const SENDERS_MAX = 10_000;
/** Like that of a span that waits for its parent (trace-tree.ts). */
const SPAN_BYTES = 1280;
const BYTES_A_CHARACTER = 2;

export function createRecordJoin(limits: JoinLimits, ports: JoinPorts): RecordJoin {
  const table = createJoinTable();
  const reach = createSpanReach(limits);
  const past = createPastRecords(limits);
  const [senders, fresh] = [new Set<string>(), new Set<ReachableSpan>()];
  const state: Joining = { limits, ports, table, reach, senders, fresh, past, cancelSweep: null };
  return {
    add: (record, context, origin) => add(state, { record, origin, print: writePrint(record) }, context),
    recall: past.recall,
    settle() {
      if (state.fresh.size > 0) settle(state);
    },
    take(span, tenantId, isReplay) {
      if (table.waiting.size === 0 && reach.joinedSpans() === 0 && past.isEmpty()) return null; // join-records.5
      const key = buildJoinKey(tenantId, span.traceId, span.spanId);
      const claimed = take(state, key, span);
      return claimed === null && !isReplay && past.hasJoined(key) ? "repeated" : claimed;
    },
    keep(kept) {
      keep(state, kept);
    },
    isExpected: (context, content) => isExpected(state, context, content),
    pause: () => pause(state),
    drain() {
      pause(state);
      settle(state);
      for (const waiting of table.waiting.values()) release(state, waiting);
    },
    waitingBytes: () => table.waitingBytes,
    countWaitingBytes: (tenantId) => table.countWaitingBytes.get(tenantId) ?? 0,
    waitingRecords: () => table.waitingRecords,
  };
}

function pause(state: Joining): void {
  state.cancelSweep?.();
  state.cancelSweep = null;
}

/** A span that arrives again keeps the records that joined it: without them, it would amend its run to less. */
function take({ reach, table }: Joining, key: string, span: Span): ClaimedRecords | null {
  const reachable = reach.find(key);
  const joined = reachable?.joined ?? [];
  const waiting = table.waiting.get(key);
  if (waiting === undefined) {
    if (reachable === undefined || joined.length === 0) return null;
    return { events: joined, origins: NO_ORIGINS, records: 0, seen: reachable.seen, prints: [] };
  }
  removeWaiting(table, waiting);
  const { held, seen } = waiting;
  const events = [...joined, ...held.map(({ record }) => toSpanEvent(record, span))];
  return { events, origins: listOrigins(held), records: held.length, seen, prints: listPrints(held, JOINED) };
}

function add(state: Joining, held: HeldRecord, context: RequestContext): "taken" | "repeated" {
  const { ports, reach } = state;
  const { record } = held;
  const tenantId = context.tenant.id;
  if (record.spanId === "") {
    emitAlone(ports.emit, classifyRecord(record), [held], context);
    return "taken";
  }
  noteSender(state, tenantId);
  const key = buildJoinKey(tenantId, record.traceId, record.spanId);
  const reachable = reach.find(key);
  if (reachable === undefined || !ports.isKnown(tenantId, record.traceId, record.spanId))
    return addToWaiting(state, { key, held, context, seen: reachable?.seen ?? seenBefore(state, key, held) });
  if (isRepeated(reachable.seen, held.print, context)) return "repeated";
  reachable.fresh.push(held);
  state.fresh.add(reachable);
  return "taken";
}

function seenBefore({ past }: Joining, key: string, { origin }: HeldRecord): SeenRecords {
  return (origin?.request.isReplay === true ? undefined : past.findSeen(key)) ?? new Map();
}

interface EarlyRecord extends Pick<WaitingRecords, "key" | "context" | "seen"> {
  readonly held: HeldRecord;
}

/** Its span has not arrived. */
function addToWaiting(state: Joining, { key, held, context, seen }: EarlyRecord): "taken" | "repeated" {
  const { limits, ports, table } = state;
  let waiting = table.waiting.get(key);
  if (isRepeated(waiting?.seen ?? seen, held.print, context)) return "repeated";
  if (waiting === undefined) {
    const waitMs = classifyRecord(held.record) === "session" ? limits.orphanTimeoutMs : limits.spanTtlMs;
    waiting = { key, context, held: [], seen, deadlineMs: ports.clock.monotonic() + waitMs, bytes: 0 };
    table.waiting.set(key, waiting);
  }
  addWaiting(table, waiting, held);
  if (waiting.held.length >= limits.recordsMax) release(state, waiting);
  while (table.waitingBytes > limits.waitingBytesMax || table.waiting.size > limits.spansMax) {
    const oldest = table.waiting.values().next().value;
    if (oldest === undefined) break;
    release(state, oldest);
  }
  planSweep(state);
  return "taken";
}

function noteSender({ senders }: Joining, tenantId: string): void {
  senders.delete(tenantId);
  if (senders.size >= SENDERS_MAX) senders.delete(senders.values().next().value ?? "");
  senders.add(tenantId);
}

/** join-records.5. */
function isExpected({ senders }: Joining, context: RequestContext, content: RunContent): boolean {
  return isBareCall(content) || senders.has(context.tenant.id);
}

function keep({ limits, ports, reach }: Joining, { content, context, span, claimed }: KeptSpan): void {
  const sinceMs = ports.clock.monotonic();
  const bytes = SPAN_BYTES + BYTES_A_CHARACTER * content.size;
  if (bytes > limits.keptBytesMax / 8) return; // one span would displace all others
  const key = buildJoinKey(context.tenant.id, span.traceId, span.spanId);
  const isBare = claimed === null && isBareCall(content);
  const records = { joined: claimed?.events ?? [], fresh: [], seen: claimed?.seen ?? new Map() };
  reach.add({ key, span, context, isBare, ...records, sinceMs, bytes });
  reach.trim(sinceMs);
}

function settle(state: Joining): void {
  const { limits, ports, reach } = state;
  for (const reachable of state.fresh) {
    const { context, key, span } = reachable;
    const held = reachable.fresh.splice(0);
    const joined = [...reachable.joined, ...held.map(({ record }) => toSpanEvent(record, span))];
    if (joined.length > limits.recordsMax) {
      emitChild(ports.emit, held, context);
      continue;
    }
    if (reach.find(key) === reachable) reach.remove(reachable);
    reachable.isBare = false;
    reachable.joined = joined;
    reachable.bytes += held.reduce((sum, { record }) => sum + sizeOfRecord(record), 0);
    reach.add(reachable); // in reach again from now on, as its trace
    const whole = { ...span, events: [...span.events, ...joined] };
    const prints = listPrints(held, JOINED);
    ports.emit({ span: whole, context, origins: listOrigins(held), records: held.length, prints });
  }
  state.fresh.clear();
}

/** Ends the wait of these records. */
function release(state: Joining, waiting: WaitingRecords): void {
  removeWaiting(state.table, waiting);
  emitChild(state.ports.emit, waiting.held, waiting.context);
}

function planSweep(state: Joining): void {
  const { limits, ports, table } = state;
  if (state.cancelSweep !== null || table.waiting.size === 0) return;
  const shortestMs = Math.min(limits.orphanTimeoutMs, limits.spanTtlMs);
  const sweepMs = Math.min(SWEEP_MS_MAX, Math.max(SWEEP_MS_MIN, shortestMs / 4));
  state.cancelSweep = ports.clock.after(sweepMs, () => {
    state.cancelSweep = null;
    const now = ports.clock.monotonic();
    for (const waiting of table.waiting.values()) if (waiting.deadlineMs <= now) release(state, waiting);
    planSweep(state);
  });
}

// The log records that an earlier process joined, from the tree log. A request that its sender repeats after a restart
// has them again.

/** Records of one span. */
interface Past {
  readonly seen: SeenRecords;
  /** In the run of the span itself. */
  hasJoined: boolean;
}

interface PastRecords {
  /** @param mark `#print` or `~print` */
  readonly recall: (tenantId: string, traceId: string, spanId: string, mark: string) => void;
  readonly findSeen: (key: string) => SeenRecords | undefined;
  readonly hasJoined: (key: string) => boolean;
  readonly isEmpty: () => boolean;
}

function createPastRecords({ spansMax }: Pick<JoinLimits, "spansMax">): PastRecords {
  const spans = new Map<string, Past>();
  return {
    recall(tenantId, traceId, spanId, mark) {
      const key = buildJoinKey(tenantId, traceId, spanId);
      const past = spans.get(key) ?? { seen: new Map(), hasJoined: false };
      past.hasJoined ||= !mark.startsWith(CHILD);
      recallSeen(past.seen, mark.slice(1));
      spans.set(key, past);
      if (spans.size > spansMax) spans.delete(spans.keys().next().value ?? "");
    },
    findSeen: (key) => spans.get(key)?.seen,
    isEmpty: () => spans.size === 0,
    hasJoined: (key) => spans.get(key)?.hasJoined === true,
  };
}
