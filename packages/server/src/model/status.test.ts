// Tests of the transitions. Checked: status.1, every status × every event, written out once more by hand; a move that
// the tables do not have is a defect and throws.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunStatus, ThreadStatus } from "./model.ts";
import {
  isActive,
  nextRunStatus,
  nextThreadStatus,
  RUN_TRANSITIONS,
  THREAD_TRANSITIONS,
  type RunEvent,
  type ThreadEvent,
} from "./status.ts";

const THREADS: readonly (readonly [ThreadStatus, ThreadEvent, ThreadStatus | "refused"])[] = [
  ["idle", "take", "busy"],
  ["idle", "pause", "interrupted"], // a state update put it before a node
  ["idle", "rest", "idle"],
  ["idle", "fail", "refused"],
  ["busy", "take", "refused"],
  ["busy", "pause", "interrupted"],
  ["busy", "rest", "idle"],
  ["busy", "fail", "error"],
  ["interrupted", "take", "busy"],
  ["interrupted", "pause", "interrupted"],
  ["interrupted", "rest", "idle"],
  ["interrupted", "fail", "error"], // its deadline has passed
  ["error", "take", "busy"],
  ["error", "pause", "interrupted"],
  ["error", "rest", "idle"],
  ["error", "fail", "refused"],
];

const ENDED: readonly RunStatus[] = ["success", "error", "timeout", "interrupted"];
const RUN_EVENTS: readonly RunEvent[] = [
  "claim",
  "requeue",
  "done",
  "pause",
  "cancel",
  "rollback",
  "failure",
  "timeout",
];

const RUNS: readonly (readonly [RunStatus, RunEvent, RunStatus | "refused"])[] = [
  ["pending", "claim", "running"],
  ["pending", "requeue", "pending"],
  ["pending", "done", "refused"],
  ["pending", "pause", "refused"],
  ["pending", "cancel", "interrupted"],
  ["pending", "rollback", "error"],
  ["pending", "failure", "error"],
  ["pending", "timeout", "refused"],
  ["running", "claim", "refused"],
  ["running", "requeue", "pending"],
  ["running", "done", "success"],
  ["running", "pause", "interrupted"],
  ["running", "cancel", "interrupted"],
  ["running", "rollback", "error"],
  ["running", "failure", "error"],
  ["running", "timeout", "timeout"],
  ...ENDED.flatMap((status) => RUN_EVENTS.map((event) => [status, event, "refused"] as const)),
];

for (const [from, event, to] of THREADS) {
  test(`a thread that is ${from}: ${event} → ${to} (status.1)`, () => {
    if (to === "refused") assert.throws(() => nextThreadStatus(from, event), /cannot/);
    else assert.equal(nextThreadStatus(from, event), to);
  });
}

for (const [from, event, to] of RUNS) {
  test(`a ${from} run: ${event} → ${to} (status.1)`, () => {
    if (to === "refused") assert.throws(() => nextRunStatus(from, event), /cannot/);
    else assert.equal(nextRunStatus(from, event), to);
  });
}

test("the lists above have every cell of both tables, once", () => {
  const cells = (table: object) =>
    Object.entries(table).flatMap(([from, row]) => Object.keys(row as object).map((event) => `${from} ${event}`));
  const listed = (list: readonly (readonly [string, string, string])[]) =>
    list.map(([from, event]) => `${from} ${event}`);
  assert.deepEqual(listed(THREADS).toSorted(), cells(THREAD_TRANSITIONS).toSorted());
  assert.deepEqual(listed(RUNS).toSorted(), cells(RUN_TRANSITIONS).toSorted());
});

test("only pending and running runs are active", () => {
  for (const status of ENDED) assert.equal(isActive(status), false);
  for (const status of ["pending", "running"] as const) assert.equal(isActive(status), true);
});
