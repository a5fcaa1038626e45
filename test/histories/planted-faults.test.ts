// What the checker finds: faults planted in a simulated thread and in a simulated question, from seeds that are printed.
//   planted-faults.1. Without a fault every history is good.
//   planted-faults.2. Each fault is found within its number of histories, from any seed.
//   planted-faults.3. The shrunken history is bad, and good without any one of its calls; a recorded one is the same.
//   planted-faults.4. docs/concepts/guarantees.md has these numbers, and those of what `npm run histories` plays.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { randomFrom } from "../harness/reviews/quorum-law.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { printed, type Call, type Op } from "./linearizable.ts";
import { modelReview, type ReviewOp } from "./reviews.ts";
import { isBadBy, isBadThread, readRecord, record, shrink } from "./shrink.ts";
import { APPROVALS, simulateReview, type ReviewFault } from "./simulated-review.ts";
import { simulate, type Fault } from "./simulated-thread.ts";
import { readSizes } from "./sizes.ts";
import { PLANTED } from "../simulation/faults.ts";

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

const count = (number: number): string => number.toLocaleString("en");
const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

test("the page of the guarantees has the numbers of npm run histories (planted-faults.4)", () => {
  const page = readFileSync(join(ROOT, "docs/concepts/guarantees.md"), "utf8");
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly scripts: { readonly histories: string };
  };
  const env = Object.fromEntries([...scripts.histories.matchAll(/\b(HOLDPOINT_\w+)=(\S+)/g)].map(([, ...one]) => one));
  const { threads, requests, questions, reviews, programs, simulation } = readSizes(env);
  const seeds = (form: string | undefined): string => count(readSizes({ HOLDPOINT_FAULTS: form }).simulation.seeds);
  const [thread, review] = [FAULTS, REVIEW_FAULTS].map((faults) => faults.map(([, within]) => count(within)));
  const most = Math.max(...PLANTED.map(([, within]) => within));
  for (const sentence of [
    `| ${threads.rounds} rounds of ${threads.threads} threads, each with ${threads.clients} clients of ${threads.calls} calls, `,
    `; ${threads.cutRounds} rounds on PostgreSQL `,
    `| ${requests.rounds * requests.width} histories under kills and stops, ${requests.sharedRounds * requests.width} on two servers |`,
    `| ${questions.count} questions, each with ${questions.clients} clients of ${questions.calls} calls |`,
    `| ${reviews} random histories of votes and edits |`,
    `| ${programs.length} programs that ask, `,
    `| ${simulation.seeds} seeds, and the storage's contract `,
    ` are found within ${thread?.slice(0, -1).join(", ")} and ${thread?.at(-1)} histories; `,
    ` within ${review?.[0]}, and a claim that stays after its release within ${review?.at(-1)}.`,
    ` plays ${seeds(undefined)} seeds, \`npm run test:long\` ${seeds("long")}, and both find ${WORDS[PLANTED.length]} planted faults (`,
    `), each within ${most} seeds; \`npm run simulation\` plays ${seeds("full")} new seeds, `,
  ])
    assert.ok(page.includes(sentence), `not on the page: ${sentence}`);
});
