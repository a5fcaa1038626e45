// Tests of mentions: whom a word after `@` means.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findMentions, mention } from "./mentions.ts";

const people = ["ann", "andrew", "bob"].map((name) => ({ name, display_name: `Dr ${name} Doe`, groups: [] }));

for (const [text, found] of [
  ["@an", ["ann", "andrew"]],
  ["See @BOB", ["bob"]],
  ["@", ["ann", "andrew", "bob"]],
  ["ask @doe", ["ann", "andrew", "bob"]],
  ["@ann is here", []],
  ["write to x@an", []],
  ["nobody", []],
  ["@zoe", []],
] as const)
  test(`"${text}" suggests ${found.length === 0 ? "nobody" : found.join(", ")}`, () =>
    assert.deepEqual(
      findMentions(text, people).map(({ name }) => name),
      found,
    ));

test("a mention completes the last word", () => {
  assert.equal(mention("See @an", "ann"), "See @ann ");
  assert.equal(mention("@x and @", "$&"), "@x and @$& ");
});
