// Test of the lines of a row: removed lines keep the ids of the others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEvents, withoutLines } from "./event-batch.ts";

const listEventIds = (lines: string): readonly string[] =>
  parseEvents({ first: 7, lines }).map(({ id, name }) => `${id} ${name}`);
const isDelta = (name: string): boolean => name === "d";

test("lines are removed once, and the ids of the others stay", () => {
  const lines = "d\t1\na\t2\nd\t3\nd\t4\nb\t@x\nd\t5\n";
  const once = withoutLines(lines, isDelta) ?? "";
  assert.equal(once, "v3/gone\t1\na\t2\nv3/gone\t2\nb\t@x\nv3/gone\t1\n");
  assert.deepEqual(listEventIds(once), ["7 v3/gone", "8 a", "10 v3/gone", "11 b", "12 v3/gone"]);
  assert.equal(withoutLines(once, isDelta), null);
  const twice = withoutLines(once, (name) => name === "a") ?? "";
  assert.equal(twice, "v3/gone\t4\nb\t@x\nv3/gone\t1\n");
  assert.deepEqual(listEventIds(twice), ["10 v3/gone", "11 b", "12 v3/gone"]);
});
