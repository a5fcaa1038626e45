// Tests of secrets in answers: mask-secrets.1, mask-secrets.2, mask-secrets.3.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { HIDDEN, maskSecrets } from "./mask-secrets.ts";

const PASSWORD = { type: "string", format: "password" };
const WRITE_ONLY = { writeOnly: true };

const ROWS: readonly (readonly [name: string, schema: JsonObject, value: Json, shown: Json])[] = [
  ["the whole answer", PASSWORD, "x", HIDDEN],
  ["an object as a whole", { writeOnly: true, properties: { a: {} } }, { a: 1 }, HIDDEN],
  ["a member", { properties: { a: PASSWORD, b: {} } }, { a: "x", b: "y" }, { a: HIDDEN, b: "y" }],
  ["a member of any type", { properties: { a: WRITE_ONLY } }, { a: { deep: [1] } }, { a: HIDDEN }],
  ["items", { items: PASSWORD }, ["x", "y"], [HIDDEN, HIDDEN]],
  ["an item by its place", { prefixItems: [{}, PASSWORD] }, ["x", "y", "z"], ["x", HIDDEN, "z"]],
  ["an item by its place, in older schemas", { items: [{}, PASSWORD] }, ["x", "y"], ["x", HIDDEN]],
  ["other items", { prefixItems: [{}], items: PASSWORD }, ["x", "y"], [HIDDEN, HIDDEN]],
  ["items of items", { items: { items: { properties: { a: WRITE_ONLY } } } }, [[{ a: 1 }]], [[{ a: HIDDEN }]]],
  ["items that are searched for", { contains: PASSWORD }, ["x"], [HIDDEN]],
  [
    "other members",
    { properties: { a: {} }, additionalProperties: PASSWORD },
    { a: "x", b: "y" },
    { a: "x", b: HIDDEN },
  ],
  ["members that no part describes", { unevaluatedProperties: PASSWORD }, { a: "x" }, { a: HIDDEN }],
  [
    "members by a plain pattern",
    { patternProperties: { "^pin": PASSWORD } },
    { pin1: "x", a: "y" },
    { pin1: HIDDEN, a: "y" },
  ],
  ["members by any other pattern", { patternProperties: { "(a+)+$": PASSWORD } }, { b: "x" }, { b: HIDDEN }],
  ["names of members", { propertyNames: PASSWORD }, { secret: 1 }, HIDDEN],
  ["a member of another case", { if: {}, else: { properties: { a: PASSWORD } } }, { a: "x" }, { a: HIDDEN }],
  ["a branch of a choice", { oneOf: [{ type: "null" }, { properties: { a: PASSWORD } }] }, { a: "x" }, { a: HIDDEN }],
  ["a part", { allOf: [{ anyOf: [{ properties: { a: PASSWORD } }] }] }, { a: "x" }, { a: HIDDEN }],
  ["a dependent part", { dependentSchemas: { b: { properties: { a: PASSWORD } } } }, { a: "x" }, { a: HIDDEN }],
  ["a reference", { $defs: { s: PASSWORD }, properties: { a: { $ref: "#/$defs/s" } } }, { a: "x" }, { a: HIDDEN }],
  [
    "a reference with escapes",
    { definitions: { "a/b~c d": PASSWORD }, properties: { a: { $ref: "#/definitions/a~1b~0c%20d" } } },
    { a: "x" },
    { a: HIDDEN },
  ],
  ["a reference into a list", { allOf: [{ title: "t" }, PASSWORD], $ref: "#/allOf/0" }, "x", HIDDEN],
  ["an anchor", { $defs: { s: { $anchor: "me", writeOnly: true } }, items: { $ref: "#me" } }, ["x"], [HIDDEN]],
  ["an id", { $defs: { s: { $id: "urn:s", writeOnly: true } }, items: { $ref: "urn:s" } }, ["x"], [HIDDEN]],
  [
    "a schema in itself",
    { properties: { word: PASSWORD, next: { $ref: "#" } } },
    { word: "x", next: { word: "y", next: { note: "z" } } },
    { word: HIDDEN, next: { word: HIDDEN, next: { note: "z" } } },
  ],
  [
    "what a reference to nowhere describes",
    { properties: { a: PASSWORD, b: { $ref: "urn:other" } } },
    { b: "x" },
    { b: HIDDEN },
  ],
];

for (const [name, schema, value, shown] of ROWS) {
  test(`the mask hides ${name} (mask-secrets.1, mask-secrets.2)`, () => {
    assert.deepEqual(maskSecrets(value, schema), shown);
  });
}

test("a value without a secret stays the same object (mask-secrets.3)", () => {
  const value = { a: [{ b: 1 }], format: "password" };
  for (const schema of [
    null,
    {},
    { properties: { a: { items: { properties: { b: {} } } } } },
    { properties: { other: PASSWORD } },
    { properties: { format: { type: "string", description: "password" } } },
    { properties: { a: { writeOnly: false } } },
  ])
    assert.equal(maskSecrets(value, schema), value);
});

test("a value deeper than any schema should go is a secret, and takes no long time (mask-secrets.2)", () => {
  const schema = { properties: { word: PASSWORD, next: { $ref: "#" } } };
  let value: JsonObject = { word: "sesame" };
  for (let depth = 0; depth < 1000; depth++) value = { next: value };
  assert.ok(!JSON.stringify(maskSecrets(value, schema)).includes("sesame"));
});
