// Test of the marks on a graph's nodes, from a thread's checkpoints.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ThreadState } from "../../api/types.ts";
import { pausedNodes, buildHistories, traversedEdges } from "./graph-marks.ts";

function state(id: string, tasks: readonly object[], next: readonly string[] = []): ThreadState {
  const rest = { values: {}, metadata: {}, created_at: null, parent_checkpoint: null, interrupts: [] };
  return { ...rest, checkpoint: { checkpoint_id: id }, tasks: tasks as ThreadState["tasks"], next: [...next] };
}

const ASKS = { name: "approval", error: null, interrupts: [{ id: "q" }] };
const RAN = { name: "model", error: null, interrupts: [] };

test("an interrupted node is paused, and an earlier one has its times", () => {
  const states = [state("c2", [ASKS], ["approval"]), state("c1", [RAN]), state("c0", [RAN])];
  assert.deepEqual([...pausedNodes(states[0], "interrupted")], ["approval"]);
  const stories = buildHistories(states);
  assert.deepEqual(stories.get("model"), { times: 2, failed: false, checkpoints: ["c1", "c0"] });
  assert.equal(stories.get("approval")?.times, 0);
});

const CHILDREN = [
  { name: "an answer, after which it has run", source: "loop", times: 1 },
  { name: "a new input, which left the question unanswered", source: "input", times: 0 },
] as const;

for (const { name, source, times } of CHILDREN) {
  test(`an interrupted node, then ${name}`, () => {
    const child = { ...state("c2", []), metadata: { source }, parent_checkpoint: { checkpoint_id: "c1" } };
    assert.equal(buildHistories([child, state("c1", [ASKS])]).get("approval")?.times, times);
  });
}

test("at a breakpoint the next nodes are paused", () => {
  assert.deepEqual([...pausedNodes(state("c", [RAN], ["model"]), "interrupted")], ["model"]);
});

test("no node is paused on a busy or idle thread", () => {
  for (const status of ["busy", "idle", "error"]) assert.equal(pausedNodes(state("c", [ASKS]), status).size, 0);
  assert.equal(pausedNodes(undefined, "interrupted").size, 0);
});

test("marks a node whose last run failed; a successful retry clears it", () => {
  const failed = { name: "tool", error: "no", interrupts: [] };
  assert.equal(buildHistories([state("c", [failed])]).get("tool")?.failed, true);
  assert.equal(buildHistories([state("d", []), state("c", [failed])]).get("tool")?.failed, false);
});

/** From the first checkpoint to the last: what ran at each. */
function buildThreadStates(steps: readonly (readonly string[])[]): readonly ThreadState[] {
  const states = steps.map((names, at) => ({
    ...state(
      `c${at}`,
      names.map((name) => ({ name, error: null, interrupts: [] })),
    ),
    metadata: { source: at === 0 ? "input" : "loop" },
    parent_checkpoint: at === 0 ? null : { checkpoint_id: `c${at - 1}` },
  }));
  return states.toReversed();
}

test("marks only the edges taken, not every edge between nodes that ran", () => {
  const ways = traversedEdges(buildThreadStates([["__start__"], ["model"], ["approval"], ["tools"], ["model"], []]));
  assert.deepEqual([...ways].toSorted(), [
    "__start__ model",
    "approval tools",
    "model __end__",
    "model approval",
    "tools model",
  ]);
});

test("a later input adds no edge from an earlier node", () => {
  const [newest, ...older] = buildThreadStates([["__start__"], ["model"], []]);
  assert.ok(newest !== undefined);
  const begun = { ...state("c9", [{ name: "__start__" }]), metadata: { source: "input" } };
  const states = [{ ...begun, parent_checkpoint: { checkpoint_id: "c2" } }, newest, ...older];
  assert.deepEqual(traversedEdges(states), traversedEdges([newest, ...older]));
});
