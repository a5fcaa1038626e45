// Tests of the marks of an item: whether a program may answer it, and whether its answer is a secret.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { isForPeopleOnly } from "@holdpoint/api/person-only.ts";
import { isSensitive } from "../mcp/elicitation.ts";

const HUMAN: readonly (readonly [string, Json, Json, boolean])[] = [
  ["a payload", { audience: "human" }, null, true],
  ["a list with one such part", [{ a: 1 }, { audience: "human" }], null, true],
  ["the assistant's config", { a: 1 }, { configurable: { audience: "human" } }, true],
  ["another audience", [{ audience: "model" }], null, false],
  ["a text", "human", null, false],
];
for (const [name, value, config, expected] of HUMAN)
  test(`${name} is ${expected ? "" : "not "}for people only`, () =>
    assert.equal(isForPeopleOnly({ value }, config), expected));

const SECRET: readonly (readonly [string, Json, Json, boolean])[] = [
  ["a payload", { sensitive: true }, null, true],
  ["a list with one such part", [{ a: 1 }, { sensitive: true }], null, true],
  ["a schema", "?", { type: "string", format: "password" }, true],
  ["a schema in a part of a list", [{ response_schema: { properties: { pin: { writeOnly: true } } } }], null, true],
  ["an item of a list in the schema", "?", { type: "array", items: { format: "password" } }, true],
  ["an alternative in the schema", "?", { anyOf: [{ type: "null" }, { writeOnly: true }] }, true],
  ["a plain schema", { sensitive: "yes" }, { type: "object", properties: { format: { type: "string" } } }, false],
];
for (const [name, value, schema, expected] of SECRET)
  test(`${name} makes the answer ${expected ? "a" : "no"} secret`, () =>
    assert.equal(
      isSensitive({ value, ...(schema === null ? {} : { response_schema: schema as JsonObject }) }),
      expected,
    ));
