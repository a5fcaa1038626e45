// Tests of one trace in three encodings: the seed's JSON (base64 ids, names of enums, bare numbers), the protocol's
// JSON (hex, numbers, text) and protobuf. For any trace, the backend must get the same runs, byte for byte.
// HOLDPOINT_FAULTS=full: 60 traces of 400 spans. SEED=… repeats a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { startBackend, type AcceptedRun } from "../fakes/backend.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { startCollector } from "../fakes/collector.ts";
import { type Envelope, hexId, jsonRequest, protobufRequest, type TestSpan, type TestValue } from "../fakes/otlp.ts";

const full = process.env["HOLDPOINT_FAULTS"] === "full";
const TRACES = full ? 60 : 3;
const SPANS = full ? 400 : 120;

// ---- traces ----
const UINT64_MAX = 2n ** 64n - 1n;
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "é日本👩‍🚀", "\u0000\ud800\ufeff", '"\\\r\n--', "9007199254740993", "NaN", "x".repeat(200)),
);
const anyInteger = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, -1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n),
);
const anyValue: fc.Arbitrary<TestValue> = fc.letrec<{ value: TestValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    anyText,
    fc.boolean(),
    anyInteger,
    fc.double(),
    fc.uint8Array({ maxLength: 12 }),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(anyText, tie("value"), { maxKeys: 3 }),
  ),
})).value;

/** Text that holds JSON, as many conventions write their messages. */
const jsonText = fc.oneof(fc.json({ maxDepth: 3 }), fc.constant('[{"role":"user","content":9007199254740993}]'));
const CONTENT_KEYS = [
  "gen_ai.prompt",
  "gen_ai.completion",
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.definitions",
  "input.value",
  "output.value",
  "traceloop.entity.input",
  "ai.prompt.messages",
  "ai.response.toolCalls",
  "metadata",
  "langsmith.usage_metadata",
  "llm.invocation_parameters",
] as const;
const OTHER_KEYS = [
  "langsmith.span.kind",
  "gen_ai.operation.name",
  "openinference.span.kind",
  "gen_ai.request.model",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.prompt.0.content",
  "llm.input_messages.1.message.content",
  "langsmith.metadata.big",
  "langsmith.span.tags",
  "langsmith.trace.name",
  "langsmith.trace.session_name",
  "traceloop.association.properties.x",
  "ai.telemetry.metadata.y",
  "ai.embedding",
  "error.type",
  "__proto__",
  "constructor.prototype.x",
] as const;

const attributes: fc.Arbitrary<Record<string, TestValue>> = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...CONTENT_KEYS), fc.oneof(jsonText, anyValue)), { maxLength: 3 }),
    fc.array(fc.tuple(fc.oneof(fc.constantFrom(...OTHER_KEYS), anyText), anyValue), { maxLength: 5 }),
  )
  .map((lists) => Object.fromEntries<TestValue>(lists.flat()));

const time = fc.oneof(fc.bigInt({ min: 1n, max: 4_102_444_800_000_000_000n }), fc.constantFrom(1n, UINT64_MAX));
const id = (bytes: 8 | 16): fc.Arbitrary<string> =>
  fc.bigInt({ min: 1n, max: 2n ** BigInt(bytes * 8) - 1n }).map((value) => hexId(value, bytes));

/** `parent`: a smaller number is a span of the trace, which may come later; a larger one never arrives. */
const loneSpan = fc.record(
  {
    parent: fc.option(fc.nat({ max: SPANS + 20 }), { freq: 10 }),
    name: anyText,
    kind: fc.nat({ max: 5 }),
    start: time,
    end: fc.oneof(time, fc.constant(0n)),
    attributes,
    events: fc.array(
      fc.record({
        name: fc.oneof(anyText, fc.constantFrom("exception", "gen_ai.choice", "gen_ai.user.message")),
        time,
        attributes,
      }),
      { maxLength: 2 },
    ),
    links: fc.array(fc.record({ traceId: id(16), spanId: id(8), traceState: anyText, attributes }), { maxLength: 2 }),
    status: fc.record({ code: fc.nat({ max: 2 }), message: anyText }),
    traceState: anyText,
    flags: fc.nat({ max: 0x3ff }),
    droppedAttributes: fc.nat({ max: 2 ** 31 - 1 }),
  },
  { requiredKeys: ["parent", "name", "start", "end", "attributes"] },
);

const trace: fc.Arbitrary<readonly TestSpan[]> = fc
  .tuple(id(16), fc.array(loneSpan, { minLength: SPANS, maxLength: SPANS, size: "max" }))
  .map(([traceId, spans]) =>
    spans.map(({ parent, ...span }, index) => ({
      ...span,
      traceId,
      spanId: hexId(index + 1, 8),
      ...(parent === null ? {} : { parentSpanId: hexId(parent + 1, 8) }),
    })),
  );
const envelope: fc.Arbitrary<Envelope> = fc.record({
  resource: attributes,
  scope: fc.record({ name: anyText.map((text) => text.toWellFormed()), version: fc.constant("1") }),
});

// ---- the property ----
function shown(run: AcceptedRun): string {
  return `${run.event} ${run.text}\n${JSON.stringify(run.attachments)}`;
}

test(`${TRACES} generated traces of ${SPANS} spans: all three forms yield the same runs, byte for byte`, async () => {
  const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  let compared = 0;
  const property = fc.asyncProperty(trace, envelope, async (spans, around) => {
    const backend = await startBackend();
    const env = { BATCH_SIZE: "1000" };
    // The clock does not advance: a span without usable times gets that of its arrival.
    const collector = await startCollector(backend.url, env, { clock: createFakeClock() });
    const bodies = {
      seed: jsonRequest(spans, "seed", around),
      spec: jsonRequest(spans, "spec", around),
      protobuf: protobufRequest(spans, around),
    };
    try {
      for (const [form, body] of Object.entries(bodies))
        assert.equal((await collector.send(body, { "x-api-key": form })).status, 200);
    } finally {
      await collector.stop(); // also uploads orphans
      await backend.close();
    }
    assert.deepEqual(backend.violations, []);
    // Sorted: two batches of a key may arrive in either order.
    const of = (key: string): string[] =>
      backend.runs
        .filter((run) => run.key === key)
        .map(shown)
        .toSorted();
    const wanted = of("protobuf");
    assert.equal(wanted.length, spans.length);
    for (const form of ["spec", "seed"]) {
      const got = of(form);
      assert.equal(got.length, wanted.length);
      for (const [index, run] of wanted.entries()) assert.equal(got[index], run, form);
    }
    compared += wanted.length;
  });
  await fc.assert(property, { seed, numRuns: TRACES, endOnFailure: true });
  console.log(`${compared} runs compared in three forms`);
});
