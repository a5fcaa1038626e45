import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { protobufRequest, buildSpan, type TestSpan } from "../../../../test/fakes/otlp.ts";
import { turnsDuring } from "../../../../test/fakes/turns.ts";
import { ASSEMBLE_LIMITS } from "../assemble/trace-table.ts";
import { JOIN_LIMITS } from "../logs/join-table.ts";
import type { Body } from "../encode/batch-body.ts";
import { createSpanAccounting, countPending } from "../shared/span-accounting.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import { SampleSchema } from "../sample/sample-schema.ts";
import type { UploadJob } from "../upload/upload-job.ts";
import { readProtobuf } from "../otlp/protobuf.ts";
import type { Span } from "../otlp/span.ts";
import { createDelivery, type DeliveryPorts } from "./delivery.ts";
import { createPipeline, type Pipeline, type PipelineOptions, type PipelinePorts } from "./pipeline.ts";
import { createTranslator } from "../translate/translate.ts";

const silent = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };

const translate = createTranslator({ filterNonGenAi: false, project: "" });
const context = { tenant: { id: "t", apiKey: "k", tenantId: "" }, project: "", receivedMs: 1 };

function pipelineWith(ports: Partial<PipelinePorts & DeliveryPorts>, options: Partial<PipelineOptions> = {}): Pipeline {
  const accounting = ports.accounting ?? createSpanAccounting();
  const delivery = createDelivery({
    log: silent,
    queues: { offer: () => undefined, isFailing: () => false },
    spool: null,
    deadLetters: null,
    onBatch: () => undefined,
    ...ports,
    accounting,
  });
  return createPipeline(
    {
      batchSize: 10,
      bufferBytesMax: 1e6,
      flushIntervalMs: 10,
      assemble: ASSEMBLE_LIMITS,
      join: JOIN_LIMITS,
      sample: null,
      ...options,
    },
    {
      clock: createFakeClock(),
      log: silent,
      translate,
      accounting,
      backendLimits: () => ({ runsMax: 10, bytesMax: 1e6, encoding: "zstd" }),
      marks: null,
      delivery,
      onRun: () => undefined,
      ...ports,
    },
  );
}

function buildSpans(count: number, one = (at: number): TestSpan => buildSpan(at + 1, 0)): readonly Span[] {
  const read = readProtobuf(protobufRequest(Array.from({ length: count }, (_, at) => one(at)))).next();
  return read.done === true ? read.value.spans : assert.fail("small enough for one turn");
}

test("pipeline.6 a request of many spans yields every ten milliseconds", async () => {
  let nowMs = 0;
  const accounting = createSpanAccounting();
  const pipeline = pipelineWith({ accounting, clock: { ...createFakeClock(), monotonic: () => nowMs++ } });
  const spans = buildSpans(300);
  const all = Array.from({ length: 10 }, () => spans).flat();
  const turns = await turnsDuring(() => pipeline.feed({ spans: all, records: [] }, context, null));
  assert.ok(turns > 4, `${turns} turns`);
  assert.equal(accounting.duplicates, 2700, "and all of it was fed");
});

/** Its own timers; a slice ends after 144 spans, because each call costs a millisecond. */
function slowClock() {
  let nowMs = 0;
  let timers: (() => void)[] = [];
  return {
    now: () => nowMs,
    monotonic: () => nowMs++,
    after(_: number, call: () => void) {
      timers.push(call);
      return () => void (timers = timers.filter((other) => other !== call));
    },
    /** A minute passes, and everything planned so far runs. */
    passMinute() {
      nowMs += 60_000;
      const due = timers;
      timers = [];
      for (const call of due) call();
    },
  };
}

