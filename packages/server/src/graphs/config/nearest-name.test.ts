// Tests of suggestions for mistyped names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestName } from "./nearest-name.ts";

const KNOWN = ["graphs", "env", "auth", "store", "http", "webhooks", "checkpointer", "ui", "interrupt_deadlines"];

for (const [typed, meant] of [
  ["graph", "graphs"],
  ["grpahs", "graphs"],
  ["Graphs", "graphs"],
  ["envs", "env"],
  ["webhook", "webhooks"],
  ["check_pointer", "checkpointer"],
  ["interrupt_deadline", "interrupt_deadlines"],
  ["python", null],
  ["x", null],
  ["", null],
] as const)
  test(`"${typed}" ${meant === null ? "is like no known name" : `means "${meant}"`}`, () =>
    assert.equal(nearestName(typed, KNOWN), meant));
