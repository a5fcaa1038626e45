// The server on a simulated database (world.ts): every order of commits, refusals, cuts, late replies and stops of
// processes that the seeds make keeps the laws (laws.ts), and each planted fault (faults.ts) breaks one.
//   simulated-database.1. No seed breaks a law. A failure prints its seed; HOLDPOINT_TEST_SEED=… plays it alone.
//   simulated-database.2. A failure prints the history and its last steps. Most seeds make the same history again; one
//        with a broken connection may not, because connections open and end in real time: play it a few times.
//   simulated-database.3. Each planted fault is found within its number of seeds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FULL } from "../harness/faults/fault-server.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { printed } from "../histories/linearizable.ts";
import type { Fault } from "./faults.ts";
import { Simulation } from "./history.ts";

const GIVEN = process.env["HOLDPOINT_TEST_SEED"];
const SEEDS = GIVEN === undefined ? (FULL ? 10_000 : 40) : 1;
/** The short form plays the same seeds each time: who changes something else is not stopped by a rare one. */
const FIRST = GIVEN === undefined ? (FULL ? Date.now() % 1_000_000_000 : 1) : Number(GIVEN);
const timeout = FULL ? 14_400_000 : 600_000;

const FAULTS: readonly (readonly [fault: Fault, within: number])[] = [
  ["rows of a refused transaction are overtaken", 200],
  ["ids of events are given twice", 50],
  ["an accepted answer is 503", 50],
  ["a lost COMMIT counts as refused", 50],
  ["no lock", 200],
];

const lastSteps = (steps: readonly string[]): string =>
  `the last of ${steps.length} steps:\n${steps.slice(-60).join("\n")}`;

let opened: Promise<Simulation> | null = null;

async function open(): Promise<Simulation> {
  const simulation = new Simulation(await newDatabase());
  await simulation.open();
  beforeDrop(() => simulation.stop());
  return simulation;
}

test(`${SEEDS} seeds keep every law (simulated-database.1)`, { timeout }, async (t) => {
  const simulation = await (opened ??= open());
  const tally = { steps: 0, calls: 0, lost: 0, refusals: 0, cuts: 0, stops: 0 };
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const { found, calls, steps } = await simulation.play(seed);
    assert.deepEqual(found, [], `seed ${seed}:\n${found.join("\n")}\n${printed(calls)}\n${lastSteps(steps)}`); // simulated-database.2
    tally.steps += steps.length;
    tally.calls += calls.length;
    tally.lost += calls.filter(({ result }) => result === "lost").length;
    tally.refusals += steps.filter((step) => step.endsWith("refused")).length;
    tally.cuts += steps.filter((step) => step.includes(" cut ")).length;
    tally.stops += steps.filter((step) => step.endsWith("killed")).length;
  }
  t.diagnostic(`seeds from ${FIRST}: ${JSON.stringify(tally)}`);
});

for (const [fault, within] of FAULTS) {
  test(`${fault}: found within ${within} seeds (simulated-database.3)`, { timeout }, async (t) => {
    const simulation = await (opened ??= open());
    for (let seed = FIRST; seed < FIRST + within; seed++) {
      const { found } = await simulation.play(seed, fault);
      if (found.length === 0) continue;
      t.diagnostic(`found by seed ${seed}: ${found[0]}`);
      return;
    }
    assert.fail(`${fault}: not found by seeds ${FIRST} to ${FIRST + within - 1}`);
  });
}
