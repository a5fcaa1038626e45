// What the checker finds: faults planted in a simulated thread and in a simulated question, from seeds that are printed.
//   planted-faults.1. Without a fault every history is good.
//   planted-faults.2. Each fault is found within its number of histories, from any seed.
//   planted-faults.3. The shrunken history is bad, and good without any one of its calls; a recorded one is the same.
import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { randomFrom } from "../harness/reviews/quorum-law.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { printed, type Call, type Op } from "./linearizable.ts";
import { modelReview, type ReviewOp } from "./reviews.ts";
import { isBadBy, isBadThread, readRecord, record, shrink } from "./shrink.ts";
import { APPROVALS, simulateReview, type ReviewFault } from "./simulated-review.ts";
import { simulate, type Fault } from "./simulated-thread.ts";

/** Each with the number of histories within which it is found: one in 7, 4, 50 and 7 is bad. */
const FAULTS: readonly (readonly [fault: Fault, within: number])[] = [
  ["no lock", 200],
  ["reply before the commit", 200],
  ["forgotten attempt", 1500],
  ["half a deletion", 200],
];
const REVIEW_FAULTS: readonly (readonly [fault: ReviewFault, within: number])[] = [
  ["no lock", 200],
  ["reply before the commit", 200],
  ["a vote counts twice", 200],
  ["a forgotten vote", 200],
  ["two holders", 200],
  ["a claim kept after its release", 1500],
];
const STARTS = process.env["HOLDPOINT_HISTORIES"] === undefined ? 4 : 20;
const seed = Number(process.env["HOLDPOINT_HISTORY_SEED"] ?? Date.now() % 1_000_000_000);

interface Kind<F extends string, O extends object> {
  readonly simulate: (next: () => number, fault: F | null) => readonly Call<O>[];
  readonly isBad: (history: readonly Call<O>[]) => boolean;
}

const THREAD: Kind<Fault, Op> = { simulate, isBad: isBadThread };
const REVIEW: Kind<ReviewFault, ReviewOp> = {
  simulate: simulateReview,
  isBad: isBadBy(modelReview(APPROVALS)),
};

function findBad<F extends string, O extends object>(
  { simulate: play, isBad }: Kind<F, O>,
  from: number,
  fault: F,
  within: number,
): { readonly after: number; readonly history: readonly Call<O>[] } {
  for (let at = 0; at < within; at++) {
    const history = play(randomFrom(from + at), fault);
    if (isBad(history)) return { after: at + 1, history };
  }
  throw new Error(`${fault}: not found within ${within} histories from seed ${from}`);
}

function tryFaults<F extends string, O extends object>(
  kind: Kind<F, O>,
  faults: readonly (readonly [fault: F, within: number])[],
): void {
  test("histories without a fault are good (planted-faults.1)", () => {
    for (let at = 0; at < 1000; at++) {
      const history = kind.simulate(randomFrom(seed + at), null);
      assert.ok(!kind.isBad(history), `seed ${seed + at}:\n${printed(history)}`);
    }
  });

  for (const [fault, within] of faults)
    test(`${fault}: found within ${within} histories (planted-faults.2, planted-faults.3)`, (t) => {
      const found = Array.from({ length: STARTS }, (_, at) => findBad(kind, seed + at * 10_000, fault, within));
      const most = Math.max(...found.map(({ after }) => after));
      t.diagnostic(`seed ${seed}: found after ${most} histories at most, over ${STARTS} starts`);
      const { history } = findBad(kind, seed, fault, within);
      const small = shrink(history, kind.isBad);
      assert.ok(kind.isBad(small) && small.length <= history.length);
    });
}

suite("a thread", () => tryFaults(THREAD, FAULTS));
suite("a question with votes and claims", () => tryFaults(REVIEW, REVIEW_FAULTS));

test("a recorded history is the same (planted-faults.3)", () => {
  const { history } = findBad(THREAD, seed, "no lock", 200);
  const folder = temporaryFolder();
  try {
    const path = join(folder, "bad.json");
    assert.match(record(history, path), /recorded in/);
    assert.deepEqual(readRecord(path), history);
  } finally {
    removeFolder(folder);
  }
});
