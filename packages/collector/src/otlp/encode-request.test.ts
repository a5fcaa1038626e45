// Encoded requests are read again as the same items, by the readers of this folder.
import assert from "node:assert/strict";
import { test } from "node:test";
import { protobufLogs, buildRecord } from "../../../../test/fakes/otlp-logs.ts";
import { protobufRequest, buildSpan } from "../../../../test/fakes/otlp.ts";
import type { Decoded, Signal } from "./decoded.ts";
import { encodeRecords, encodeSpans } from "./encode-request.ts";
import { readProtobuf } from "./protobuf.ts";

function read(body: Buffer, signal: Signal): Decoded {
  const reading = readProtobuf(body, signal);
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value;
}

const VALUES = {
  text: "a\u0000é👩",
  yes: true,
  no: false,
  small: -5n,
  zero: 0n,
  large: 2n ** 62n,
  least: -(2n ** 63n),
  double: 0.25,
  huge: 1e300,
  nothing: null,
  bytes: Buffer.from([0, 255]),
  list: ["x", 1n, ["y"], { a: { b: 2n } }],
  map: { a: "b", keys: ["c"] },
};

test("spans with every field, over several resources and scopes", () => {
  const spans = [0, 1].map((at) =>
    buildSpan(1, at, at === 0 ? undefined : 0, {
      attributes: VALUES,
      events: [{ name: "e", time: 5n, attributes: VALUES }],
      links: [{ traceId: "a".repeat(32), spanId: "b".repeat(16), traceState: "t=1", attributes: { a: "b" } }],
      status: { code: 2, message: "bad" },
      traceState: "x=y",
      flags: 769,
      droppedAttributes: 3,
    }),
  );
  const body = Buffer.concat([
    protobufRequest(spans, { resource: { r: "1" }, scope: { name: "s", version: "2" } }),
    protobufRequest(spans, { resource: { r: "2" } }),
  ]);
  const before = read(body, "traces");
  const after = read(encodeSpans(before.spans), "traces");
  assert.deepEqual(after, before);
  assert.equal(after.spans.length, 4);
});

test("log records", () => {
  const records = [
    buildRecord(buildSpan(1, 0), "gen_ai.choice", { body: VALUES }),
    buildRecord(buildSpan(1, 1), "app", { body: "x" }),
  ];
  const before = read(protobufLogs(records), "logs");
  assert.deepEqual(read(encodeRecords(before.records), "logs"), before);
});
