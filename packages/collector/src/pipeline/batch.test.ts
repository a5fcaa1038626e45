import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { createBatcher, type OpenBatch } from "./batch.ts";
import { PLAIN_CONTENT, type TraceRun } from "../shared/trace-run.ts";

const limits = { flushIntervalMs: 1000, runsMax: () => 100, bytesMax: () => 1_000_000 };

function buildRun(key: string, inputs = "{}"): TraceRun {
  return {
    tenant: { id: key, apiKey: key, tenantId: "" },
    span: { traceId: "0".repeat(32), spanId: "1".repeat(16), origins: [] },
    id: "00000000-0000-0000-1111-111111111111",
    traceId: "00000000-0000-0000-0000-000000000000",
    parentRunId: "",
    dottedOrder: "",
    amends: false,
    content: { ...PLAIN_CONTENT, name: "call", runType: "llm", inputs },
  };
}

test("open batches count their allocated memory, not the bytes written to it", () => {
  const sealed: OpenBatch[] = [];
  const batcher = createBatcher(limits, { clock: createFakeClock(), seal: (batch) => void sealed.push(batch) });
  for (let key = 0; key < 100; key++) batcher.add(buildRun(`key-${key}`));
  assert.ok(batcher.heldBytes() >= 100 * 16 * 1024, `${batcher.heldBytes()}`); // each has a separate buffer
  assert.ok(batcher.countHeldBytes("key-7") >= 16 * 1024);
  batcher.add(buildRun("key-7", `{"text":"${"x".repeat(100_000)}"}`));
  assert.ok(batcher.countHeldBytes("key-7") >= 100_000);
  batcher.flush();
  assert.equal(batcher.heldBytes(), 0);
  assert.equal(sealed.length, 100);
});
