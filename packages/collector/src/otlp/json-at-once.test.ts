// Tests of JSON at once: a body gives the same with it and with the scan, which reads the body with spaces behind it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonRequest, buildSpan } from "../../../../test/fakes/otlp.ts";
import type { Signal } from "./decoded.ts";
import { readJson } from "./json.ts";
import { parseAtOnce } from "./json-at-once.ts";

const IDS = `"traceId":"${"ab".repeat(16)}","spanId":"${"cd".repeat(8)}"`;
const withSpans = (spans: string): string => `{"resourceSpans":[{"scopeSpans":[{"spans":${spans}}]}]}`;
const withSpan = (members: string): string => withSpans(`[{${IDS},${members}}]`);
const withValue = (value: string): string => withSpan(`"attributes":[{"key":"k","value":${value}}]`);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** Bodies, and whether one JSON.parse reads them. */
const BODIES: readonly (readonly [name: string, body: string, atOnce: boolean])[] = [
  ["spans", jsonRequest([buildSpan(1, 0), buildSpan(1, 1), buildSpan(2, 2)]), true],
  ["snake case", `{"resource_spans":[{"scope_spans":[{"spans":[{"trace_id":"${"ab".repeat(16)}"}]}]}]}`, true],
  ["no spans", withSpans("[]"), true],
  ["items that are no objects", withSpans(`[1,null,"x",[],{${IDS}}]`), true],
  ["the last of equal keys", withSpan(`"name":"a","name":"b"`), true],
  ["two lists of spans", `{"resourceSpans":[{"scopeSpans":[{"spans":[{${IDS}}],"spans":[]}]}]}`, true],
  ["half of a character", withValue(`{"stringValue":"\\ud800"}`), true],
  ["a member of the prototype", withSpan(`"__proto__":{"name":"x"}`), true],
  ["15 digits", withValue(`{"intValue":999999999999999}`), true],
  ["16 digits", withValue(`{"intValue":1000000000000000}`), false],
  ["19 digits, negative", withValue(`{"intValue":-9223372036854775808}`), false],
  ["a fraction", withValue(`{"doubleValue":0.12345678901234567}`), true],
  ["an exponent", withValue(`{"doubleValue":1e20}`), false],
  ["a number that is too large", withValue(`{"doubleValue":1e999}`), false],
  ["digits in a text", withValue(`{"stringValue":"1763700000000000000"}`), true],
  ["bare times", withSpan(`"startTimeUnixNano":1763700000123456789`), false],
  ["16 digits in an unknown member", withSpan(`"x":{"y":[1234567890123456]}`), false],
  ["deep values", withSpan(`"x":${nested(390)}`), true],
  ["values that are too deep", withSpan(`"x":${nested(400)}`), false],
  ["another signal", `{"resourceLogs":[]}`, true],
  ["no object", "[]", true],
  ["malformed", withSpans("[{},]"), false],
  ["cut off", withSpans("[{}").slice(0, -6), false],
];

function outcome(body: Buffer, signal: Signal): unknown {
  const steps = readJson(body, signal);
  try {
    for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
  } catch (error) {
    return String(error);
  }
}

describe("json-at-once.1 a small body gives the same as with the scan", () => {
  for (const [name, text, atOnce] of BODIES)
    test(name, () => {
      const body = Buffer.from(text);
      const scanned = Buffer.concat([body, Buffer.alloc(512 * 1024, " ")]);
      assert.equal(parseAtOnce(scanned), undefined); // json-at-once.2
      assert.equal(parseAtOnce(body) !== undefined, atOnce);
      for (const signal of ["traces", "logs"] as const)
        assert.deepEqual(outcome(body, signal), outcome(scanned, signal));
    });
});

test("json-at-once.1 too many containers for the size of the body are left to the scan", () => {
  assert.equal(parseAtOnce(Buffer.from(withSpan(`"x":[${"[],".repeat(160_000)}[]]`))), undefined);
  assert.notEqual(parseAtOnce(Buffer.from(withSpan(`"x":[${"[],".repeat(90_000)}[]]`))), undefined);
});
