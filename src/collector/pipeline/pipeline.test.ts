import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../test/fakes/clock.ts";
import { protobufRequest, spanOf } from "../../../test/fakes/otlp.ts";
import { turnsDuring } from "../../../test/fakes/turns.ts";
import { ASSEMBLE_LIMITS } from "../assemble/trace-table.ts";
import { JOIN_LIMITS } from "../logs/join-table.ts";
import type { Body } from "../encode/batch-body.ts";
import { createSpanAccounting, pendingOf } from "../shared/span-accounting.ts";
import type { UploadJob } from "../upload/upload-job.ts";
import { readProtobuf } from "../otlp/protobuf.ts";
import type { Span } from "../otlp/span.ts";
import { createDelivery, type DeliveryPorts } from "./delivery.ts";
import { createPipeline, type Pipeline, type PipelinePorts } from "./pipeline.ts";
import { createTranslator } from "../translate/translate.ts";

const silent = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };

const translate = createTranslator({ filterNonGenAi: false, genericOtel: false, project: "" });
const context = { tenant: { id: "t", apiKey: "k", tenantId: "" }, project: "", receivedMs: 1 };

function pipelineWith(ports: Partial<PipelinePorts & DeliveryPorts>): Pipeline {
  const accounting = ports.accounting ?? createSpanAccounting();
  const delivery = createDelivery(
    {
      log: silent,
      queues: { offer: () => undefined, isFailing: () => false },
      spool: null,
      deadLetters: null,
      onBatch: () => undefined,
      ...ports,
      accounting,
    },
    1,
  );
  return createPipeline(
    {
      batchSize: 10,
      bufferBytesMax: 1e6,
      flushIntervalMs: 10,
      zstdLevel: 1,
      assemble: ASSEMBLE_LIMITS,
      join: JOIN_LIMITS,
      sample: null,
    },
    {
      clock: createFakeClock(),
      log: silent,
      translate,
      accounting,
      backendLimits: () => ({ runsMax: 10, bytesMax: 1e6, encoding: "zstd" }),
      marks: null,
      delivery,
      ...ports,
    },
  );
}

function spansOf(count: number): readonly Span[] {
  const read = readProtobuf(protobufRequest(Array.from({ length: count }, (_, index) => spanOf(index + 1, 0)))).next();
  return read.done === true ? read.value.spans : assert.fail("small enough for one turn");
}

test("pipeline.6 a request of many spans yields every ten milliseconds", async () => {
  let nowMs = 0;
  const accounting = createSpanAccounting();
  const pipeline = pipelineWith({ accounting, clock: { ...createFakeClock(), monotonic: () => nowMs++ } });
  const spans = spansOf(300);
  const all = Array.from({ length: 10 }, () => spans).flat();
  const turns = await turnsDuring(() => pipeline.feed({ spans: all, records: [] }, context, null));
  assert.ok(turns > 4, `${turns} turns`);
  assert.equal(accounting.duplicates, 2700, "and all of it was fed");
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
  await pipeline.feed({ spans: spansOf(3), records: [] }, context, null);
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
  assert.deepEqual([accounting.deadLettered.misplaced, pendingOf(accounting)], [1, 2]);
});
