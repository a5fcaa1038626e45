// Tests of JSON paths: the texts at a path of an object (json-path.1).
import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePath, textsAt } from "./json-path.ts";

const ITEM = {
  text: "hello",
  size: 3,
  on: false,
  none: null,
  empty: "",
  author: { name: "ann" },
  parts: [{ body: "one" }, { body: "two" }, { other: "x" }],
  tags: ["red", "blue"],
  grid: [["a", "b"], ["c"]],
};

const FOUND: readonly (readonly [path: string, texts: readonly (readonly [field: string, text: string])[]])[] = [
  ["text", [["text", "hello"]]],
  ["size", [["size", "3"]]],
  ["on", [["on", "false"]]],
  ["author.name", [["author.name", "ann"]]],
  ["author", [["author", '{"name":"ann"}']]],
  [
    "parts[*].body",
    [
      ["parts[*].body.0", "one"],
      ["parts[*].body.1", "two"],
    ],
  ],
  ["parts[2].other", [["parts[2].other", "x"]]],
  ["tags[-1]", [["tags[-1]", "blue"]]],
  ["tags", [["tags", '["red","blue"]']]],
  [
    "grid[*][0]",
    [
      ["grid[*][0].0", "a"],
      ["grid[*][0].1", "c"],
    ],
  ],
  ["$", [["$", JSON.stringify(ITEM)]]],
  ["none", []],
  ["empty", []],
  ["missing", []],
  ["text.length", []],
  ["author[0]", []],
  ["tags[7]", []],
  ["toString", []],
];

for (const [path, texts] of FOUND) {
  test(`${path} finds ${texts.length === 0 ? "nothing" : texts.map(([, text]) => text).join(" and ")}`, () => {
    assert.deepEqual(
      textsAt(ITEM, path).map(({ field, text }) => [field, text]),
      texts,
    );
  });
}

for (const path of ["", ".", "a.", ".a", "a[", "a[]", "a[x]", "a]b", "[0]", "a[1.5]"]) {
  test(`"${path}" is not a field`, () => {
    assert.throws(() => parsePath(path), /is not a field: write/);
  });
}
