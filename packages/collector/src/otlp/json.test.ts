// JSON requests: a mark in front.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Decoded } from "./decoded.ts";
import { readJson } from "./json.ts";

const SPAN = { traceId: "5b8efff798038103d269b633813fc60c", spanId: "eee19b7ec3c1b174", name: "chat" };

function read(text: string): Decoded {
  const reading = readJson(Buffer.from(text));
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
  }
}

const request = (...resourceSpans: readonly unknown[]): string => JSON.stringify({ resourceSpans });

test("a byte order mark in front is no part of the JSON", () => {
  const { spans } = read(`\uFEFF${request({ scopeSpans: [{ spans: [SPAN] }] })}`);
  assert.deepEqual(
    spans.map(({ name }) => name),
    ["chat"],
  );
});

test("a list holds items of the plain form too, and a scalar of another type is kept", () => {
  const attributes = [
    { key: "a", value: { stringValue: 5 } },
    { key: "b", value: { boolValue: "true" } },
    { key: "c", value: { doubleValue: true } },
    { key: "d", value: { arrayValue: { values: [null, "x", { intValue: "many" }] } } },
    { value: { stringValue: null } },
  ];
  const { rejected, spans } = read(request({ scopeSpans: [{ spans: [{ ...SPAN, attributes }] }] }));
  assert.deepEqual([rejected, spans[0]?.attributes.values], [0, [5, "true", true, [null, "x", "many"], null]]);
});
