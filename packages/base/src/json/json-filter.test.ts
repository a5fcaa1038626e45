// Tests of the JSON filter: the meaning of each condition, and invalid filters.
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesFilter, parseFilter } from "./json-filter.ts";
import type { JsonObject } from "./json.ts";

const NOTE: JsonObject = { kind: "note", size: 3, tags: ["a", "b"], author: { name: "ann", age: 40 }, gone: null };

const CASES: readonly (readonly [name: string, filter: JsonObject, meets: boolean])[] = [
  ["no condition", {}, true],
  ["an equal text", { kind: "note" }, true],
  ["another text", { kind: "Note" }, false],
  ["two that hold", { kind: "note", size: 3 }, true],
  ["one of two that holds", { kind: "note", size: 4 }, false],
  ["a number is no text", { size: "3" }, false],
  ["a member that is not there", { other: "x" }, false],
  ["null where null is", { gone: null }, true],
  ["null where nothing is (json-filter.1)", { other: null }, false],
  ["a list is equal as a whole", { tags: ["a", "b"] }, true],
  ["a part of a list", { tags: ["a"] }, false],
  ["a member of a member", { author: { name: "ann" } }, true],
  ["an operator within a member", { author: { age: { $lt: 41 }, name: "ann" } }, true],
  ["the whole member with $eq", { author: { $eq: { age: 40, name: "ann" } } }, true],
  ["a part of the member with $eq", { author: { $eq: { name: "ann" } } }, false],
  ["an empty object", { author: {} }, false],
  ["a name that every object has", { toString: { $ne: 1 } }, true],
  ["not equal", { size: { $ne: 4 } }, true],
  ["not equal, and equal", { size: { $ne: 3 } }, false],
  ["not equal, and not there (json-filter.1)", { other: { $ne: 3 } }, true],
  ["greater", { size: { $gt: 2.5 } }, true],
  ["greater, and equal", { size: { $gt: 3 } }, false],
  ["greater or equal", { size: { $gte: 3 } }, true],
  ["less", { size: { $lt: 3 } }, false],
  ["less or equal", { size: { $lte: 3 } }, true],
  ["between", { size: { $gt: 1, $lt: 3 } }, false],
  ["texts are in order", { kind: { $gt: "n", $lt: "o" } }, true],
  ["a number and a text are not (json-filter.2)", { size: { $gt: "" } }, false],
  ["nothing is in order with null (json-filter.2)", { gone: { $gte: 0 } }, false],
  ["nothing is in order with nothing (json-filter.1)", { other: { $lte: 9 } }, false],
  ["one of", { kind: { $in: ["memo", "note"] } }, true],
  ["none of them", { kind: { $in: ["memo"] } }, false],
  ["not one of", { kind: { $nin: ["memo"] } }, true],
  ["not one of, and not there (json-filter.1)", { other: { $nin: ["memo"] } }, true],
];

for (const [name, filter, meets] of CASES) {
  test(`${name}: ${JSON.stringify(filter)} ${meets ? "holds" : "does not hold"}`, () => {
    assert.equal(matchesFilter(NOTE, parseFilter(filter)), meets);
  });
}

const WRONG: readonly (readonly [filter: JsonObject, says: RegExp])[] = [
  [{ a: { $near: 1 } }, /"\$near" is not an operator; the operators are \$eq, \$ne, \$gt/],
  [{ a: { $gt: 1, b: 2 } }, /"b" is not an operator/],
  [{ a: { b: { $in: 1 } } }, /\$in takes a list/],
];

for (const [filter, says] of WRONG) {
  test(`${JSON.stringify(filter)} is not a filter`, () => {
    assert.throws(() => parseFilter(filter), says);
  });
}
