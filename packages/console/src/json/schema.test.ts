// Tests of forms from JSON Schema: which control a schema gets, first values, faults (schema.1, schema.2).
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Json, JsonObject } from "./json.ts";
import { loadPatterns } from "./patterns.ts";
import { findFaults, toField, buildInitial, schemaOfValue } from "./schema.ts";

before(loadPatterns);

const CONTROLS: readonly (readonly [schema: JsonObject, control: string])[] = [
  [{ type: "string" }, "text"],
  [{ type: "string", maxLength: 5000 }, "long_text"],
  [{ type: "string", format: "textarea" }, "long_text"],
  [{ type: "string", enum: ["a", "b"] }, "choice"],
  [{ enum: [1, "one", null] }, "choice"],
  [{ const: "a" }, "choice"],
  [{ oneOf: [{ const: "a" }, { const: "b" }] }, "choice"],
  [{ type: "string", format: "date" }, "date"],
  [{ type: ["string", "null"], format: "date-time" }, "date_time"],
  [{ type: "number" }, "number"],
  [{ type: "integer" }, "integer"],
  [{ type: ["integer", "null"] }, "integer"],
  [{ anyOf: [{ type: "boolean" }, { type: "null" }] }, "boolean"],
  [{ type: "object", properties: { a: { type: "string" } } }, "group"],
  [{ type: "object" }, "json"],
  [{ type: "array", items: { type: "string" } }, "list"],
  [{ type: "array", items: { type: "object" } }, "json"],
  [{ type: "array" }, "json"],
  [{ oneOf: [{ type: "string" }, { type: "object" }] }, "json"],
  [{ $ref: "#/$defs/money", $defs: { money: { type: "number" } } }, "number"],
  [{ $ref: "#/nowhere" }, "json"],
  [{ $ref: "#" }, "json"],
  [{}, "json"],
];

for (const [schema, control] of CONTROLS) {
  test(`${JSON.stringify(schema)} is a field of ${control} (schema.2)`, () => {
    assert.equal(toField(schema).control, control);
  });
}

const ORDER: JsonObject = {
  type: "object",
  required: ["sku", "count", "gift"],
  properties: {
    sku: { type: "string", title: "Article", minLength: 1, pattern: "^[A-Z]", description: "a capital first" },
    count: { type: "integer", minimum: 1, maximum: 9 },
    gift: { type: "boolean" },
    price: { type: "number", exclusiveMinimum: 0, default: 9.5 },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    tags: { type: "array", items: { type: "string", maxLength: 3 }, maxItems: 2 },
    guests: {
      type: "array",
      minItems: 1,
      items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    },
    address: { type: "object", required: ["city"], properties: { city: { type: "string" } } },
  },
};

test("an object is a group of its members, with their names, titles and needs", () => {
  const { fields } = toField(ORDER);
  assert.deepEqual(
    fields.map(({ name, label, required, nullable }) => [name, label, required, nullable]),
    [
      ["sku", "Article", true, false],
      ["count", "count", true, false],
      ["gift", "gift", true, false],
      ["price", "price", false, false],
      ["note", "note", false, true],
      ["tags", "tags", false, false],
      ["guests", "guests", false, false],
      ["address", "address", false, false],
    ],
  );
});

test("a form starts with defaults and with required members that have one possible value, never with yes or no, an empty text or null", () => {
  assert.equal(buildInitial(toField({ type: "boolean" })), undefined);
  assert.deepEqual(buildInitial(toField(ORDER)), { price: 9.5 });
});

const FAULTS: readonly (readonly [value: Json, faults: readonly string[]])[] = [
  [{ sku: "A1", count: 2, gift: true }, []],
  [{ sku: "A1", count: 2, gift: true, note: null, tags: ["a"], address: { city: "Ulm" } }, []],
  [{ count: 2, gift: true }, ["sku is required"]],
  [{ sku: "", count: 2, gift: true }, ["sku is required"]],
  [{ sku: "a", count: 2, gift: true }, ["sku must be: a capital first"]],
  [{ sku: "A", count: 2.5, gift: true }, ["count must be a whole number"]],
  [{ sku: "A", count: 0, gift: true }, ["count must be at least 1"]],
  [{ sku: "A", count: 10, gift: true }, ["count must be at most 9"]],
  [{ sku: "A", count: "2", gift: true }, ["count must be a number"]],
  [{ sku: "A", count: 2, gift: "yes", price: 0 }, ["gift must be yes or no", "price must be greater than 0"]],
  [{ sku: "A", count: 2, gift: true, tags: ["long"] }, ["tags[0] must have at most 3 characters"]],
  [{ sku: "A", count: 2, gift: true, tags: ["a", "b", "c"] }, ["tags must have at most 2 entries"]],
  [{ sku: "A", count: 2, gift: true, address: {} }, []],
  [{ sku: "A", count: 2, gift: true, address: { zip: 1 } }, ["address.city is required"]],
  [{ sku: "A", count: 2, gift: true, guests: [] }, []],
  [{ sku: "A", count: 2, gift: true, guests: [{}] }, ["guests[0].name is required"]],
  ["A", [" must be an object"]],
];

for (const [value, faults] of FAULTS) {
  test(`${JSON.stringify(value)}: ${faults.join(", ") || "nothing is wrong"}`, () => {
    assert.deepEqual(
      findFaults(toField(ORDER), value).map(({ path, message }) => `${path} ${message}`),
      faults,
    );
  });
}

test("a value without a schema gets one that it fits, and each member keeps its type (schema.1)", () => {
  const value = { a: "x", b: 1.5, c: true, d: null, e: [1, { f: 2 }], g: { h: "long\ntext" } };
  const form = toField(schemaOfValue(value));
  assert.deepEqual(findFaults(form, value), []);
  assert.deepEqual(
    form.fields.map(({ name, control }) => [name, control]),
    [
      ["a", "text"],
      ["b", "number"],
      ["c", "boolean"],
      ["d", "json"],
      ["e", "json"],
      ["g", "group"],
    ],
  );
  assert.equal(form.fields[5]?.fields[0]?.control, "long_text");
});

test("no pattern and no text block the page: matching is linear, and the server checks the rest (patterns.1)", () => {
  const faults = (pattern: string, text: string) => findFaults(toField({ type: "string", pattern }), text).length;
  assert.equal(faults("^(a+)+$", `${"a".repeat(50_000)}!`), 1);
  assert.equal(faults("^(a+)+$", "a".repeat(50_000)), 0);
  assert.equal(faults("^(?=(a+)+$).*$", `${"a".repeat(50_000)}!`), 0);
  assert.equal(faults("^a$", "b".repeat(200_000)), 0);
});

test("a date is one of the calendar, a time has its zone", () => {
  const faults = (format: string, value: Json) =>
    findFaults(toField({ type: "string", format }), value).map(({ message }) => message);
  assert.deepEqual(faults("date", "2026-12-01"), []);
  assert.deepEqual(faults("date", "1.12.2026"), ["must be a date"]);
  assert.deepEqual(faults("date-time", "2026-12-01T12:00:00Z"), []);
  assert.deepEqual(faults("date-time", "2026-12-01T12:00"), ["must be a date and time"]);
});
