// The readers: protobuf against a schema-driven reader on random and truncated messages, JSON against protobuf, ids by length.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create, createFileRegistry, fromBinary, toBinary, type DescMessage, type Message } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { DecodeError, type Decoded } from "../src/collector/otlp/decoded.ts";
import { isNoParent, readSpanId, readTraceId } from "../src/collector/otlp/json-ids.ts";
import { readJson } from "../src/collector/otlp/json.ts";
import { readProtobuf } from "../src/collector/otlp/protobuf.ts";
import type { Attributes, AttributeValue, Span } from "../src/collector/otlp/span.ts";
import { jsonRequest, protobufRequest, spanOf, type TestSpan, type TestValue } from "./fakes/otlp.ts";

const full = process.env["HOLDPOINT_FAULTS"] === "full";

function finish(reading: Generator<undefined, Decoded>): Decoded {
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

// ---- the schema, for the reader that we are compared with ----
type FieldRow = readonly [name: string, number: number, type: string, repeated?: boolean];
const MESSAGES: Readonly<Record<string, readonly FieldRow[]>> = {
  Request: [["resource_spans", 1, ".t.ResourceSpans", true]],
  ResourceSpans: [
    ["resource", 1, ".t.Resource"],
    ["scope_spans", 2, ".t.ScopeSpans", true],
  ],
  Resource: [["attributes", 1, ".t.KeyValue", true]],
  ScopeSpans: [
    ["scope", 1, ".t.Scope"],
    ["spans", 2, ".t.Span", true],
  ],
  Scope: [
    ["name", 1, "STRING"],
    ["version", 2, "STRING"],
    ["attributes", 3, ".t.KeyValue", true],
  ],
  Span: [
    ["trace_id", 1, "BYTES"],
    ["span_id", 2, "BYTES"],
    ["trace_state", 3, "STRING"],
    ["parent_span_id", 4, "BYTES"],
    ["name", 5, "STRING"],
    ["kind", 6, "INT32"],
    ["start", 7, "FIXED64"],
    ["end", 8, "FIXED64"],
    ["attributes", 9, ".t.KeyValue", true],
    ["dropped_attributes", 10, "UINT32"],
    ["events", 11, ".t.Event", true],
    ["dropped_events", 12, "UINT32"],
    ["links", 13, ".t.Link", true],
    ["dropped_links", 14, "UINT32"],
    ["status", 15, ".t.Status"],
    ["flags", 16, "FIXED32"],
  ],
  Event: [
    ["time", 1, "FIXED64"],
    ["name", 2, "STRING"],
    ["attributes", 3, ".t.KeyValue", true],
    ["dropped_attributes", 4, "UINT32"],
  ],
  Link: [
    ["trace_id", 1, "BYTES"],
    ["span_id", 2, "BYTES"],
    ["trace_state", 3, "STRING"],
    ["attributes", 4, ".t.KeyValue", true],
    ["dropped_attributes", 5, "UINT32"],
    ["flags", 6, "FIXED32"],
  ],
  Status: [
    ["message", 2, "STRING"],
    ["code", 3, "INT32"],
  ],
  KeyValue: [
    ["key", 1, "STRING"],
    ["value", 2, ".t.AnyValue"],
  ],
  AnyValue: [
    ["string_value", 1, "STRING"],
    ["bool_value", 2, "BOOL"],
    ["int_value", 3, "INT64"],
    ["double_value", 4, "DOUBLE"],
    ["array_value", 5, ".t.ArrayValue"],
    ["kvlist_value", 6, ".t.KeyValueList"],
    ["bytes_value", 7, "BYTES"],
  ],
  ArrayValue: [["values", 1, ".t.AnyValue", true]],
  KeyValueList: [["values", 1, ".t.KeyValue", true]],
};

function schema(): DescMessage {
  const messageType = Object.entries(MESSAGES).map(([name, fields]) => ({
    name,
    field: fields.map(([fieldName, number, type, repeated]) => ({
      name: fieldName,
      number,
      label: repeated === true ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
      ...(type.startsWith(".")
        ? { type: FieldDescriptorProto_Type.MESSAGE, typeName: type }
        : { type: FieldDescriptorProto_Type[type as keyof typeof FieldDescriptorProto_Type] }),
      ...(name === "AnyValue" ? { oneofIndex: 0 } : {}),
    })),
    oneofDecl: name === "AnyValue" ? [{ name: "value" }] : [],
  }));
  const file = create(FileDescriptorProtoSchema, { name: "t.proto", package: "t", syntax: "proto3", messageType });
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [file] })).getMessage("t.Request") ?? assert.fail();
}

type Loose = Record<string, unknown> & { readonly value?: { readonly case?: string; readonly value?: unknown } };

