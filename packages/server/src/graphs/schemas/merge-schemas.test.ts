// Test of schemas merged from run time and types: run-time facts stay, types fill the gaps.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphSchemas } from "../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { completeSchemas } from "./merge-schemas.ts";
import type { TypeSchemas } from "./type-schemas.ts";

const object = (properties: Record<string, JsonObject>): JsonObject => ({ type: "object", properties });
const known = (state: JsonObject): GraphSchemas => ({ input: state, output: state, state, context: null });
const extracted = (state: JsonObject | null): TypeSchemas => ({ input: null, output: null, state, context: null });

const CASES: readonly (readonly [
  name: string,
  known: JsonObject,
  extracted: JsonObject | null,
  complete: JsonObject,
])[] = [
  [
    "a silent field is filled in",
    object({ a: {} }),
    object({ a: { type: "string" } }),
    object({ a: { type: "string" } }),
  ],
  [
    "a list gets its items",
    object({ a: { type: "array" } }),
    object({ a: { type: "array", items: { type: "number" } } }),
    object({ a: { type: "array", items: { type: "number" } } }),
  ],
  [
    "a list stays one, whatever the type says of it (merge-schemas.1)",
    object({ a: { type: "array" } }),
    object({ a: { type: "object" } }),
    object({ a: { type: "array" } }),
  ],
  [
    "a field that is extracted stays (merge-schemas.1)",
    object({ a: { type: "string" }, b: {} }),
    object({ a: { type: "number", minimum: 1 }, b: { type: "null" } }),
    object({ a: { type: "string" }, b: { type: "null" } }),
  ],
  [
    "a field that only the type has is left out (merge-schemas.1)",
    object({ a: {} }),
    object({ b: { type: "string" } }),
    object({ a: {} }),
  ],
  ["an inherited name is no field", object({ toString: {} }), object({}), object({ toString: {} })],
  ["a graph that says nothing takes what the types say", {}, object({ a: {} }), object({ a: {} })],
  ["types that say nothing change nothing", object({ a: {} }), null, object({ a: {} })],
];

for (const [name, state, types, expected] of CASES) {
  test(name, async () => {
    assert.deepEqual((await completeSchemas(known(state), () => Promise.resolve(extracted(types)))).state, expected);
  });
}

test("a context comes from the types only if the graph declares none", async () => {
  const types: TypeSchemas = { ...extracted(null), context: object({ a: {} }) };
  const completed = await completeSchemas(known({}), () => Promise.resolve(types));
  assert.deepEqual(completed.context, object({ a: {} }));
  const own = { ...known({}), context: object({ b: {} }) };
  assert.deepEqual((await completeSchemas(own, () => Promise.resolve(types))).context, object({ b: {} }));
});

test("a complete schema needs no types (merge-schemas.2), and types may have no answer", async () => {
  const whole = known(object({ a: { type: "string" } }));
  assert.deepEqual(await completeSchemas(whole, () => assert.fail("was asked")), whole);
  const silent = known({});
  assert.deepEqual(await completeSchemas(silent, () => Promise.resolve(null)), silent);
});
