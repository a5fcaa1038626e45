// Tests of memory turns: memory-turns.1 to memory-turns.3, with a budget that takes two large states side by side.
import assert from "node:assert/strict";
import { test } from "node:test";
import { countStateBytes, type StateSize } from "../../model/state-memory.ts";
import { createMemoryTurns, type MemoryTurns } from "./memory-turns.ts";

const LARGE: StateSize = { units: 1_000_000, largest: 1_000_000 };
const SMALL: StateSize = { units: 50_000, largest: 50_000 };
const BUDGET_BYTES = countStateBytes([LARGE, LARGE], 0);

function setUp(budgetBytes = BUDGET_BYTES): MemoryTurns & { readonly leave: (units: number) => void } {
  let leaving = 0;
  const ports = {
    unitsLeaving: () => leaving,
    onRoom: () => undefined,
    after: (_ms: number, call: () => void) => call(),
  };
  const now = (ms: number, call: () => void): void => (ms < 100 ? ports.after(ms, call) : undefined);
  const turns = createMemoryTurns(budgetBytes, { ...ports, after: now });
  return { ...turns, leave: (units) => void (leaving = units) };
}

const run = (turns: MemoryTurns, runId: string, size: StateSize): boolean => {
  turns.begin(runId, "g");
  return turns.hold(runId, size);
};

test("a state that does not fit beside the others has to wait, and goes on alone (memory-turns.2)", () => {
  const turns = setUp();
  assert.deepEqual([run(turns, "a", LARGE), run(turns, "b", LARGE), run(turns, "c", LARGE)], [true, true, false]);
  for (const runId of ["c", "a", "b"]) turns.left(runId);
  assert.equal(run(turns, "c", { units: 9e9, largest: 9e9 }), true);
});

test("runs start while a state as large as the largest of late fits (memory-turns.1, memory-turns.3)", () => {
  const turns = setUp();
  run(turns, "a", LARGE);
  assert.equal(turns.hasRoom(), true);
  turns.begin("b", "g");
  assert.equal(turns.hold("b", SMALL), true);
  run(turns, "c", LARGE);
  assert.equal(turns.hasRoom(), false);
  assert.equal(turns.hasRoom("c"), true, "the place of a run that is about to end");
  turns.left("a");
  assert.equal(turns.hasRoom(), true);
  turns.begin("d", "g");
  assert.equal(turns.hasRoom(), false, "the next run of the graph counts before it has shown its state");
  assert.equal(turns.hold("d", LARGE), true, "and has its place");
});

test("a large reply that leaves counts, also when nothing is in progress (memory-turns.1)", () => {
  const turns = setUp();
  run(turns, "a", LARGE);
  turns.left("a");
  turns.leave(9_000_000);
  assert.equal(turns.hasRoom(), false);
  turns.leave(0);
  assert.equal(turns.hasRoom(), true);
});

test("small states never wait, and nothing does without a limit (memory-turns.3)", () => {
  const turns = setUp(1);
  run(turns, "a", LARGE);
  assert.equal(run(turns, "b", SMALL), true);
  const free = setUp(Infinity);
  for (let at = 0; at < 100; at++) assert.ok(run(free, String(at), LARGE) && free.hasRoom());
});
