// Redaction of requests that senders should not write: what the decoder skips stays in the spool and in forwards.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { field, hexId, protobufRequest, protobufValue, buildSpan, varint } from "../../../../test/fakes/otlp.ts";
import { jsonLogs, protobufLogs } from "../../../../test/fakes/otlp-logs.ts";
import { createRedactor, type RedactRequest } from "./redact.ts";
import { RedactSchema } from "./redact-schema.ts";

const MAIL = "alice.canary@example.com";
const RULES = [
  { name: "mail", detect: ["email"] },
  { name: "path", attributes: ["**/password"] },
];

function redacted(
  body: Buffer,
  format: RedactRequest["format"],
  more: Partial<RedactRequest> = {},
  rules: unknown = RULES,
): string {
  const redactor = createRedactor(RedactSchema.parse(rules), { project: "", hashKey: null });
  const steps = redactor.redact({ body, format, signal: "traces", project: "", tenantId: "", ...more });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value.toString("latin1");
  }
}

function jsonSpan(attributes: string, more = ""): string {
  const ids = `"traceId":"${hexId(1, 16)}","spanId":"${hexId(2, 8)}"`;
  return `{"resourceSpans":[{"scopeSpans":[{"spans":[{${ids},"attributes":${attributes}${more}}]}]}]}`;
}

const valued = (value: string): string => jsonSpan(`[{"key":"k","value":${value}}]`);

const IN_JSON: Readonly<Record<string, (text: string) => string>> = {
  "another member of an attribute": (text) => jsonSpan(`[{"key":"k","value":{"stringValue":"v"},"note":"${text}"}]`),
  "the name of one": (text) => jsonSpan(`[{"key":"k","value":{"stringValue":"v"},"${text}":1}]`),
  "a value that another follows": (text) =>
    jsonSpan(`[{"key":"k","value":{"stringValue":"${text}"},"value":{"stringValue":"v"}}]`),
  "a key that another follows": (text) => jsonSpan(`[{"key":"${text}","key":"k","value":{"stringValue":"v"}}]`),
  "a key that is an object": (text) => jsonSpan(`[{"key":{"a":"${text}"},"value":{"stringValue":"v"}}]`),
  "a text for attributes": (text) => jsonSpan(`"${text}"`),
  "a list of texts for attributes": (text) => jsonSpan(`["${text}"]`),
  "a text for a map": (text) => valued(`{"kvlistValue":"${text}"}`),
  "another member of a map": (text) => valued(`{"kvlistValue":{"values":[],"x":"${text}"}}`),
  "a text for a list": (text) => valued(`{"arrayValue":"${text}"}`),
  "another member of a list": (text) => valued(`{"arrayValue":{"values":[],"x":"${text}"}}`),
  "a list without values": (text) => valued(`{"arrayValue":{"x":{"stringValue":"${text}"}}}`),
  "values of a list that others follow": (text) =>
    valued(`{"arrayValue":{"values":[{"stringValue":"${text}"}],"values":[{"stringValue":"a"}]}}`),
  "values of a list after others": (text) =>
    valued(`{"arrayValue":{"values":[{"stringValue":"a"}],"values":[{"stringValue":"${text}"}]}}`),
  "a text that another follows": (text) => valued(`{"stringValue":"${text}","stringValue":"v"}`),
  "a value of two kinds": (text) => valued(`{"intValue":"${text}","stringValue":"${text}"}`),
  "another member of a value": (text) => valued(`{"stringValue":"v","x":"${text}"}`),
  "the name of another member of a value": (text) => valued(`{"stringValue":"v","${text}":1}`),
  "a truth value": (text) => valued(`{"boolValue":"${text}"}`),
  "bytes that are no base64": (text) => valued(`{"bytesValue":"${text}"}`),
  kind: (text) => jsonSpan("[]", `,"kind":"${text}"`),
  flags: (text) => jsonSpan("[]", `,"flags":{"x":"${text}"}`),
  "the name of a member of flags": (text) => jsonSpan("[]", `,"flags":{"${text}":1}`),
  "a time": (text) => jsonSpan("[]", `,"startTimeUnixNano":["${text}"]`),
  "the id of the parent": (text) => jsonSpan("[]", `,"parentSpanId":"${text}"`),
  "a name of an unknown member": (text) => jsonSpan("[]", `,"${text}":1`),
  "one in the envelope": (text) => `{"${text}":1,"resourceSpans":[]}`,
};

/** With a name twice in an object: the last counts, and the others go in any case. */
const REPEATED: ReadonlySet<string> = new Set([
  "a value that another follows",
  "a key that another follows",
  "values of a list that others follow",
  "values of a list after others",
  "a text that another follows",
]);

const span = (...parts: readonly Buffer[]): Buffer =>
  field(1, field(2, field(2, Buffer.concat([field(1, Buffer.from(hexId(1, 16), "hex")), ...parts]))));
const attribute = (...parts: readonly Buffer[]): Buffer => span(field(9, Buffer.concat(parts)));
const KEY = field(1, "k");
const VALUE = field(2, protobufValue("v"));

