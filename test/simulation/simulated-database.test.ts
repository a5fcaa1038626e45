// The server on a simulated database (world.ts): every order of commits, refusals, cuts, late replies and stops of
// processes that the seeds make keeps the laws (laws.ts), and each planted fault (faults.ts) breaks one.
//   simulated-database.1. No seed breaks a law. A failure prints its seed; HOLDPOINT_TEST_SEED=… plays it alone.
//   simulated-database.2. A failure prints the history and its last steps. A seed makes the same history again, through
//        broken connections and stopped processes too.
//   simulated-database.3. Each planted fault is found within its number of seeds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, Pool } from "pg";
import { FULL } from "../harness/faults/fault-server.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { printed } from "../histories/linearizable.ts";
import { readSizes } from "../histories/sizes.ts";
import { PLANTED } from "./faults.ts";
import { Simulation } from "./history.ts";
import { simulateClient } from "./simulated-client.ts";
import { startAgain } from "./simulated-server.ts";
import { World } from "./world.ts";
import { IS_LONG } from "../harness/long.ts";

const GIVEN = process.env["HOLDPOINT_TEST_SEED"];
const SIZES = readSizes().simulation;
const SEEDS = GIVEN === undefined ? SIZES.seeds : 1;
/** The short form plays the same seeds each time: who changes something else is not stopped by a rare one. */
const FIRST = GIVEN === undefined ? (FULL ? Date.now() % 1_000_000_000 : 1) : Number(GIVEN);
const REPEATED = SIZES.repeated;
const timeout = FULL ? 14_400_000 : 600_000;

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
    const played = seed - FIRST + 1;
    if (played % 500 === 0) console.log(`${played} seeds from ${FIRST}: ${JSON.stringify(tally)}`); // for a run that is ended before
  }
  t.diagnostic(`seeds from ${FIRST}, ${await simulation.readVersion()}: ${JSON.stringify(tally)}`);
});

test(`${REPEATED} seeds make the same history again (simulated-database.2)`, { timeout }, async () => {
  const simulation = await (opened ??= open());
  for (let seed = FIRST; seed < FIRST + REPEATED; seed++) {
    const [before, again] = [await simulation.play(seed), await simulation.play(seed)];
    assert.deepEqual(again.steps, before.steps, `seed ${seed}`);
  }
});

test("a history that the machine plays slowly meets no limit of PostgreSQL or the pool (simulated-client.4)", async () => {
  const connectionString = await newDatabase();
  const world = new World(1, new Client());
  const Simulated = simulateClient(world, world.newProcess("A"), (sql) => sql);
  const limits = { idle_in_transaction_session_timeout: 5000, lock_timeout: 5000 };
  const times = { connectionTimeoutMillis: 5000, idleTimeoutMillis: 5000 };
  const pool = new Pool({ connectionString, Client: Simulated, ...limits, ...times });
  beforeDrop(() => pool.end());
  (await pool.connect()).release();
  for (const limit of Object.keys(limits))
    assert.deepEqual((await pool.query(`SHOW ${limit}`)).rows, [{ [limit]: "0" }]);
  assert.deepEqual([pool.options.connectionTimeoutMillis, pool.options.idleTimeoutMillis], [0, 0]);
});

test("a start that the machine's time ends is made again, five times at most", async () => {
  let tries = 0;
  const startsAt = (last: number) => () => ({
    start: () => (++tries < last ? Promise.reject(new Error("timeout expired")) : Promise.resolve()),
  });
  await startAgain(startsAt(3));
  assert.equal(tries, 3);
  tries = 0;
  await assert.rejects(startAgain(startsAt(6)), /timeout expired/);
  assert.equal(tries, 5);
});

for (const [fault, within, near] of PLANTED) {
  test(`${fault}: found within ${within} seeds (simulated-database.3)`, { timeout }, async (t) => {
    const simulation = await (opened ??= open());
    // The short form begins at a seed that finds the fault.
    const first = FULL ? FIRST : IS_LONG ? 1 : near;
    for (let seed = first; seed < first + within; seed++) {
      const { found } = await simulation.play(seed, fault);
      if (found.length === 0) continue;
      t.diagnostic(`found by seed ${seed}: ${found[0]}`);
      return;
    }
    assert.fail(`${fault}: not found by seeds ${first} to ${first + within - 1}`);
  });
}
