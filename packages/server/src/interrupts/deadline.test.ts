// Tests of deadline: deadline.2 (valid and invalid deadlines). deadline.1 is in test/agent/deadlines.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import { buildDeadline, hasDefaultAnswer, type Deadline } from "./deadline.ts";

const AT = Date.parse("2026-11-21T10:00:00.000Z");
const HOUR = 3_600_000;
const none: Deadline = { expiresAt: null, onExpiry: null };
const inAnHour = { expiresAt: AT + HOUR, onExpiry: null };

const CASES: readonly (readonly [string, Json, Deadline])[] = [
  ["no object", "expires_at", none],
  ["no deadline", { question: "?" }, none],
  ["seconds", { expires_in_seconds: 3600 }, inAnHour],
  ["no time at all", { expires_in_seconds: 0 }, { ...inAnHour, expiresAt: AT }],
  ["a time", { expires_at: "2026-11-21T11:00:00Z" }, inAnHour],
  ["a time with a zone and a fraction", { expires_at: "2026-11-21T12:00:00.000+01:00" }, inAnHour],
  ["a time wins over seconds", { expires_at: "2026-11-21T11:00:00Z", expires_in_seconds: 1 }, inAnHour],
  ["a time without a zone", { expires_at: "2026-11-21T11:00:00" }, none],
  ["a day that there is not", { expires_at: "2026-99-21T11:00:00Z" }, none],
  ["a word", { expires_at: "tomorrow" }, none],
  ["negative seconds", { expires_in_seconds: -1 }, none],
  ["seconds as text", { expires_in_seconds: "60" }, none],
  ["failing", { expires_in_seconds: 3600, on_expiry: "fail" }, { ...inAnHour, onExpiry: "fail" }],
  ["an answer (deadline.3)", { expires_in_seconds: 3600, on_expiry: { answer: "no" } }, inAnHour],
  ["null as the answer (deadline.3)", { expires_in_seconds: 3600, on_expiry: { answer: null } }, inAnHour],
  ["something else", { expires_in_seconds: 3600, on_expiry: "ignore" }, inAnHour],
  ["an object without an answer", { expires_in_seconds: 3600, on_expiry: {} }, inAnHour],
  ["what happens, but not when", { on_expiry: "fail" }, none],
  ["a list of one", [{ expires_in_seconds: 3600 }], inAnHour],
  ["a list of two", [{ expires_in_seconds: 3600 }, {}], none],
];

const asked = (value: Json, more: object = {}) => ({ value, responseSchema: null, ...more });

for (const [name, value, is] of CASES) {
  test(`the payload contains: ${name} (deadline.2)`, () => assert.deepEqual(buildDeadline(asked(value), {}, AT), is));
}

test("the first of options, deployment, payload and assistant that names a time decides (deadline.1)", () => {
  const says = (answer: string) => ({ expires_in_seconds: 3600, on_expiry: { answer } });
  const by = (answer: string) => ({ ...inAnHour, onExpiry: { answer } });
  const assistant = { interrupt_deadline: says("assistant") };
  const schema = { responseSchema: { type: "object", "x-holdpoint-deadline": says("code") } };
  const payload = says("payload");
  assert.deepEqual(buildDeadline(asked(payload, { ...schema, deadline: says("file") }), assistant, AT), by("code"));
  assert.deepEqual(buildDeadline(asked(payload, { deadline: says("file") }), assistant, AT), by("file"));
  assert.deepEqual(buildDeadline(asked(payload), assistant, AT), inAnHour, "deadline.3");
  assert.deepEqual(buildDeadline(asked("?"), assistant, AT), by("assistant"));
  assert.deepEqual(buildDeadline(asked("?"), { interrupt_deadline: "fail" }, AT), none);
  assert.deepEqual(buildDeadline(asked({ "x-holdpoint-deadline": says("payload") }), {}, AT), none);
  assert.ok(hasDefaultAnswer(assistant));
  assert.ok(!hasDefaultAnswer({ interrupt_deadline: { expires_in_seconds: 1, on_expiry: "fail" } }));
});

test("options count as options also where the payload is the same object (deadline.3)", () => {
  const both = { expires_in_seconds: 3600, on_expiry: { answer: "no" } };
  const answers = { ...inAnHour, onExpiry: { answer: "no" } };
  assert.deepEqual(buildDeadline({ value: both, responseSchema: { "x-holdpoint-deadline": both } }, {}, AT), answers);
  assert.deepEqual(buildDeadline(asked(both, { deadline: both }), {}, AT), answers);
});
