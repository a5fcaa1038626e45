// Test of the composer's form for a graph's schema.
import assert from "node:assert/strict";
import { test } from "node:test";
import { buildExample, takesMessages } from "./graph-input.ts";

const MESSAGES = { type: "array", langgraph_type: "messages" };

const EXAMPLES: readonly (readonly [name: string, schema: unknown, example: unknown])[] = [
  ["no schema", undefined, {}],
  ["a schema that allows everything", {}, {}],
  [
    "members of every type",
    {
      properties: {
        text: { type: "string" },
        count: { type: "integer" },
        flag: { type: "boolean" },
        list: { type: "array" },
        inner: { type: "object", properties: { a: { type: ["number", "null"] } } },
        any: {},
      },
    },
    { text: "", count: 0, flag: false, list: [], inner: { a: 0 }, any: null },
  ],
  [
    "defaults and choices",
    { properties: { a: { default: 3 }, b: { enum: ["x", "y"] }, c: { anyOf: [{ const: 1 }] } } },
    { a: 3, b: "x", c: 1 },
  ],
  ["messages", { properties: { messages: MESSAGES } }, { messages: [{ role: "user", content: "" }] }],
];

for (const [name, schema, example] of EXAMPLES) {
  test(`an example is made of ${name}`, () => assert.deepEqual(buildExample(schema), example));
}

test("a recursive schema yields an example of limited depth", () => {
  const schema: Record<string, unknown> = { properties: {} };
  schema["properties"] = { again: schema };
  assert.match(JSON.stringify(buildExample(schema)), /again.*again.*null/);
});

test("a single message is valid input if the schema requires nothing else", () => {
  assert.equal(takesMessages({ properties: { messages: MESSAGES } }), true);
  assert.equal(takesMessages({ properties: { messages: MESSAGES, city: {} }, required: ["city"] }), false);
  assert.equal(takesMessages({ properties: { text: {} } }), false);
  assert.equal(takesMessages(null), false);
});