/** The other reader's message → our shape. */
function spansOf(request: Message): unknown[] {
  const spans: unknown[] = [];
  for (const resourceSpans of listOf(request, "resourceSpans"))
    for (const scopeSpans of listOf(resourceSpans, "scopeSpans"))
      for (const span of listOf(scopeSpans, "spans")) {
        const traceId = hex(span["traceId"]);
        const spanId = hex(span["spanId"]);
        if (traceId.length !== 32 || spanId.length !== 16 || /^0+$/.test(traceId) || /^0+$/.test(spanId)) continue;
        spans.push({
          traceId,
          spanId,
          name: span["name"],
          attributes: attributesOf(span),
          events: listOf(span, "events").map((event) => ({ name: event["name"], attributes: attributesOf(event) })),
          links: listOf(span, "links").map((link) => ({
            traceState: link["traceState"],
            attributes: attributesOf(link),
          })),
          resource: attributesOf((resourceSpans["resource"] ?? {}) as Loose),
          scope: (scopeSpans["scope"] as Loose | undefined)?.["name"] ?? "",
          message: (span["status"] as Loose | undefined)?.["message"] ?? "",
        });
      }
  return spans;
}

function listOf(message: object, name: string): Loose[] {
  return ((message as Loose)[name] ?? []) as Loose[];
}

function hex(value: unknown): string {
  return Buffer.from(value as Uint8Array).toString("hex");
}

function attributesOf(message: Loose): unknown {
  return listOf(message, "attributes").map((one) => [one["key"], valueOf(one["value"] as Loose | undefined)]);
}

function valueOf(any: Loose | undefined): unknown {
  const chosen = any?.value;
  if (chosen?.case === undefined) return null;
  if (chosen.case === "arrayValue") return listOf(chosen.value as object, "values").map(valueOf);
  if (chosen.case === "kvlistValue")
    return {
      list: listOf(chosen.value as object, "values").map((one) => [one["key"], valueOf(one["value"] as Loose)]),
    };
  if (chosen.case === "bytesValue") return `bytes ${hex(chosen.value)}`;
  return chosen.value;
}

/** Our spans in the shape of `spansOf`. */
function comparable(span: Span): unknown {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    name: span.name,
    attributes: ownAttributes(span.attributes),
    events: span.events.map((event) => ({ name: event.name, attributes: ownAttributes(event.attributes) })),
    links: span.links.map((link) => ({ traceState: link.traceState, attributes: ownAttributes(link.attributes) })),
    resource: ownAttributes(span.resource.attributes),
    scope: span.scope.name,
    message: span.statusMessage,
  };
}

function ownAttributes(attributes: Attributes): unknown {
  return attributes.keys.map((key, index) => [key, ownValue(attributes.values[index] ?? null)]);
}

function ownValue(value: AttributeValue): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return (value as readonly AttributeValue[]).map(ownValue);
  if (typeof value === "object" && value !== null) return { list: ownAttributes(value as Attributes) };
  return value;
}

/** int64 as a number where it is exact, as in ours. */
function normal(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, one: unknown) =>
      typeof one === "bigint"
        ? `${one}`
        : Number.isInteger(one)
          ? String(one)
          : Object.is(one, -0)
            ? "0"
            : typeof one === "number" && !Number.isFinite(one)
              ? String(one)
              : one,
    ),
  );
}

function randomValue(random: () => number, depth: number): TestValue {
  const kind = Math.floor(random() * (depth > 3 ? 6 : 8));
  const texts = ["", "a", "é日本", "x".repeat(30), "\u0000", "👩‍🚀"];
  if (kind === 0) return texts[Math.floor(random() * texts.length)] ?? "";
  if (kind === 1) return random() < 0.5;
  if (kind === 2) return BigInt.asIntN(64, BigInt(Math.floor(random() * 2 ** 32)) << BigInt(Math.floor(random() * 40)));
  if (kind === 3) return random() * 1e10 + 0.5;
  if (kind === 4)
    return Buffer.from(Array.from({ length: Math.floor(random() * 5) }, () => Math.floor(random() * 256)));
  if (kind === 5) return null;
  const items = Array.from({ length: Math.floor(random() * 4) }, () => randomValue(random, depth + 1));
  return kind === 6 ? items : Object.fromEntries(items.map((item, index) => [`k${index}`, item]));
}

function randomSpan(random: () => number, index: number): TestSpan {
  const attributes = (): Record<string, TestValue> =>
    Object.fromEntries(
      Array.from({ length: Math.floor(random() * 5) }, (_, at) => [
        `key.${at}.${Math.floor(random() * 9)}`,
        randomValue(random, 0),
      ]),
    );
  return spanOf(index, 0, undefined, {
    attributes: attributes(),
    events: Array.from({ length: Math.floor(random() * 3) }, () => ({
      name: "e",
      time: BigInt(Math.floor(random() * 2 ** 48)),
      attributes: attributes(),
    })),
    status: { code: Math.floor(random() * 3), message: random() < 0.5 ? "m" : "" },
  });
}

