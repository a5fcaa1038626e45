// Test of the timeline: rails, forks, changes of a step (history.1, history.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ThreadState } from "../../api/types.ts";
import type { JsonObject } from "../../json/json.ts";
import { changedMembers, buildSteps } from "./history.ts";

function state(id: string, parent: string | null, values: JsonObject = {}): ThreadState {
  return {
    values,
    next: [],
    tasks: [],
    metadata: { step: Number(id.slice(1)), source: "loop" },
    created_at: `2026-01-01T00:00:0${id.slice(1)}.000Z`,
    checkpoint: { checkpoint_id: id },
    parent_checkpoint: parent === null ? null : { checkpoint_id: parent },
    interrupts: [],
  };
}

const SHAPES: readonly {
  readonly name: string;
  readonly states: readonly ThreadState[];
  readonly rails: readonly (readonly [rail: number, rails: readonly number[], joins: readonly number[]])[];
}[] = [
  {
    name: "a line",
    states: [state("c3", "c2"), state("c2", "c1"), state("c1", null)],
    rails: [
      [0, [0], []],
      [0, [0], []],
      [0, [0], []],
    ],
  },
  {
    name: "a fork: the newest child goes on in the rail, the other has its own (history.1)",
    states: [state("c4", "c1"), state("c3", "c2"), state("c2", "c1"), state("c1", null)],
    rails: [
      [0, [0], []],
      [1, [0, 1], []],
      [1, [0, 1], []],
      [0, [0, 1], [1]],
    ],
  },
  {
    name: "two forks one after the other share a rail (history.2)",
    states: [
      state("c6", "c5"),
      state("c4", "c3"),
      state("c5", "c3"),
      state("c3", "c1"),
      state("c2", "c1"),
      state("c1", null),
    ],
    rails: [
      [0, [0], []],
      [1, [0, 1], []],
      [0, [0, 1], []],
      [0, [0, 1], [1]],
      [1, [0, 1], []],
      [0, [0, 1], [1]],
    ],
  },
];

for (const { name, states, rails } of SHAPES) {
  test(name, () => {
    assert.deepEqual(
      buildSteps(states).map((step) => [step.rail, step.rails, step.joins]),
      rails,
    );
  });
}

test("a step has its duration and its changes", () => {
  const [last, first] = buildSteps([state("c3", "c1", { a: 1, b: 3 }), state("c1", null, { a: 1, b: 2 })]);
  assert.equal(last?.durationMs, 2000);
  assert.deepEqual(last?.changed, ["b"]);
  assert.equal(first?.durationMs, null);
});

test("an edit sends only the changes", () => {
  assert.deepEqual(changedMembers({ a: 1, b: [1] }, { a: 1, b: [2], c: null }), { b: [2], c: null });
  assert.deepEqual(changedMembers(null, { a: 1 }), { a: 1 });
  assert.deepEqual(changedMembers({ a: 1 }, [1]), {});
});
