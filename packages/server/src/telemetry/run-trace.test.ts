// Test of the spans of a run: run-trace.1–4 of run-trace.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Run } from "../model/model.ts";
import { plainRequest, runRecord } from "../model/testkit.ts";
import type { RunTrace } from "../ports/ports.ts";
import { beginRunTrace, type SpanIds } from "./run-trace.ts";

const ROOT_RUN = "01a1feba-4d30-7231-8c87-e8aa445c6b26";
const NEXT_RUN = "01a1feba-5600-72b9-ae60-55cbbf41c06e";
const SECRET = "sk-very-secret";

const RUN: Run = runRecord({
  runId: ROOT_RUN,
  threadId: "01a1feba-4d29-7329-8a2c-b163ace36121",
  assistantId: "01a1feba-0000-7000-8000-000000000000",
  graphId: "refunds",
  status: "running",
  attempt: 1,
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_000,
});

const AFTER_PAUSE: Run = {
  ...RUN,
  runId: NEXT_RUN,
  createdAt: RUN.createdAt + 60_000,
  request: {
    ...plainRequest,
    trace: {
      rootRunId: ROOT_RUN,
      rootStartedAt: RUN.createdAt,
      waits: [{ interruptId: "0".repeat(32), node: "approval", kind: "form", since: RUN.createdAt + 5, by: "Ada" }],
    },
  },
};

/** The spans of each run, with a separate provider: as after a restart of the process. */
function exportSpans(runs: readonly Run[], captureContent: boolean, report: (trace: RunTrace) => void) {
  return runs.flatMap((run) => {
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor({ exporter })];
    let next = { traceId: "", spanId: "" };
    let random = 0;
    const generateSpanId = () => next.spanId || String(++random).padStart(16, "0");
    const idGenerator = { generateTraceId: () => next.traceId, generateSpanId };
    const provider = new TracerProvider({ idGenerator, spanProcessors });
    const ids: SpanIds = {
      use(given, begin) {
        next = given;
        const begun = begin();
        next = { traceId: "", spanId: "" };
        return begun;
      },
    };
    const tracer = provider.getTracer("test");
    report(beginRunTrace(run, { tracer, ids, chooseFlags: () => TraceFlags.SAMPLED, captureContent }));
    return exporter.getFinishedSpans();
  });
}

const callTool = (trace: RunTrace): void => {
  trace.input(() => ({ key: SECRET }));
  const node = trace.step({ kind: "node", name: "tools", superstep: 1, input: () => ({ key: SECRET }) });
  const tool = node.step({ kind: "tool", name: "refund", callId: "call_1", input: () => SECRET });
  tool.end({ error: { name: "TypeError", message: SECRET } });
  node.end({ output: () => SECRET });
  trace.end({ state: "pause", output: () => SECRET });
};

test("a run, its pause and its continuation are one trace with one root, whichever process sends them (run-trace.1, run-trace.3)", () => {
  const spans = exportSpans([RUN, AFTER_PAUSE], false, (trace) => trace.end({ state: "done" }));
  const [first, wait, next] = spans;
  assert.deepEqual(
    spans.map(({ name }) => name),
    ["invoke_agent refunds", "wait approval", "invoke_agent refunds"],
  );
  const traceId = ROOT_RUN.replaceAll("-", "");
  assert.ok(spans.every((span) => span.spanContext().traceId === traceId));
  assert.equal(first?.parentSpanContext, undefined);
  for (const span of [wait, next]) assert.equal(span?.parentSpanContext?.spanId, first?.spanContext().spanId);
  assert.deepEqual(wait?.startTime, [1_700_000_000, 5_000_000]);
  assert.deepEqual(wait?.endTime, [1_700_000_060, 0]);
  assert.equal(
    next?.attributes["langsmith.span.dotted_order"],
    `20231114T221320000000Z${ROOT_RUN}.20231114T221420000000Z${NEXT_RUN}`,
  );
});

test("a span has no content unless the settings request it (run-trace.2)", () => {
  const quiet = JSON.stringify(
    exportSpans([AFTER_PAUSE], false, callTool).map(({ attributes, status }) => [attributes, status]),
  );
  assert.doesNotMatch(quiet, new RegExp(`${SECRET}|Ada`));
  const spans = exportSpans([AFTER_PAUSE], true, callTool);
  const tool = spans.find(({ name }) => name === "execute_tool refund");
  assert.equal(tool?.attributes["gen_ai.tool.call.arguments"], SECRET);
  assert.deepEqual(tool?.status, { code: SpanStatusCode.ERROR, message: SECRET });
});

test("a requeued attempt sends no spans; the next one sends the run, and the wait only once (run-trace.3, run-trace.4)", () => {
  const cut = exportSpans([AFTER_PAUSE], false, (trace) => trace.end("requeued"));
  assert.deepEqual(
    cut.map(({ name }) => name),
    ["wait approval"],
  );
  const again = exportSpans([{ ...AFTER_PAUSE, attempt: 2 }], false, (trace) => trace.end({ state: "done" }));
  assert.deepEqual(
    again.map(({ name }) => name),
    ["invoke_agent refunds"],
  );
});

test("content without a JSON form, or too long, is omitted, and the rest stays", () => {
  const long = exportSpans([RUN], true, (trace) => {
    trace.input(() => {
      throw new Error("cannot be shown");
    });
    trace.end({ output: () => "x".repeat(300_000), state: "done" });
  });
  assert.equal(long[0]?.attributes["holdpoint.content_left_out"], true);
  assert.equal(long[0]?.attributes["holdpoint.ended_by"], "done");
});