const IN_PROTOBUF: Readonly<Record<string, Buffer>> = {
  "a key that another follows": attribute(field(1, MAIL), KEY, VALUE),
  "the id of the parent": span(field(4, MAIL)),
  kind: span(field(6, MAIL)),
  "a time": span(field(7, MAIL)),
  "another field of a list": attribute(KEY, field(2, field(5, field(2, MAIL)))),
  "another field of a map": attribute(KEY, field(2, field(6, field(2, MAIL)))),
  "a truth value": attribute(KEY, field(2, field(2, MAIL))),
  "an integer": attribute(KEY, field(2, field(3, MAIL))),
  "a double": attribute(KEY, field(2, field(4, MAIL))),
};

describe("redaction of what the protocol does not have", () => {
  for (const [what, make] of Object.entries(IN_JSON))
    test(`finds a text in JSON in ${what}`, () => {
      const after = redacted(Buffer.from(make(MAIL)), "json");
      assert.ok(!after.includes("alice"), after);
      JSON.parse(after);
      const other = make("hello");
      const left = redacted(Buffer.from(other), "json");
      if (REPEATED.has(what)) assert.deepEqual(JSON.parse(left), JSON.parse(other));
      else assert.equal(left, other);
    });

  for (const [what, body] of Object.entries(IN_PROTOBUF))
    test(`finds a text in protobuf in ${what}`, () => {
      assert.ok(!redacted(body, "protobuf").includes("alice"));
    });

  test("finds packed numbers that are a text", () => {
    const point = (counts: Buffer): Buffer => field(1, field(2, field(2, field(9, field(1, field(6, counts))))));
    assert.ok(!redacted(point(Buffer.from(MAIL)), "protobuf", { signal: "metrics" }).includes("alice"));
    const numbers = point(Buffer.concat([65, 66, 64, 67].map((count) => varint(count))));
    assert.equal(redacted(numbers, "protobuf", { signal: "metrics" }), numbers.toString("latin1"));
  });

  test("keeps ids and numbers in every form that senders write, whatever the rules are", () => {
    const forms = [
      `"traceId":"${"1".repeat(32)}","spanId":"${"2".repeat(16)}","kind":3,"startTimeUnixNano":1732170000123456789`,
      `"traceId":"12345678-1234-1234-1234-123456789012","startTimeUnixNano":{"low":123456789,"high":123456789}`,
      String.raw`"traceId":"EjRWeJASNFZ4kBI0VniQEg==","kind":"SPAN_KIND_SERVER","spanId":"EjRWeJ\/SNFY=","flags":"257"`,
      `"parentSpanId":[18,52,86,120,144,18,52,86],"endTimeUnixNano":"1732170000123456789"`,
      `"parentSpanId":{"type":"Buffer","data":[18,52,86,120,144,18,52,86]},"status":{"code":"STATUS_CODE_OK"}`,
    ];
    const rules = [{ name: "r", match: "[0-9A-Z]+", in: ["other"] }];
    for (const form of forms) {
      const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[{${form}}]}]}]}`;
      assert.equal(redacted(Buffer.from(body), "json", {}, rules), body);
    }
    const binary = protobufRequest([buildSpan(1, 0)]);
    assert.equal(redacted(binary, "protobuf", {}, rules), binary.toString("latin1"));
  });

  for (const format of ["json", "protobuf"] as const)
    test(`a dropped body of a log record goes in ${format}`, () => {
      const records = [{ name: "event", body: MAIL }];
      const body = format === "json" ? Buffer.from(jsonLogs(records)) : protobufLogs(records);
      const rules = [{ name: "r", detect: ["email"], action: "drop" }];
      assert.ok(!redacted(body, format, { signal: "logs" }, rules).includes("alice"));
    });
});

describe("redaction of names that stand twice", () => {
  const twice = String.raw`{"a":{"password":"${MAIL}"},"a":1}`;
  for (const [what, make] of [
    ["in a text", (text: string) => jsonSpan(`[{"key":"k","value":{"stringValue":${JSON.stringify(text)}}}]`)],
    ["in an unknown member", (text: string) => jsonSpan("[]", `,"other":${text}`)],
    ["in the envelope", (text: string) => `{"x":${text},"resourceSpans":[]}`],
    ["as an item", (text: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${text}]}]}]}`],
    ["around items", (text: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${text}],"spans":[]}]}]}`],
    ["in items below an unknown name", (text: string) => `{"other":[{"other":[{"spans":[${text}]}]}]}`],
  ] as const)
    test(`finds one ${what}`, () => {
      const after = redacted(Buffer.from(make(twice)), "json");
      assert.ok(!after.includes("alice"), after);
      JSON.parse(after);
    });

  test("a rule for digits leaves the items of a request where they are", () => {
    const rules = [{ name: "r", match: "[0-9a-z]+", in: ["other"] }];
    const items = jsonSpan(`[{"key":"k","value":{"stringValue":"v"}}]`).replace("resourceSpans", "otherSpans");
    assert.match(redacted(Buffer.from(items), "json", {}, rules), /"\[r\]"/);
  });
});
