// Tests of crash and quarantine: who is to blame (crash-suspects.1, crash-suspects.2), probation (crash-suspects.3),
// who begins when (quarantine.1–3).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "@holdpoint/base/clock.ts";
import { nameCauses, probationMs } from "./crash-suspects.ts";
import { createQuarantine } from "../runs/execute/quarantine.ts";

const run = (runId: string, alone = 0) => ({ runId, alone });
const causes = (...runs: ReturnType<typeof run>[]): readonly string[] => [...nameCauses(runs).values()];

test("only a run that was alone is counted; several without a mark are suspects (crash-suspects.1, crash-suspects.2)", () => {
  assert.deepEqual(causes(run("a")), ["crash"]);
  assert.deepEqual(causes(run("a"), run("b", 1), run("c")), ["stopped", "crash", "stopped"]);
  assert.deepEqual(causes(run("a"), run("b")), ["suspicion", "suspicion"]);
  assert.deepEqual(causes(), []);
});

test("probation doubles with each death, and stays a time that a timer takes (crash-suspects.3)", () => {
  const of = (crashes: number, suspicions: number): number => probationMs({ crashes, suspicions });
  assert.deepEqual([of(0, 1), of(1, 0), of(1, 1), of(2, 2)], [5000, 5000, 10_000, 40_000]);
});

function setUp() {
  const timers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    after(_ms, callback) {
      timers.add(callback);
      return () => timers.delete(callback);
    },
  };
  let opened = 0;
  const quarantine = createQuarantine(clock, () => opened++);
  const began: string[] = [];
  const { signal } = new AbortController();
  const admit = async (runId: string, suspicions: number, by: AbortSignal = signal): Promise<void> => {
    const alone = await quarantine.admit({ runId, crashes: 0, suspicions }, by);
    began.push(`${runId}${alone === true ? " alone" : ""}`);
  };
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const ring = (): void => {
    for (const timer of timers) timer();
  };
  return { quarantine, began, admit, turn, ring, opened: () => opened };
}

test("without suspects every run begins in the same turn (quarantine.3)", () => {
  const { quarantine } = setUp();
  for (const runId of ["a", "b"]) {
    assert.equal(quarantine.admit({ runId, crashes: 0, suspicions: 0 }, new AbortController().signal), null);
  }
  assert.ok(quarantine.isOpen());
});

test("suspects begin one after the other, and other runs behind them (quarantine.1)", async () => {
  const { quarantine, began, admit, turn, opened } = setUp();
  for (const [runId, suspicions] of [
    ["a", 1],
    ["b", 1],
    ["c", 0],
  ] as const)
    void admit(runId, suspicions);
  await turn();
  assert.deepEqual(began, ["a alone"]);
  assert.ok(!quarantine.isOpen());
  quarantine.left("a");
  await turn();
  assert.deepEqual(began, ["a alone", "b alone"]);
  quarantine.proved("b");
  await turn();
  assert.deepEqual(began, ["a alone", "b alone", "c"]);
  assert.ok(quarantine.isOpen());
  assert.ok(opened() > 0);
});

test("a suspect waits for the executing runs, within a limit (quarantine.2); an aborted one leaves the queue", async () => {
  const { quarantine, began, admit, turn, ring } = setUp();
  await admit("long", 0);
  const cancelled = new AbortController();
  void admit("suspect", 1);
  void admit("cancelled", 1, cancelled.signal);
  await turn();
  assert.deepEqual(began, ["long"]);
  cancelled.abort();
  await turn();
  ring();
  await turn();
  assert.deepEqual(began, ["long", "cancelled", "suspect"]);
  assert.ok(quarantine.isOpen());
});

test("many suspects behind a long run wait together, not one after the other (quarantine.2)", async () => {
  const { quarantine, began, admit, turn, ring } = setUp();
  for (const runId of ["a", "b", "c", "d"]) void admit(runId, 1);
  await turn();
  ring();
  await turn();
  assert.deepEqual(began, ["a alone"], "a is on probation: it stays alone");
  quarantine.proved("a");
  await turn();
  assert.deepEqual(began, ["a alone", "b", "c", "d"]);
  assert.ok(quarantine.isOpen());
});

test("suspects that end soon run alone, one after the other, however long the line (quarantine.2)", async () => {
  const { quarantine, began, admit, turn, ring } = setUp();
  for (const runId of ["a", "b", "c"]) void admit(runId, 1);
  ring();
  for (const runId of ["a", "b", "c"]) {
    await turn();
    quarantine.left(runId);
  }
  assert.deepEqual(began, ["a alone", "b alone", "c alone"]);
});
