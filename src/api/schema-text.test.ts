// Test of the short form in which the API page shows schemas, and of the first body that its forms propose.
import assert from "node:assert/strict";
import { test } from "node:test";

type Schema = Readonly<Record<string, unknown>>;

interface SchemaText {
  readonly schemaText: (schema: Schema | undefined) => string;
  readonly firstBody: (schema: Schema, components: Readonly<Record<string, Schema>>) => unknown;
}

/** JavaScript for browsers, which has no types here. */
const PAGE = new URL("docs-page/schema-text.js", import.meta.url).href;
const { schemaText, firstBody } = (await import(PAGE)) as SchemaText;

const SHOWN: readonly (readonly [schema: Schema, text: string])[] = [
  [{}, "any"],
  [{ type: "string", format: "uuid" }, "string, uuid"],
  [{ type: "integer", minimum: 1, maximum: 1000 }, "integer, 1 to 1000"],
  [{ type: "integer", minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }, "integer"],
  [{ enum: ["a", "b"] }, '"a" | "b"'],
  [{ type: ["string", "null"] }, "string | null"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
  [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } }, "(string | number)[]"],
  [{ $ref: "#/components/schemas/Run" }, "Run"],
  [{ type: "object", properties: {} }, "object"],
  [
    { type: "object", properties: { a: { type: "string", description: "what it is" }, b: {} }, required: ["a"] },
    "{\n  a: string  // what it is\n  b?: any\n}",
  ],
  [{ type: "object", additionalProperties: { type: "number" } }, "{\n  [name]: number\n}"],
];

for (const [schema, text] of SHOWN) {
  test(`${JSON.stringify(schema).slice(0, 90)} is shown as ${JSON.stringify(text)}`, () => {
    assert.equal(schemaText(schema), text);
  });
}

test("a schema that contains itself ends", () => {
  const Tree = {
    type: "object",
    properties: { left: { $ref: "#/components/schemas/Tree" } },
    required: ["left"],
  };
  assert.match(schemaText(Tree), /left: Tree/);
  assert.ok(JSON.stringify(firstBody(Tree, { Tree })).length < 200);
  const endless: Record<string, unknown> = { type: "array" };
  endless["items"] = endless;
  assert.match(schemaText(endless), /^…/);
});

test("a first body has all required members, and defaults", () => {
  const Run = {
    type: "object",
    properties: { assistant_id: { type: "string" }, limit: { type: "integer", default: 10 }, note: {} },
    required: ["assistant_id", "limit"],
  };
  assert.deepEqual(firstBody({ $ref: "#/components/schemas/Run" }, { Run }), { assistant_id: "", limit: 10 });
});
