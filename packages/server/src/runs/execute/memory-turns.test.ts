// Tests of memory turns, with a budget that takes two large states side by side.
import assert from "node:assert/strict";
import { test } from "node:test";
import { countStateBytes, type StateSize } from "../../model/state-memory.ts";
import { createMemoryTurns, type MemoryTurns } from "./memory-turns.ts";

const LARGE: StateSize = { units: 1_000_000, largest: 1_000_000 };
const SMALL: StateSize = { units: 50_000, largest: 50_000 };
const BUDGET_BYTES = countStateBytes([LARGE, LARGE], 0);

interface Turns extends Omit<MemoryTurns, "begin"> {
  readonly begin: (runId: string, graphId: string, after?: string, input?: string) => boolean;
  readonly leave: (units: number) => void;
  /** Lets the time pass after which the turns look again. */
  readonly pass: (ms?: number) => void;
}

/** A run of the graph "g" has ended. */
function setUp(budgetBytes = BUDGET_BYTES): Turns {
  let leaving = 0;
  let timers: { readonly ms: number; readonly call: () => void }[] = [];
  const turns = createMemoryTurns(budgetBytes, {
    unitsLeaving: () => leaving,
    onRoom: () => undefined,
    unknownMax: 2,
    after: (ms, call) => (ms < 100 ? call() : timers.push({ ms, call })),
  });
  const begin: Turns["begin"] = (runId, graphId, after, input = "{}") => turns.begin({ runId, graphId, input }, after);
  begin("first", "g");
  turns.left("first");
  return {
    ...turns,
    begin,
    leave: (units) => void (leaving = units),
    pass(passed = 100) {
      const due = timers.filter(({ ms }) => ms <= passed);
      timers = timers.filter(({ ms }) => ms > passed);
      for (const { call } of due) call();
    },
  };
}

const run = (turns: Turns, runId: string, size: StateSize): boolean => {
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

test("until a run of a graph has ended, few of its runs are in progress (memory-turns.4)", () => {
  const turns = setUp();
  turns.begin("a", "new");
  assert.equal(turns.hasRoom(), true);
  assert.deepEqual([turns.begin("b", "new"), turns.begin("c", "new"), turns.begin("d", "g")], [true, false, true]);
  turns.pass();
  assert.equal(turns.hasRoom(), false, "the queue does not know the graph of the next run");
  turns.pass(5000);
  assert.equal(turns.begin("c", "new"), true, "they may wait for it");
  turns.left("a");
  assert.equal(turns.hasRoom(), true);
  for (const runId of ["e", "f", "h"]) assert.equal(turns.begin(runId, "new"), true, "its states are known");
});

test("of runs that were let in at one moment, those that do not fit wait before they begin (memory-turns.5)", () => {
  const turns = setUp();
  run(turns, "a", LARGE);
  turns.left("a");
  assert.deepEqual([turns.begin("b", "g"), turns.begin("c", "g"), turns.begin("d", "g")], [true, true, false]);
  assert.equal(turns.begin("d", "g", "c"), true, "the place of a run that has ended");
  for (const runId of ["b", "c", "d"]) turns.left(runId);
  assert.equal(turns.hasRoom(), false, "the queue does not hand it out again at once");
  turns.pass();
  assert.equal(turns.hasRoom(), true);
});

test("a large input counts from the begin of its run, and a large body beside the states (body-turns)", () => {
  const turns = setUp();
  assert.equal(turns.takesBodies(9e9, true), true, "one alone");
  assert.equal(turns.takesBodies(2_000_000, false), true);
  assert.equal(turns.takesBodies(3_000_000, false), false);
  const input = "x".repeat(LARGE.units);
  assert.deepEqual([turns.begin("a", "g", undefined, input), turns.begin("b", "g", undefined, input)], [true, true]);
  assert.equal(turns.begin("c", "g", undefined, input), false);
  assert.equal(turns.takesBodies(100_000, true), false);
});
