// Malformed requests: what is malformed counts as rejected with a reason, in both encodings and both signals, and the rest
// is read.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { field, protobufAttributes, protobufSpan, varint } from "../../../../test/fakes/otlp.ts";
import type { Decoded, Signal } from "./decoded.ts";
import { readJson } from "./json.ts";
import { readProtobuf } from "./protobuf.ts";

const IDS = { traceId: "5b8efff798038103d269b633813fc60c", spanId: "eee19b7ec3c1b174" };
const ITEM = { ...IDS, name: "chat" };
const ITEMS = { traces: "spans", logs: "logRecords" } as const;
const SCOPES = { traces: "scopeSpans", logs: "scopeLogs" } as const;
const RESOURCES = { traces: "resourceSpans", logs: "resourceLogs" } as const;

function finish(reading: Generator<undefined, Decoded>): Decoded {
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}

type Row = readonly [name: string, body: (signal: Signal) => unknown, kept: number, rejected: number];

const scoped = (signal: Signal, ...items: readonly unknown[]): unknown => ({ [ITEMS[signal]]: items });
const within = (signal: Signal, ...scopes: readonly unknown[]): unknown => ({ [SCOPES[signal]]: scopes });
const whole = (signal: Signal, ...items: readonly unknown[]): unknown => within(signal, scoped(signal, ...items));
const merged = (one: unknown, other: object): unknown => ({ ...(one as object), ...other });

const BAD_ATTRIBUTES: readonly unknown[] = [
  "x",
  5,
  true,
  ["x"],
  [null],
  [[]],
  [{ key: 5, value: { stringValue: "x" } }],
  [{ key: "a", value: { stringValue: {} } }],
  [{ key: "a", value: { intValue: {} } }],
  [{ key: "a", value: { arrayValue: "x" } }],
  [{ key: "a", value: { arrayValue: { values: "x" } } }],
  [{ key: "a", value: { kvlistValue: 5 } }],
  [{ key: "a", value: { kvlistValue: { values: ["x"] } } }],
];

const JSON_ROWS: readonly Row[] = [
  ["a request whose list is an object", (signal) => whole(signal, ITEM), 0, 1],
  ["a request whose list is a text", () => "x", 0, 1],
  ["a resource that is no object", (signal) => [whole(signal, ITEM), "x", null], 1, 2],
  ["scopes that are no list", (signal) => [whole(signal, ITEM), { [SCOPES[signal]]: {} }], 1, 1],
  ["a scope that is no object", (signal) => [within(signal, 7, scoped(signal, ITEM))], 1, 1],
  ["items that are a text", (signal) => [within(signal, scoped(signal, ITEM), { [ITEMS[signal]]: "x" })], 1, 1],
  ["items that are an object", (signal) => [within(signal, scoped(signal, ITEM), { [ITEMS[signal]]: ITEM })], 1, 1],
  ["items that are no object", (signal) => [whole(signal, ITEM, "x", null, 5, [])], 1, 4],
  ["two items of a malformed resource", (signal) => [merged(whole(signal, ITEM, ITEM), { resource: "x" })], 0, 2],
  [
    "an item of a malformed scope",
    (signal) => [within(signal, merged(scoped(signal, ITEM), { scope: [] }), scoped(signal, ITEM))],
    1,
    1,
  ],
  ...BAD_ATTRIBUTES.flatMap((attributes): readonly Row[] => {
    const name = `attributes ${JSON.stringify(attributes)}`;
    return [
      [`${name} of an item`, (signal) => [whole(signal, ITEM, { ...ITEM, attributes })], 1, 1],
      [`${name} of a resource`, (signal) => [merged(whole(signal, ITEM), { resource: { attributes } })], 0, 1],
      [
        `${name} of a scope`,
        (signal) => [within(signal, merged(scoped(signal, ITEM), { scope: { attributes } }))],
        0,
        1,
      ],
    ];
  }),
];

const LISTS_OF_SPANS = ["events", "links"].flatMap((name): readonly (readonly [string, object])[] => [
  [`${name} that are a text`, { [name]: "x" }],
  [`${name} that are no objects`, { [name]: [5] }],
  [`attributes of ${name} that are a text`, { [name]: [{ attributes: "x" }] }],
]);

