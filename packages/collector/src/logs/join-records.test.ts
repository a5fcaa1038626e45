import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { NO_ATTRIBUTES, NO_RESOURCE, NO_SCOPE, NO_TIME } from "../otlp/span.ts";
import { PLAIN_CONTENT } from "../shared/trace-run.ts";
import { createRecordJoin } from "./join-records.ts";
import { JOIN_LIMITS } from "./join-table.ts";

const context = { tenant: { id: "a", apiKey: "key", tenantId: "" }, project: "", receivedMs: 0 };
const record = {
  traceId: "1".repeat(32),
  spanId: "2".repeat(16),
  name: "gen_ai.choice",
  time: NO_TIME,
  severity: 9,
  severityText: "",
  body: null,
  attributes: NO_ATTRIBUTES,
  droppedAttributes: 0,
  resource: NO_RESOURCE,
  scope: NO_SCOPE,
};

test("join-records.5 after a tenant's first record its spans stay in reach, however long it was idle", async () => {
  const clock = createFakeClock();
  const join = createRecordJoin(JOIN_LIMITS, { clock, emit: () => undefined, isKnown: () => false });
  const whole = { ...PLAIN_CONTENT, inputs: '{"a":1}', outputs: '{"b":1}' };
  assert.equal(join.isExpected(context, whole), false);
  join.add(record, context, null);
  clock.after(24 * 3600 * 1000, () => undefined);
  while ((await clock.next()) !== null) continue;
  assert.equal(join.isExpected(context, whole), true);
  assert.equal(join.isExpected({ ...context, tenant: { ...context.tenant, id: "b" } }, whole), false);
});