test("pipeline.6 no orphan timeout ends between two slices of a request", async () => {
  const clock = slowClock();
  const pipeline = pipelineWith({ clock });
  // Children first: the parent of every span comes in a later slice, the root last. One parent never comes.
  const spans = [
    ...buildSpans(300, (at) => buildSpan(1, at, at === 299 ? undefined : Math.max(at + 1, 250 + (at % 50)))),
  ];
  const [lone] = buildSpans(1, () => buildSpan(2, 1, 2));
  if (lone !== undefined) spans.unshift(lone);
  const feeding = pipeline.feed({ spans, records: [] }, context, null);
  assert.ok(feeding instanceof Promise, "a second slice follows");
  assert.ok(pipeline.stats().waiting > 100);
  clock.passMinute();
  assert.equal(pipeline.stats().reRooted, 0);
  await feeding;
  assert.equal(pipeline.stats().waiting, 1);
  clock.passMinute();
  assert.deepEqual(
    [pipeline.stats().waiting, pipeline.stats().reRooted],
    [0, 1],
    "afterwards the timeout counts again",
  );
});

test("pipeline.6 sampling drops no trace between two slices of a request", async () => {
  const clock = slowClock();
  const accounting = createSpanAccounting();
  const rules = SampleSchema.parse({ rate: 0, keep: [{ error: true }] });
  const pipeline = pipelineWith({ accounting, clock }, { sample: { rules, waitingBytesMax: 1e9 } });
  const failed = { status: { code: 2 } };
  const spans = buildSpans(300, (at) => buildSpan(1, at, undefined, at === 299 ? failed : {}));
  const feeding = pipeline.feed({ spans, records: [] }, context, null);
  assert.equal(pipeline.stats().undecidedTraces, 1);
  clock.passMinute();
  await feeding;
  assert.deepEqual([pipeline.stats().keptTraces, accounting.filtered], [1, 0]);
});

test("pipeline.5 only the run whose place breaks a rule is dead-lettered; its neighbours are delivered", async () => {
  const accounting = createSpanAccounting();
  const offered: UploadJob[] = [];
  const deadLettered: Body[] = [];
  const pipeline = pipelineWith({
    translate(span, from) {
      const run = translate(span, from);
      return span.name === "span 2.0" ? { ...run, traceId: "no trace id" } : run; // as if a fault of ours made it so
    },
    accounting,
    queues: { offer: (job: UploadJob) => void offered.push(job), isFailing: () => false },
    deadLetters: {
      write: (body) => {
        deadLettered.push(body);
        return Promise.resolve();
      },
    },
  });
  accounting.received += 3;
  await pipeline.feed({ spans: buildSpans(3), records: [] }, context, null);
  await pipeline.flush();
  assert.deepEqual(
    offered.map(({ runs }) => runs),
    [2],
  );
  assert.deepEqual(
    deadLettered.map(({ offsets }) => offsets.length),
    [1],
  );
  assert.match(deadLettered[0]?.bytes.toString() ?? "", /"name":"span 2.0"/);
  assert.deepEqual([accounting.deadLettered.misplaced, countPending(accounting)], [1, 2]);
});

test("pipeline.3 a repeated log record gets its mark at once, the record that it repeats with its span", async () => {
  const accounting = createSpanAccounting();
  const marked: StoredRequest[] = [];
  const marks = { requestDone: (request: StoredRequest) => void marked.push(request) };
  const pipeline = pipelineWith({ accounting, marks });
  const [span = assert.fail("a span")] = buildSpans(1);
  const { resource, scope, spanId, start: time, traceId } = span;
  const about = { traceId, spanId, resource, scope, time, severity: 9, severityText: "", droppedAttributes: 0 };
  const record = { ...about, name: "gen_ai.user.message", body: "hi", attributes: { keys: [], values: [] } };
  const { tenant } = context;
  const sent = [0, 1].map((offset) => ({ segment: 1, offset, bytes: 1, tenant, spans: 1, pending: 1, done: null }));
  accounting.records.received += 2;
  for (const request of sent) await pipeline.feed({ spans: [], records: [record] }, { ...context }, request);
  assert.deepEqual(
    marked.map(({ offset }) => offset),
    [1],
  );
  assert.deepEqual([pipeline.stats().waitingRecords, accounting.records.joined, countPending(accounting)], [1, 1, 1]);
});
