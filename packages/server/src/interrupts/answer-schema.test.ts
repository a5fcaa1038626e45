// Tests of the check of an answer against its schema. Checked: answer-schema.1, answer-schema.2 and the rules of
// prepared-schema.ts. A pattern that backtracks would keep this file from ever ending.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@cfworker/json-schema";
import * as fc from "fast-check";
import * as z from "zod";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { checkAnswer } from "./answer-schema.ts";
import { findSchemaFault } from "./prepared-schema.ts";

const LONG = `${"a".repeat(20_000)}!`;
const listFaultMessages = (schema: JsonObject, answer: Json): readonly string[] =>
  (checkAnswer(schema, answer) ?? []).map(({ message }) => message);

const BACKTRACKING: readonly (readonly [pattern: string, fits: string])[] = [
  ["^(a+)+$", "aaa"],
  ["^(a|aa)+$", "aaa"],
  ["^(a|a)*$", "aaa"],
  [String.raw`^(\s|a)+$`, "a a"],
  ["^(a*)*$", "aaa"],
  ["(a+a+)+b", "aab"],
  ["^(.*a){3}$", "aaa"],
  ["^([a-z]+)*$", "abc"],
];

for (const [pattern, fits] of BACKTRACKING) {
  test(`${pattern} refuses 20 KB that do not match, as a value, as a member's name and in a union (prepared-schema.1)`, (t) => {
    const slowest = probe(t);
    const places: readonly (readonly [JsonObject, Json])[] = [
      [{ type: "string", pattern }, LONG],
      [{ type: "object", propertyNames: { pattern } }, { [LONG]: 1 }],
      [{ type: "object", patternProperties: { [pattern]: {} }, additionalProperties: false }, { [LONG]: 1 }],
      [{ anyOf: [{ type: "string", pattern }, { type: "null" }] }, LONG],
    ];
    for (const [schema, answer] of places) {
      const messages = slowest(() => listFaultMessages(schema, answer));
      assert.equal(messages.length, 1);
      assert.doesNotMatch(messages[0] ?? "", /too long/);
      const fitting = JSON.parse(JSON.stringify(answer).replace(LONG, fits)) as Json;
      assert.deepEqual(listFaultMessages(schema, fitting), []);
    }
  });
}

const REFUSED: readonly (readonly [what: string, schema: JsonObject, sentence: RegExp])[] = [
  ["lookahead", { pattern: "^(?=.*[0-9])a+$" }, /The pattern "\^\(\?=\.\*\[0-9\]\)a\+\$" .* lookaround/],
  ["a backreference inside", { properties: { a: { items: { pattern: String.raw`(a)\1` } } } }, /backreferences/],
  ["a name's pattern", { patternProperties: { "(?<!a)b": {} } }, /pattern/],
  ["a definition's pattern", { $defs: { d: { pattern: "a{1,5000}" } } }, /counts above 1000/],
  ["no pattern at all", { pattern: "(" }, /pattern/],
  ["a long pattern", { pattern: "a".repeat(1001) }, /at most 1000 characters/],
  ["many large counts", { pattern: "a{1000}".repeat(60) }, /too large together/],
  ["many patterns", { anyOf: Array.from({ length: 100 }, () => ({ pattern: `^${"a".repeat(600)}$` })) }, /too large/],
  ["counts of groups", { pattern: `(${"a".repeat(900)}){1000}` }, /too large together/],
  ["counts in counts", { pattern: `((${"a".repeat(100)}){30}){30}` }, /too large together/],
  ["many parts", { anyOf: Array.from({ length: 20_001 }, () => ({})) }, /20000 parts/],
  ["many levels", nest(101), /100 levels/],
];

function nest(levels: number): JsonObject {
  let schema: JsonObject = {};
  for (let level = 0; level <= levels; level++) schema = { items: schema };
  return schema;
}

for (const [what, schema, sentence] of REFUSED)
  test(`a question with ${what} is refused with a sentence (answer-schema.2)`, () =>
    assert.match(findSchemaFault(schema) ?? "", sentence));

test("names and values that look like patterns are none (prepared-schema.3)", () => {
  const look = "(?=a)";
  const schema = {
    properties: { pattern: { const: { pattern: look } } },
    enum: [{ pattern: look }],
    default: { pattern: look },
  };
  assert.equal(findSchemaFault(schema), null);
  assert.deepEqual(listFaultMessages(schema, { pattern: look }).length, 1);
});

test("the formats of a schema library pass, and are checked (prepared-schema.1)", () => {
  const schema = z.toJSONSchema(z.object({ to: z.email(), at: z.iso.datetime(), id: z.uuid() })) as JsonObject;
  assert.equal(findSchemaFault(schema), null);
  const right = { to: "ann@example.org", at: "2026-01-01T00:00:00Z", id: crypto.randomUUID() };
  assert.deepEqual(listFaultMessages(schema, right), []);
  for (const name of ["to", "at", "id"])
    assert.equal(listFaultMessages(schema, { ...right, [name]: "no" }).length > 0, true, name);
});

const multiplied: Record<string, Json> = { d0: { type: "object", properties: { a: { type: "string" } } } };
for (let at = 1; at < 40; at++) {
  const ref = { $ref: `#/$defs/d${at - 1}` };
  multiplied[`d${at}`] = { allOf: [ref, ref] };
}
const both: Json = { properties: { a: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } };
const hidden: Json = { x: { allOf: [{ $ref: "#/x" }] }, $ref: "#/x" };
const deep = (levels: number): Json => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as Json;
const numbers = (count: number): Json => Array.from({ length: count }, (_, at) => ({ at }));

