// Test of schemas from types, with the TypeScript of this project: each kind of type, and each kind of export.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { openTypes } from "./type-checker.ts";
import { subgraphTypeSchemas } from "./subgraph-types.ts";
import { graphTypeSchemas, type TypeSchemas } from "./type-schemas.ts";

const FOLDER = join(import.meta.dirname, "../../../../../test/graphs");
const FILE = join(FOLDER, "typed.ts");
const files = await openTypes(FOLDER, [FILE]);
after(() => files?.close());
const program = files?.buildProgram(FILE) ?? assert.fail("this project's TypeScript cannot be asked");

function schemas(name: string): TypeSchemas | null {
  return graphTypeSchemas(program, program.findExport(name) ?? assert.fail(`${name} is not exported`));
}

const texts = { type: "array", items: { type: "string" } };

const FIELDS: Readonly<Record<string, JsonObject>> = {
  text: { type: "string" },
  number: { type: "number" },
  flag: { type: "boolean" },
  anything: {},
  list: { type: "array", items: { type: "number" } },
  pair: { type: "array", items: [{ type: "string" }, { type: "number" }], minItems: 2, maxItems: 2 },
  rest: { type: "array", items: { type: ["number", "string"] } },
  table: { type: "object", properties: {}, additionalProperties: { type: "number" } },
  choice: { type: "string", enum: ["big", "small"] },
  mixed: { anyOf: [{ type: "boolean", const: true }, { enum: [7, "x"] }] },
  maybe: { type: ["null", "string"] },
  either: { anyOf: [{ type: ["null", "string"] }, texts] },
  open: {}, // one of its members allows everything (json-schema-of-type.2)
  object: {
    type: "object",
    properties: {
      amount: { type: "number", description: "How much" },
      note: { type: "string" },
      may: { type: "string" },
    },
    required: ["amount"],
  },
  endless: { $ref: "#/definitions/Endless" }, // json-schema-of-type.3
  tree: { $ref: "#/definitions/Tree" },
  message: { $ref: "#/definitions/HumanMessage2" }, // the name is that of a message
  branded: { type: "string" },
  date: {}, // json-schema-of-type.1
  map: {},
  chat: { type: "array", langgraph_type: "messages", items: { $ref: "#/definitions/BaseMessage" } },
};

/** The order of a union's members is the checker's own. */
function sorted(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(sorted).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, sorted(value)]));
}

for (const [name, expected] of Object.entries(FIELDS)) {
  test(`the field ${name} is ${JSON.stringify(expected)}`, () => {
    const properties = schemas("compiled")?.state?.["properties"] as Record<string, JsonObject>;
    assert.deepEqual(sorted(properties[name]), sorted(expected));
  });
}

test("a type that refers to itself is a definition, once (json-schema-of-type.3)", () => {
  const { definitions } = schemas("compiled")?.state ?? {};
  const list = (name: string) => ({ type: "array", items: { $ref: `#/definitions/${name}` } });
  const expected: JsonObject = {
    Endless: {
      type: "object",
      properties: { name: { type: "string" }, below: list("Endless") },
      required: ["name", "below"],
    },
    Tree: { anyOf: [{ type: "string" }, list("Tree")] },
    HumanMessage2: { type: "object", properties: { before: { $ref: "#/definitions/HumanMessage2" } } },
  };
  assert.deepEqual(sorted(definitions), sorted(expected));
});

test("input has the same fields and requires none; the context has its schema too", () => {
  const { input, output, state, context } = schemas("compiled") ?? assert.fail();
  assert.equal(input?.["required"], undefined);
  const read = (input ?? {})["properties"] as Record<string, JsonObject>;
  assert.deepEqual(Object.keys(read).toSorted(), Object.keys(FIELDS).toSorted());
  // what a reducer takes has other types, and those of an update have no names
  for (const [name, field] of Object.entries(FIELDS))
    if (!["chat", "tree", "message"].includes(name)) assert.deepEqual(sorted(read[name]), sorted(field));
  assert.deepEqual(output, state);
  const model = { type: "string", enum: ["big", "small"] };
  assert.deepEqual(sorted(context?.["properties"]), sorted({ model, warmth: { type: "number" } }));
  assert.deepEqual(Object.keys(context ?? {}).toSorted(), ["properties", "type"]); // an assistant may have a part of it
});

for (const name of ["uncompiled", "promised", "wrapped", "factory", "slowFactory"]) {
  test(`a graph exported as ${name} has the same schemas`, () => {
    assert.deepEqual(schemas(name), schemas("compiled"));
  });
}

test("the functional API has its function's parameter and result", () => {
  const object = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
  assert.deepEqual(schemas("called"), { input: object("topic"), output: object("text"), state: null, context: null });
});

test("no schemas for other values and for missing exports", () => {
  assert.equal(schemas("noGraph"), null);
  assert.equal(program.findExport("absent"), undefined);
});

test("graphs that the file adds as nodes, declared or imported there (subgraph-types.1, subgraph-types.2)", () => {
  const source = `
    new StateGraph(State).addNode("direct", compiled).addNode( 'built', uncompiled.compile({ name: "x" }), {})
      .addNode("imported", deep).addNode("twice", compiled).addNode("plain", () => ({})).addNode("absent", nowhere);
    new StateGraph(State).addNode("twice", deep).addNode("none", noGraph);`;
  const found = subgraphTypeSchemas(program, source);
  assert.deepEqual(Object.keys(found).toSorted(), ["built", "direct", "imported"]);
  assert.deepEqual(Object.keys(subgraphTypeSchemas(program, readFileSync(FILE, "utf8"))), ["inner", "below"]);
  assert.deepEqual(found["direct"], schemas("compiled"));
  assert.deepEqual(found["built"], schemas("uncompiled"));
  const { properties } = found["imported"]?.state ?? {};
  assert.deepEqual((properties as JsonObject)["trail"], texts);
});
