// Tests of the line diff: line-diff.1 (the changes give the new lines), line-diff.2 (bounded).
import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as check, constantFrom, property } from "fast-check";
import { cutLines, lineChanges, splitLines, type LineChange } from "./line-diff.ts";

function applied(before: readonly string[], changes: readonly LineChange[]): readonly string[] {
  const lines = [...before];
  for (const { line, removed, added } of changes) {
    assert.deepEqual(lines.slice(line - 1, line - 1 + removed.length), removed);
    lines.splice(line - 1, removed.length, ...added);
  }
  return lines;
}

const lines = array(constantFrom("a", "b", "c", "d"), { maxLength: 30 });

test("the changes of any two texts give the new one, and equal ones have none (line-diff.1)", () => {
  check(
    property(lines, lines, (before, after) => {
      const changes = lineChanges(before, after);
      assert.deepEqual(applied(before, changes), after);
      assert.equal(changes.length === 0, before.join("\n") === after.join("\n"));
    }),
  );
});

test("one changed member of many is one change", () => {
  const value = Array.from({ length: 20_000 }, (_, at) => ({ at }));
  const changes = lineChanges(splitLines(value), splitLines(value.with(9000, { at: -1 })));
  assert.deepEqual(changes, [{ line: 27_003, removed: ['    "at": 9000'], added: ['    "at": -1'] }]);
});

test("texts without a common line are one change, however long (line-diff.2)", () => {
  const before = Array.from({ length: 50_000 }, (_, at) => `old ${at}`);
  const after = Array.from({ length: 50_000 }, (_, at) => `new ${at}`);
  const changes = lineChanges(before, after);
  assert.equal(changes.length, 1);
  assert.deepEqual(applied(before, changes), after);
});

test("a long line is cut to the part that differs", () => {
  const [removed, added] = cutLines(
    `${"x".repeat(5000)}old${"y".repeat(5000)}`,
    `${"x".repeat(5000)}new${"y".repeat(5000)}`,
  );
  assert.ok(removed.length < 400 && removed.includes("xold") && added.includes("xnew"));
});