describe("in JSON", () => {
  const readOne = (signal: Signal, resources: unknown): Decoded =>
    finish(readJson(Buffer.from(JSON.stringify({ [RESOURCES[signal]]: resources })), signal));
  for (const signal of ["traces", "logs"] as const)
    for (const [name, body, kept, rejected] of JSON_ROWS)
      test(`${signal}: ${name}`, () => check(readOne(signal, body(signal)), kept, rejected));
  for (const [name, more] of [...LISTS_OF_SPANS, ["a status that is a text", { status: "x" }]] as const)
    test(name, () => check(readOne("traces", [whole("traces", ITEM, { ...ITEM, ...more })]), 1, 1));
  test("a large request, which is scanned, counts alike", () => {
    const large = { ...ITEM, padding: "x".repeat(600_000) };
    const body = [whole("traces", large, "x", { ...ITEM, attributes: "x" }), { scopeSpans: "x" }];
    check(readOne("traces", body), 1, 3);
  });
});

describe("in protobuf", () => {
  const number = (tag: number): Buffer => Buffer.concat([varint(tag * 8), Buffer.from([1])]);
  const span = protobufSpan(ITEM);
  const item: Readonly<Record<Signal, Buffer>> = { traces: span, logs: field(5, field(1, "text")) };
  const joined = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);
  const badKeyValue = (at: number): Buffer => field(at, joined(field(1, "a"), number(2)));
  const badText = (at: number): Buffer => field(at, joined(field(1, "a"), field(2, number(1))));
  const attributesAt: Readonly<Record<Signal, number>> = { traces: 9, logs: 6 };
  const bad = (at: number): readonly Buffer[] => [number(at), badKeyValue(at), badText(at)];
  type ProtobufRow = readonly [name: string, body: (signal: Signal) => Buffer, kept: number, rejected: number];
  const ROWS: readonly ProtobufRow[] = [
    ["a resource that is a number", (of) => joined(number(1), field(1, field(2, field(2, item[of])))), 1, 1],
    ["scopes that are a number", (of) => field(1, joined(number(2), field(2, field(2, item[of])))), 1, 1],
    ["items that are a number", (of) => field(1, field(2, joined(number(2), field(2, item[of])))), 1, 1],
    ["the items of such a resource", (of) => field(1, joined(field(2, field(2, item[of])), number(1))), 0, 1],
    ["the items of such a scope", (of) => field(1, field(2, joined(number(1), field(2, item[of])))), 0, 1],
    ...[0, 1, 2].flatMap((form): readonly ProtobufRow[] => [
      [
        `attributes of an item, form ${form}`,
        (of) =>
          field(
            1,
            field(2, joined(field(2, item[of]), field(2, joined(item[of], bad(attributesAt[of])[form] ?? span)))),
          ),
        1,
        1,
      ],
      [
        `attributes of a resource, form ${form}`,
        (of) => field(1, joined(field(1, bad(1)[form] ?? span), field(2, field(2, item[of])))),
        0,
        1,
      ],
      [
        `attributes of a scope, form ${form}`,
        (of) => field(1, field(2, joined(field(1, bad(3)[form] ?? span), field(2, item[of])))),
        0,
        1,
      ],
    ]),
  ];
  for (const signal of ["traces", "logs"] as const)
    for (const [name, body, kept, rejected] of ROWS)
      test(`${signal}: ${name}`, () => check(finish(readProtobuf(body(signal), signal)), kept, rejected));
  for (const [name, more] of [
    ["attributes of an event", field(11, number(3))],
    ["attributes of a link", field(13, number(4))],
    ["a status of a text", field(15, number(2))],
  ] as const)
    test(name, () => check(finish(readProtobuf(field(1, field(2, field(2, joined(span, more)))))), 0, 1));
  test("fields that no version knows are no fault", () => {
    const more = joined(number(20), protobufAttributes(21, { a: "b" }), number(90));
    check(finish(readProtobuf(field(1, joined(field(2, joined(field(2, joined(span, more)), more)), more)))), 1, 0);
  });
});

function check(decoded: Decoded, kept: number, rejected: number): void {
  assert.deepEqual([decoded.spans.length + decoded.records.length, decoded.rejected], [kept, rejected]);
  if (rejected > 0) assert.match(decoded.reason, /malformed/);
}
