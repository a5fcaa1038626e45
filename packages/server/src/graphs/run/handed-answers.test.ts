// Test of handed answers: the map that the library holds while it runs. Checked: handed-answers.1, and which answers
// count as kept while they are in the map.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CarriedAnswer } from "../../model/model.ts";
import type { PendingGraph } from "../checkpoints/pending-tasks.ts";
import type { RunSaver } from "../checkpoints/run-checkpointer.ts";
import { createHandedAnswers } from "./handed-answers.ts";

const answer = (name: string, index: number, graphNs = ""): CarriedAnswer => ({
  interruptId: `id of ${name}`,
  libraryId: `library id of ${name}`,
  taskId: `task ${name}`,
  graphNs,
  checkpointId: "at the pause",
  index,
  value: `to ${name}`,
});

/** A saver that has seen so many saved answers of each task, in graphs at these checkpoints. */
function saver(graphs: Readonly<Record<string, { at: string; saved: Readonly<Record<string, number>> }>>): RunSaver {
  const seen = Object.entries(graphs).map(([ns, { at, saved }]): [string, PendingGraph] => {
    const tasks = Object.entries(saved).map(([taskId, answersSaved]) => {
      return [taskId, { interrupts: [], answersSaved, finished: false, failed: false }] as const;
    });
    const graph = {
      checkpointId: at,
      step: 1,
      isInput: false,
      channelNames: [],
      sends: [],
      tasks: new Map(tasks),
      written: true,
    };
    return [ns, graph];
  });
  return { pending: { graphs: () => new Map(seen) } } as unknown as RunSaver;
}

test("without answers there is no map, and falsy answers keep their place in it", () => {
  const handed = createHandedAnswers();
  assert.equal(handed.hand([]), null);
  assert.deepEqual(
    handed.hand([
      { ...answer("a", 0), value: false },
      { ...answer("b", 0), value: null },
    ]),
    {
      "library id of a": false,
      "library id of b": null,
    },
  );
});

test("a saved answer leaves the map that the library holds; the others stay (handed-answers.1)", () => {
  const handed = createHandedAnswers();
  const map = handed.hand([answer("first", 0), answer("second", 1), answer("inner", 0, "child:x")]);
  assert.deepEqual(
    [...handed.kept],
    [
      ["task first", 0],
      ["task second", 1],
      ["task inner", 0],
    ],
  );

  handed.withdraw(saver({ "": { at: "at the pause", saved: { "task second": 1 } } }));
  assert.deepEqual(Object.keys(map ?? {}).length, 3, "one saved answer of the second task is the one before");

  handed.withdraw(saver({ "": { at: "at the pause", saved: { "task first": 1, "task second": 1 } } }));
  assert.deepEqual(map, { "library id of second": "to second", "library id of inner": "to inner" });
  assert.deepEqual([...handed.kept.keys()], ["task second", "task inner"]);

  handed.withdraw(
    saver({ "": { at: "at the pause", saved: { "task second": 2 } }, "child:x": { at: "later", saved: {} } }),
  );
  assert.deepEqual(map, {}, "a graph that has gone past the question has used its answer");
  assert.equal(handed.kept.size, 0);
});

test("passing answers again creates a new map (handed-answers.1)", () => {
  const handed = createHandedAnswers();
  const before = handed.hand([answer("a", 0), answer("b", 0)]);
  const after = handed.hand([answer("b", 0)]);
  assert.deepEqual(Object.keys(before ?? {}).length, 2);
  assert.deepEqual(after, { "library id of b": "to b" });
  assert.deepEqual([...handed.kept.keys()], ["task b"]);
});
