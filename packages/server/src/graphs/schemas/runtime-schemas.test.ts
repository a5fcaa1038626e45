// Test of the schemas of graphs, with LangGraph's own classes: the result of each way to declare a state.
import { Annotation, messagesStateReducer, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as z from "zod";
import { annotated, body, parts, zod4 } from "../../../../../test/graphs/described.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { CompiledGraph } from "../langgraph/compiled-graph.ts";
import { loadLibrary } from "../langgraph/library.ts";
import { buildSchemas } from "./runtime-schemas.ts";

const library = await loadLibrary(import.meta.dirname);
const schemas = (graph: unknown) => buildSchemas(graph as CompiledGraph, library);

function properties(schema: JsonObject | null): Readonly<Record<string, JsonObject>> {
  return (schema?.["properties"] ?? {}) as Record<string, JsonObject>;
}

/** The part of a schema that an inner reference points at. */
function resolve(schema: JsonObject, reference: string): Json | undefined {
  let part: Json | undefined = schema;
  for (const step of reference.slice(2).split("/")) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    part = isJsonObject(part) ? part[name] : undefined;
  }
  return part;
}

test("zod: input has all fields optional and accepts reducer input; state has its required fields", () => {
  const { input, state, output } = schemas(zod4);
  assert.equal(input["required"], undefined);
  assert.deepEqual(state["required"], ["topic", "list"]);
  assert.deepEqual(output, state);
  assert.deepEqual(properties(input)["topic"], { type: "string", description: "What it is about" });
  assert.deepEqual(properties(input)["size"], { type: "string", enum: ["small", "big"] });
  assert.equal(properties(input)["count"]?.["default"], 3);
  const texts = { type: "array", items: { type: "string" } };
  assert.deepEqual(properties(input)["list"], { title: "The list", anyOf: [{ type: "string" }, texts] });
  assert.deepEqual(properties(state)["list"], { title: "The list", ...texts });
});

test("a field without a JSON Schema allows everything, and the others keep theirs (runtime-schemas.1)", () => {
  assert.deepEqual(properties(schemas(zod4).state)["when"], {});
  const broken = z.lazy((): z.ZodType => {
    throw new Error("this schema is never made");
  });
  const hostile = z.object({ fine: z.string(), broken });
  const graph = { channels: {}, builder: { _schemaRuntimeDefinition: hostile } };
  assert.deepEqual(properties(schemas(graph).state), { fine: { type: "string" }, broken: {} });
});

test("a reference points to the field, with any name (runtime-schemas.2)", () => {
  const Odd = z.object({ value: z.string(), "a/b~c": zod4.builder._schemaRuntimeDefinition as unknown as z.ZodObject });
  for (const graph of [zod4, { channels: {}, builder: { _schemaRuntimeDefinition: Odd } }]) {
    const { state } = schemas(graph);
    const references = [...JSON.stringify(state).matchAll(/"\$ref":"(#[^"]*)"/g)].map(
      ([, reference = ""]) => reference,
    );
    assert.ok(references.length > 1);
    for (const reference of references) assert.ok(isJsonObject(resolve(state, reference)), reference);
  }
});

test("separate input, output and context", () => {
  const { input, output, state, context } = schemas(parts);
  assert.deepEqual(Object.keys(properties(input)), ["question"]);
  assert.deepEqual(Object.keys(properties(output)), ["answer"]);
  assert.deepEqual(Object.keys(properties(state)), ["question", "draft", "answer"]);
  assert.equal(context, null);
  assert.deepEqual(schemas(zod4).context, {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { user: { type: "string" }, dry: { type: "boolean" } },
    required: ["user"],
  });
});

test("Annotation: names, messages, and the kind of a default", () => {
  const { input, output, state } = schemas(annotated);
  const { messages, ...rest } = properties(state);
  assert.deepEqual(rest, { topic: {}, item: {}, trail: { type: "array" }, count: { type: "number", default: 7 } });
  assert.deepEqual([messages?.["type"], messages?.["langgraph_type"]], ["array", "messages"]);
  assert.deepEqual([input, output], [state, state]);
});

test("the reducer marks messages, under any name, and nothing else does", () => {
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    chat: Annotation<unknown[]>({ reducer: messagesStateReducer as never, default: () => [] }),
    other: Annotation<unknown[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
  });
  const graph = new StateGraph(State)
    .addNode("a", () => ({}))
    .addEdge("__start__", "a")
    .compile();
  const found = Object.entries(properties(schemas(graph).state)).map(([name, one]) => [name, one["langgraph_type"]]);
  assert.deepEqual(found, [
    ["messages", "messages"],
    ["chat", "messages"],
    ["other", undefined],
  ]);
});

test("the functional API declares nothing, and everything is allowed", () => {
  assert.deepEqual(schemas(body), { input: {}, output: {}, state: {}, context: null });
});