describe("protobuf", () => {
  const request = schema();
  const rounds = full ? 20_000 : 1000;

  test(`${rounds} random requests are read as a reader made from the schema reads them`, () => {
    const random = seeded(3);
    for (let round = 0; round < rounds; round++) {
      const body = protobufRequest([randomSpan(random, 1), randomSpan(random, 2)], {
        resource: { r: randomValue(random, 0) },
        scope: { name: "s" },
      });
      const ours = finish(readProtobuf(body)).spans.map(comparable);
      assert.deepEqual(normal(ours), normal(spansOf(fromBinary(request, body))));
    }
  });

  test("unknown fields anywhere change nothing", () => {
    const body = toBinary(request, fromBinary(request, protobufRequest([spanOf(1, 0)])));
    const unknown = Buffer.from([0xa0, 0x9c, 0x01, 0x05, 0xaa, 0x9c, 0x01, 0x02, 0x68, 0x69]); // fields 2500 and 2501
    assert.deepEqual(
      finish(readProtobuf(Buffer.concat([unknown, body, unknown]))).spans.map(comparable),
      finish(readProtobuf(Buffer.from(body))).spans.map(comparable),
    );
  });

  test("cut and altered bytes are read as the other reader reads them, or refused; never anything else thrown", () => {
    const random = seeded(5);
    let refusedByBoth = 0;
    for (let round = 0; round < rounds; round++) {
      const body = Buffer.from(protobufRequest([randomSpan(random, 1)], { resource: { a: "b" } }));
      const damaged = random() < 0.5 ? body.subarray(0, Math.floor(random() * body.length)) : body;
      if (damaged === body) body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
      let theirs: unknown[] | null = null;
      try {
        theirs = spansOf(fromBinary(request, damaged));
      } catch {
        theirs = null;
      }
      try {
        const ours = finish(readProtobuf(damaged)).spans.map(comparable);
        // Invalid UTF-8 is mended here and refused there; wire types that do not fit are skipped here.
        if (theirs !== null && !JSON.stringify(normal(ours)).includes("\ufffd"))
          assert.equal(ours.length, theirs.length);
      } catch (error) {
        assert.ok(error instanceof DecodeError || (error as { code?: string }).code === "ERR_ASSERTION", String(error));
        if (!(error instanceof DecodeError)) throw error;
        if (theirs === null) refusedByBoth++;
      }
    }
    assert.ok(refusedByBoth > rounds / 10);
  });

  test("invalid UTF-8 in a text is replaced and counted", () => {
    const body = Buffer.from(protobufRequest([spanOf(1, 0, undefined, { name: "abcdefghijklmnopqrstuvwxyz" })]));
    body[body.indexOf("abcdefghijklmnopqrstuvwxyz")] = 0xff;
    const { spans, mendedTexts } = finish(readProtobuf(body));
    assert.deepEqual([spans[0]?.name, mendedTexts], ["\ufffdbcdefghijklmnopqrstuvwxyz", 1]);
  });
});

describe("JSON", () => {
  test("both forms of JSON and protobuf of the same random spans give the same spans", () => {
    const random = seeded(9);
    for (let round = 0; round < (full ? 20_000 : 500); round++) {
      const spans = [randomSpan(random, 1), randomSpan(random, 2)];
      const envelope = { resource: { r: randomValue(random, 0) }, scope: { name: "s", version: "1" } };
      const protobuf = finish(readProtobuf(protobufRequest(spans, envelope))).spans;
      for (const form of ["spec", "seed"] as const) {
        const json = finish(readJson(Buffer.from(jsonRequest(spans, form, envelope)))).spans;
        assert.deepEqual(json.map(comparable), protobuf.map(comparable));
        assert.deepEqual(
          json.map(({ start, end, kind, statusCode }) => ({ start, end, kind, statusCode })),
          protobuf.map(({ start, end, kind, statusCode }) => ({ start, end, kind, statusCode })),
        );
      }
    }
  });

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
      const body = jsonRequest([spanOf(1, 0)]).replace(
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

  test("a large request is read in turns", () => {
    const reading = readJson(Buffer.from(jsonRequest(Array.from({ length: 3000 }, (_, index) => spanOf(index, 0)))));
    let turns = 0;
    for (let step = reading.next(); step.done !== true; step = reading.next()) turns++;
    assert.ok(turns > 4, `${turns} turns`);
  });
});

describe("ids in JSON, told apart by their length", () => {
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
