// Tests of tool schemas: tool-schema.1 valid in draft 2020-12, tool-schema.2 older words keep their meaning; and of tool
// names (tools.1).
import { Ajv2020 } from "ajv/dist/2020.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { convertSchema } from "./tool-schema.ts";
import { nameTool } from "./tools.ts";

const parameter = (x: unknown): JsonObject => ({ type: "object", properties: { x } }) as JsonObject;

/** Name → schema → values of the parameter that it takes, and that it refuses. */
const SCHEMAS: Readonly<
  Record<string, readonly [schema: JsonObject, takes: readonly unknown[], refuses: readonly unknown[]]>
> = {
  "a tuple of draft 7": [
    parameter({ type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false }),
    [["a", 1]],
    [
      [1, "a"],
      ["a", 1, 2],
    ],
  ],
  "a tuple with a rest": [
    parameter({ type: "array", items: [{ type: "string" }], additionalItems: { type: "number" } }),
    [["a", 1, 2]],
    [["a", "b"]],
  ],
  "a tuple inside a definition": [
    {
      type: "object",
      properties: { x: { $ref: "#/definitions/pair" } },
      definitions: { pair: { type: "array", items: [{ type: "string" }, { type: "string" }] } },
    },
    [["a", "b"]],
    [[1, 2], "a"],
  ],
  "dependencies of both kinds": [
    parameter({
      type: "object",
      dependencies: { a: ["b"], c: { required: ["d"] } },
    }),
    [
      { a: 1, b: 1 },
      { c: 1, d: 1 },
    ],
    [{ a: 1 }, { c: 1 }],
  ],
  "an exclusive bound of draft 4": [parameter({ type: "number", minimum: 1, exclusiveMinimum: true }), [2], [1]],
  "a bound that is not exclusive": [parameter({ type: "number", minimum: 1, exclusiveMinimum: false }), [1], [0]],
  "a type that is none": [parameter({ type: "date" }), ["today", 1], []],
  "required as a flag": [parameter({ type: "string", required: true }), ["a"], [1]],
  "an enumeration that is no list": [parameter({ enum: "abc" }), ["abc", 1], []],
  "an enumeration": [parameter({ enum: ["a", 1, null] }), ["a", 1, null], ["b"]],
  "an empty choice": [parameter({ anyOf: [] }), ["a"], []],
  "a choice": [parameter({ anyOf: [{ type: "string" }, { type: "null" }] }), ["a", null], [1]],
  "a choice of which one side says nothing": [parameter({ anyOf: [{ type: "string" }, {}] }), ["a", 1], []],
  "a reference to nothing": [parameter({ $ref: "#/definitions/none" }), ["a", 1], []],
  "a reference to another document": [parameter({ $ref: "https://example.com/schema" }), ["a"], []],
  "a reference to the root": [{ type: "object", properties: { x: { $ref: "#" } } }, [{}, { x: {} }], ["a", { x: "a" }]],
  "a dialect of its own, and a base address": [
    parameter({ $schema: "http://json-schema.org/draft-07/schema#", $id: "https://example.com/x", type: "string" }),
    ["a"],
    [1],
  ],
  "no type at all": [parameter({ description: "anything" }), ["a", 1, null, {}, [], true], []],
  "a parameter that is true": [parameter(true), ["a", 1], []],
  "a schema that is text": [parameter("string"), ["a", 1], []],
  "a pattern that is none": [parameter({ type: "string", pattern: "(" }), ["a"], [1]],
  "a length that is text": [parameter({ type: "string", maxLength: "3" }), ["abcd"], [1]],
  "a format that nobody knows": [parameter({ type: "string", format: "colour" }), ["red"], [1]],
};

for (const [name, [schema, takes, refuses]] of Object.entries(SCHEMAS)) {
  test(`${name}: valid in draft 2020-12, with a type (tool-schema.1, tool-schema.2)`, () => {
    const made = convertSchema(schema);
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
    assert.equal(ajv.validateSchema(made), true, JSON.stringify(ajv.errors));
    const check = ajv.compile(made);
    for (const x of takes) assert.equal(check({ x }), true, `takes ${JSON.stringify(x)}: ${JSON.stringify(made)}`);
    for (const x of refuses) assert.equal(check({ x }), false, `refuses ${JSON.stringify(x)}: ${JSON.stringify(made)}`);
    assert.ok("type" in ((made["properties"] as JsonObject)["x"] as JsonObject));
  });
}

test("a schema without an end is cut (tool-schema.1)", () => {
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 2000; level++) deep = { type: "object", properties: { x: deep } };
  const ajv = new Ajv2020({ strict: false });
  assert.equal(ajv.validateSchema(convertSchema(deep)), true);
});

const ID = "01a1fd91-725c-7105-81f8-f28efc3e8a5a";
const builtIn = (graph: string) => ({
  assistant_id: ID,
  graph_id: graph,
  name: graph,
  metadata: { created_by: "system" },
});

test("tools of any names are different, and valid (tools.1)", () => {
  const graphs = [
    "my.agent",
    "my agent",
    "my_agent",
    "客服",
    "销售",
    "",
    " ",
    "resume",
    "a".repeat(64),
    "a".repeat(65),
    "a".repeat(66),
  ];
  const made = ["01a1fd91-725c-7105-81f8-f28efc3e8a5a", "01a1fd91-725c-7105-81f8-f28efc3e8a5b"].map((id) => ({
    ...builtIn("my_agent"),
    assistant_id: id,
    name: "Editor",
    metadata: {},
  }));
  const names = [...graphs.map(builtIn), ...made].map(nameTool);
  assert.equal(new Set(names).size, names.length, names.join(" "));
  for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
  assert.ok(!names.includes("resume"), "the name of the answering tool");
  assert.deepEqual([nameTool(builtIn("my_agent")), nameTool(builtIn("a".repeat(64)))], ["my_agent", "a".repeat(64)]);
});
