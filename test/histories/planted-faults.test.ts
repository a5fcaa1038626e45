// What the checker finds: faults planted in a simulated thread, from seeds that are printed.
//   planted-faults.1. Without a fault every history is good.
//   planted-faults.2. Each fault is found within its number of histories, from any seed.
//   planted-faults.3. The shrunken history is bad, and good without any one of its calls; a recorded one is the same.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { randomFrom } from "../harness/reviews/quorum-law.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { linearize, printed, type Call } from "./linearizable.ts";
import { readRecord, record, shrink } from "./shrink.ts";
import { simulate, type Fault } from "./simulated-thread.ts";

/** Each with the number of histories within which it is found: one in 7, 4, 50 and 7 is bad. */
const FAULTS: readonly (readonly [fault: Fault, within: number])[] = [
  ["no lock", 200],
  ["reply before the commit", 200],
  ["forgotten attempt", 1500],
  ["half a deletion", 200],
];
const STARTS = process.env["HOLDPOINT_HISTORIES"] === undefined ? 4 : 20;
const seed = Number(process.env["HOLDPOINT_HISTORY_SEED"] ?? Date.now() % 1_000_000_000);

function findBad(
  from: number,
  fault: Fault,
  within: number,
): { readonly after: number; readonly history: readonly Call[] } {
  for (let at = 0; at < within; at++) {
    const history = simulate(randomFrom(from + at), fault);
    if (linearize(history) === null) return { after: at + 1, history };
  }
  throw new Error(`${fault}: not found within ${within} histories from seed ${from}`);
}

test("histories without a fault are good (planted-faults.1)", () => {
  for (let at = 0; at < 1000; at++) {
    const history = simulate(randomFrom(seed + at), null);
    assert.ok(linearize(history) !== null, `seed ${seed + at}:\n${printed(history)}`);
  }
});

for (const [fault, within] of FAULTS) {
  test(`${fault}: found within ${within} histories (planted-faults.2, planted-faults.3)`, (t) => {
    const found = Array.from({ length: STARTS }, (_, at) => findBad(seed + at * 10_000, fault, within));
    const most = Math.max(...found.map(({ after }) => after));
    t.diagnostic(`seed ${seed}: found after ${most} histories at most, over ${STARTS} starts`);
    const { history } = findBad(seed, fault, within);
    const folder = temporaryFolder();
    try {
      const small = shrink(history);
      assert.equal(linearize(small), null);
      assert.ok(small.length <= history.length);
      const path = join(folder, "bad.json");
      assert.match(record(history, path), /recorded in/);
      assert.deepEqual(readRecord(path), history);
    } finally {
      removeFolder(folder);
    }
  });
}
