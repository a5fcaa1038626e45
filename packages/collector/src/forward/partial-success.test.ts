import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { field } from "../../../../test/fakes/otlp.ts";
import { exportResponse } from "../otlp/status.ts";
import { readPartialSuccess } from "./partial-success.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const PROTOBUF = "application/x-protobuf";
const MESSAGE = "too old";

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

describe("partial success", () => {
  const REPLIES: readonly (readonly [what: string, body: Buffer, type: string | undefined, rejected: number | null])[] =
    [
      ["protobuf", exportResponse(300, MESSAGE, { format: "protobuf", signal: "traces" }), PROTOBUF, 300],
      ["JSON", exportResponse(3, MESSAGE, { format: "json", signal: "traces" }), JSON_TYPE, 3],
      ["log records", json({ partialSuccess: { rejectedLogRecords: 2, errorMessage: MESSAGE } }), JSON_TYPE, 2],
      ["data points", json({ partial_success: { rejected_data_points: "4", error_message: MESSAGE } }), JSON_TYPE, 4],
      ["a warning", json({ partialSuccess: { errorMessage: MESSAGE } }), JSON_TYPE, 0],
      ["a negative count", json({ partialSuccess: { rejectedSpans: "-1", errorMessage: MESSAGE } }), JSON_TYPE, 0],
      ["an impossible count", json({ partialSuccess: { rejectedSpans: 1e300, errorMessage: MESSAGE } }), JSON_TYPE, 0],
      ["nothing", Buffer.alloc(0), PROTOBUF, null],
      ["an empty member", json({ partialSuccess: {} }), JSON_TYPE, null],
      [
        "a cut reply",
        exportResponse(3, MESSAGE, { format: "protobuf", signal: "traces" }).subarray(0, 6),
        PROTOBUF,
        null,
      ],
      ["JSON that is no object", json("partialSuccess"), JSON_TYPE, null],
      ["a page", Buffer.from("<html>"), "text/html", null],
      ["no content type", json({ partialSuccess: { rejectedSpans: 1 } }), undefined, null],
      ["an unknown field", field(7, field(1, "x")), PROTOBUF, null],
    ];
  for (const [what, body, type, rejected] of REPLIES)
    test(`of ${what}`, () => {
      const expected = rejected === null ? null : { rejected, message: MESSAGE };
      assert.deepEqual(readPartialSuccess(body, type, []), expected);
    });

  test("the message is short, in one line, and without secrets of the destination", () => {
    const errorMessage = `key c2VjcmV0\r\nis\u0000over its quota ${"x".repeat(1000)}`;
    const found = readPartialSuccess(json({ partialSuccess: { errorMessage } }), JSON_TYPE, ["Basic c2VjcmV0"]);
    assert.match(found?.message ?? "", /^key \[secret\] is over its quota x+…$/);
    assert.equal(found?.message.length, 501);
  });
});