const COSTLY: readonly (readonly [what: string, schema: JsonObject, answer: Json])[] = [
  ["references that multiply", { $defs: multiplied, $ref: "#/$defs/d39" }, { a: "x" }],
  ["references that multiply with the depth of the answer", both, deep(60)],
  ["a reference in a circle", { allOf: [{ $ref: "#" }] }, 1],
  ["a reference in a circle through an unknown member", hidden, 1],
  ["unique items among many", { uniqueItems: true }, numbers(20_000)],
  ["unique items in many parts", { allOf: Array.from({ length: 5000 }, () => ({ uniqueItems: true })) }, numbers(200)],
  ["a long list of values for each item", { items: { enum: numbers(5000) } }, numbers(5000)],
  [
    "one long text in many patterns",
    { anyOf: Array.from({ length: 100 }, (_, at) => ({ pattern: `^(a|b${at})*$` })) },
    LONG.repeat(20),
  ],
  ["many texts", { items: { pattern: "^(a+)+$" } }, Array.from({ length: 400 }, () => "a".repeat(2000))],
  [
    "a long text with a format",
    { items: { format: "email" } },
    Array.from({ length: 600 }, () => `${"a.".repeat(1020)}@`),
  ],
  ["many members and patterns for them", { patternProperties: { "^a": {}, a$: {}, "^(a|b)*$": {} } }, members(50_000)],
  ["many faults", { items: { enum: ["x".repeat(1000)] } }, numbers(50_000)],
];

function members(count: number): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}a`, 1]));
}

for (const [what, schema, answer] of COSTLY)
  test(`${what}: the check ends, and soon (prepared-schema.2)`, (t) => {
    const slowest = probe(t);
    slowest(() => listFaultMessages(schema, answer));
  });

test("a check that has too many steps refuses the answer, and the next one is whole (prepared-schema.2)", () => {
  const schema = { $defs: multiplied, $ref: "#/$defs/d39" };
  assert.match(listFaultMessages(schema, { a: "x" })[0] ?? "", /takes too long/);
  assert.deepEqual(listFaultMessages({ type: "string", pattern: "^a+$" }, "aaa"), []);
});

test("the copy has the meaning of the schema (prepared-schema.3)", () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const part = fc.letrec((tie) => ({
    schema: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<JsonObject>(
        {},
        { type: "string" },
        { minimum: 3 },
        { pattern: "^a" },
        { format: "date" },
        { uniqueItems: true },
      ),
      fc.record({ const: value }),
      fc.record({
        properties: fc.dictionary(fc.constantFrom("a", "b", "pattern"), tie("schema")),
        additionalProperties: fc.boolean(),
      }),
      fc.record({
        patternProperties: fc.dictionary(fc.constantFrom("^a", "b", "."), tie("schema")),
        unevaluatedProperties: fc.boolean(),
      }),
      fc.record({
        patternProperties: fc.record({ "^a": tie("schema") }),
        properties: fc.record({ a: tie("schema") }),
        additionalProperties: tie("schema"),
      }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }), pattern: fc.constant("a") }),
      fc.record({ not: tie("schema") }),
      fc.record({ items: tie("schema"), prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    ),
  })).schema;
  const member = fc.constantFrom("a", "ab", "b", "pattern");
  const answer = fc.oneof(
    value,
    fc.dictionary(member, value),
    fc.array(fc.dictionary(member, value)),
    fc.constantFrom("a", "b", "2026-01-01"),
  );
  fc.assert(
    fc.property(part, answer, (schema, given) => {
      const plain = new Validator(structuredClone(schema) as object, "2020-12", false).validate(given).valid;
      assert.equal(checkAnswer(schema as JsonObject, given as Json)?.length === 0, plain);
    }),
    { numRuns: 500 },
  );
});

test("a schema with references to other documents leaves the check to the node", () => {
  assert.equal(checkAnswer({ $ref: "https://example.org/other" }, "a"), null);
});

test("a pattern has JSON Schema's semantics", () => {
  const rows: readonly (readonly [pattern: string, text: string, fits: boolean])[] = [
    ["^.$", "\u{1f600}", true],
    ["^\\s[\\s]$", "\u00a0\u3000", true],
    ["^[^\\s]$", "\u00a0", false],
    ["^\\u0061$", "a", true],
    ["^(?<year>\\d{4})$", "2026", true],
    ["a.c", "a\rc", false],
    ["b", "abc", true],
    ["^\\S$", "\u00a0", false],
  ];
  for (const [pattern, text, fits] of rows) {
    assert.equal(listFaultMessages({ type: "string", pattern }, text).length === 0, fits, pattern);
  }
});

/** Says how much CPU time the slowest call took. */
function probe(t: { readonly diagnostic: (text: string) => void; readonly after: (done: () => void) => void }) {
  let slowestMs = 0;
  t.after(() => t.diagnostic(`slowest check: ${Math.round(slowestMs)} ms of CPU time`));
  return <T>(work: () => T): T => {
    const before = process.threadCpuUsage();
    const result = work();
    const { user, system } = process.threadCpuUsage(before);
    slowestMs = Math.max(slowestMs, (user + system) / 1000);
    return result;
  };
}
