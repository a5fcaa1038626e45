import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { readCount, plus } from "./exact-count.ts";
import { protobufRequest, buildSpan } from "../../../../../test/fakes/otlp.ts";
import { readProtobuf } from "../../otlp/protobuf.ts";
import { toJson } from "./plain-values.ts";
import { createTranslator } from "../translate.ts";

const parsed = (text: string) => (toJson(text) as readonly (number | string)[])[0];

describe("a count", () => {
  const cases = [
    [12, 12],
    ["12", 12],
    [" 12.5 ", 12.5],
    [0, 0],
    [-1, undefined],
    [NaN, undefined],
    [Infinity, undefined],
    ["", undefined],
    ["many", undefined],
    [true, undefined],
    [null, undefined],
    [[1], undefined],
    [9_007_199_254_740_991n, 9_007_199_254_740_991],
    [9_007_199_254_740_993n, 9_007_199_254_740_993n],
    [-9_007_199_254_740_993n, undefined],
    ["9007199254740993", 9_007_199_254_740_993n],
    ["0000000000000007", 7],
    [parsed("[9007199254740993]"), 9_007_199_254_740_993n],
  ] as const;
  for (const [value, count] of cases)
    test(`${typeof value} ${inspect(value)} is ${count}`, () => assert.equal(readCount(value), count));
});

test("sums of whole numbers are exact, sums with fractions have double precision", () => {
  assert.equal(plus(1, 2), 3);
  assert.equal(plus(9_007_199_254_740_991, 2), 9_007_199_254_740_993n);
  assert.equal(plus(9_007_199_254_740_993n, 1), 9_007_199_254_740_994n);
  assert.equal(plus(0.5, 0.25), 0.75);
  assert.equal(plus(9_007_199_254_740_993n, 0.5), 9_007_199_254_740_992);
});

test("token-usage.4 token counts beyond 2^53 keep every digit, in totals too", () => {
  const read = readProtobuf(protobufRequest([buildSpan(1, 0)])).next();
  assert.ok(read.done === true);
  const [span] = read.value.spans;
  assert.ok(span !== undefined);
  const attributes = {
    keys: ["gen_ai.operation.name", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"],
    values: ["chat", 9_007_199_254_740_993n, 2],
  };
  const translate = createTranslator({ filterNonGenAi: false, project: "" });
  const tenant = { id: "t", apiKey: "k", tenantId: "" };
  const { content } = translate({ ...span, attributes }, { tenant, project: "", receivedMs: 0 });
  const usage = '"input_tokens":9007199254740993,"output_tokens":2,"total_tokens":9007199254740995';
  assert.ok(content?.extra.includes(usage));
});
