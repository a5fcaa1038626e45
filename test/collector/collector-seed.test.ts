// The seed, to the letter: its example in its own form, in the protocol's JSON and in protobuf makes the same runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startBackend, type AcceptedRun } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";
import { jsonRequest, protobufRequest, type TestSpan } from "../fakes/otlp.ts";

/** The seed's span: ids as its base64 decodes, a bare number of nanoseconds, token counts as text. */
const spans: readonly TestSpan[] = [
  {
    traceId: "4fa9e1fe632420e35aa077b04bd51623",
    spanId: "d2d12a2700a9bd4d",
    name: "my_span",
    kind: 1,
    start: 1_732_170_000_123_456_789n,
    end: 1_732_170_001_123_456_789n,
    attributes: {
      "gen_ai.prompt": '{"text":"Hello, world!"}',
      "gen_ai.completion": '{"text":"Hi there!"}',
      "gen_ai.usage.input_tokens": 5n,
      "gen_ai.usage.output_tokens": 7n,
      "langsmith.metadata.big": 9_007_199_254_740_993n,
    },
  },
];
const envelope = { resource: { "service.name": "svc" }, scope: { name: "my.scope", version: "1" } };

async function runsOf(body: string | Buffer): Promise<readonly AcceptedRun[]> {
  const backend = await startBackend();
  const collector = await startCollector(backend.url);
  try {
    const response = await collector.send(body);
    assert.equal(response.status, 200);
    await backend.whenRuns(1);
    assert.deepEqual(backend.violations, []);
    return backend.runs;
  } finally {
    await collector.stop();
    await backend.close();
  }
}

test("the seed's JSON, the protocol's JSON and protobuf yield the same runs, byte for byte", async () => {
  const seed = await runsOf(jsonRequest(spans, "seed", envelope));
  const spec = await runsOf(jsonRequest(spans, "spec", envelope));
  const protobuf = await runsOf(protobufRequest(spans, envelope));
  assert.equal(seed.length, 1);
  assert.deepEqual(
    spec.map((run) => run.text),
    seed.map((run) => run.text),
  );
  assert.deepEqual(
    protobuf.map((run) => run.text),
    seed.map((run) => run.text),
  );
  const [run] = seed;
  assert.equal(run?.id, "4fa9e1fe-6324-20e3-5aa0-77b04bd51623");
  assert.equal(run.main["start_time"], "2024-11-21T06:20:00.123456789Z");
  assert.equal(run.main["session_name"], "default");
  assert.deepEqual(run.inputs, { text: "Hello, world!" });
  assert.match(run.text, /"big":9007199254740993/);
});
