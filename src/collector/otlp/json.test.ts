// JSON requests: a mark in front, and envelopes that are malformed.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
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

describe("what is malformed counts as rejected, and the rest is read", () => {
  const good = { scopeSpans: [{ spans: [SPAN] }] };
  const ROWS: readonly (readonly [name: string, text: string, spans: number])[] = [
    ["resourceSpans that are no list", JSON.stringify({ resourceSpans: good }), 0],
    ["a resource that is no object", request(good, "x"), 1],
    ["scopes that are no list", request(good, { scopeSpans: {} }), 1],
    ["a scope that is no object", request({ scopeSpans: [7, { spans: [SPAN] }] }), 1],
    ["spans that are no list", request(good, { scopeSpans: [{ spans: "x" }] }), 1],
    ["a span that is no object", request({ scopeSpans: [{ spans: [SPAN, "x"] }] }), 1],
    ["attributes that are a text", request({ scopeSpans: [{ spans: [SPAN, { ...SPAN, attributes: "x" }] }] }), 1],
  ];
  for (const [name, text, spans] of ROWS)
    test(name, () => {
      const decoded = read(text);
      assert.deepEqual([decoded.spans.length, decoded.rejected], [spans, 1]);
      assert.match(decoded.reason, /malformed/);
    });
});
