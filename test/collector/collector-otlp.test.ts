// Tests of the OTLP readers: the forms of JSON, ids by length, damaged text. Both against another reader:
// test/faults/collector-protobuf.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Decoded } from "@holdpoint/collector/otlp/decoded.ts";
import { isNoParent, readSpanId, readTraceId } from "@holdpoint/collector/otlp/json-ids.ts";
import { readJson } from "@holdpoint/collector/otlp/json.ts";
import { readProtobuf } from "@holdpoint/collector/otlp/protobuf.ts";
import type { AttributeValue } from "@holdpoint/collector/otlp/span.ts";
import { jsonRequest, protobufRequest, buildSpan } from "../fakes/otlp.ts";

function finish(reading: Generator<undefined, Decoded>): Decoded {
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}

test("invalid UTF-8 in protobuf is replaced and counted", () => {
  const body = Buffer.from(protobufRequest([buildSpan(1, 0, undefined, { name: "abcdefghijklmnopqrstuvwxyz" })]));
  body[body.indexOf("abcdefghijklmnopqrstuvwxyz")] = 0xff;
  const { spans, repairedTexts } = finish(readProtobuf(body));
  assert.deepEqual([spans[0]?.name, repairedTexts], ["\ufffdbcdefghijklmnopqrstuvwxyz", 1]);
});

describe("JSON", () => {
  test("whole numbers are exact in every form they may have", () => {
    const forms: readonly (readonly [string, AttributeValue])[] = [
      ['"9007199254740993"', 9_007_199_254_740_993n],
      ["9007199254740993", 9_007_199_254_740_993n],
      ["-9223372036854775808", -9_223_372_036_854_775_808n],
      ["42", 42],
      ['"1e3"', 1000],
      ['{"low":1,"high":2}', 8_589_934_593],
      ['{"low":-1,"high":-1}', -1],
      ['"99999999999999999999"', "99999999999999999999"],
    ];
    for (const [text, value] of forms) {
      const body = jsonRequest([buildSpan(1, 0)]).replace(
        /"attributes":\[.*?\],"dropped/,
        `"attributes":[{"key":"n","value":{"intValue":${text}}}],"dropped`,
      );
      assert.deepEqual(finish(readJson(Buffer.from(body))).spans[0]?.attributes.values, [value], text);
    }
  });

  test("snake_case, old names, unknown members, nulls and attributes as an object are read", () => {
    const body = `{"resource_spans":[{"x":1,"resource":null,"instrumentation_library_spans":[{"instrumentation_library":{"name":"lib"},
      "spans":[{"trace_id":"5B8EFFF798038103D269B633813FC60C","span_id":"EEE19B7EC3C1B174","parent_span_id":null,"name":"n","flags":1,
      "start_time_unix_nano":1732170000123456789,"attributes":{"a":"b","c":{"intValue":"5"}},"spans":[{}],"entityRefs":[]}]}]}]}`;
    const { spans, rejected } = finish(readJson(Buffer.from(body)));
    const [span] = spans;
    assert.deepEqual(
      [spans.length, rejected, span?.traceId, span?.scope.name],
      [1, 0, "5b8efff798038103d269b633813fc60c", "lib"],
    );
    assert.deepEqual(span?.start, { sec: 1_732_170_000, nano: 123_456_789 });
    assert.deepEqual(span?.attributes, { keys: ["a", "c"], values: ["b", 5] });
  });
});

describe("the length of an id in JSON decides its encoding", () => {
  const trace = "5b8efff798038103d269b633813fc60c";
  const span = "eee19b7ec3c1b174";
  const base64 = (hexText: string): string => Buffer.from(hexText, "hex").toString("base64");
  const nested = (text: string): string => Buffer.from(text).toString("base64");
  const bytes = [...Buffer.from(span, "hex")];
  for (const [name, value, expected] of [
    ["hex", trace, trace],
    ["upper-case hex", trace.toUpperCase(), trace],
    ["base64", base64(trace), trace],
    ["base64 without padding", base64(trace).replace(/=+$/, ""), trace],
    ["URL-safe base64", base64(trace).replaceAll("+", "-").replaceAll("/", "_"), trace],
    ["base64 of hex", nested(trace), trace],
    ["a UUID", "5b8efff7-9803-8103-d269-b633813fc60c", trace],
    ["64 bits of hex", span, span.padStart(32, "0")],
    ["all zero", "0".repeat(32), ""],
    ["zero in base64", base64("0".repeat(32)), ""],
    ["31 digits", trace.slice(1), ""],
    ["no hex", "z".repeat(32), ""],
    ["empty", "", ""],
    ["a number", 5, ""],
    ["null", null, ""],
    ["missing", undefined, ""],
    ["an array of the wrong length", [1, 2], ""],
  ] as const)
    test(`trace id: ${name}`, () => assert.equal(readTraceId(value), expected));
  for (const [name, value, expected] of [
    ["hex", span, span],
    ["base64", base64(span), span],
    ["base64 without padding", base64(span).replace(/=+$/, ""), span],
    ["base64 of hex", nested(span), span],
    ["bytes", bytes, span],
    ["a Buffer as JSON", { type: "Buffer", data: bytes }, span],
    ["an object of bytes", Object.fromEntries(bytes.entries()), span],
    ["bytes out of range", [256, 0, 0, 0, 0, 0, 0, 0], ""],
    ["a lying length", { length: 1e9 }, ""],
    ["too short", "abcd", ""],
  ] as const)
    test(`span id: ${name}`, () => assert.equal(readSpanId(value), expected));
  for (const value of [undefined, null, "", "0000000000000000", "AAAAAAAAAAA=", [], [0, 0, 0, 0, 0, 0, 0, 0]])
    test(`no parent: ${JSON.stringify(value)}`, () => assert.equal(isNoParent(value), true));
});
