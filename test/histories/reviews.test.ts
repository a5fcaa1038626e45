// Votes and claims on a server, of several clients at once: the history of each question is one that the model explains
// (reviews.ts).
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { randomFrom } from "../harness/reviews/quorum-law.ts";
import { askUnder, post, type Question, REVIEW_GRAPHS, vote } from "../harness/reviews/questions.ts";
import { removeFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { type Call, printed } from "./linearizable.ts";
import { modelReview, type ReviewOp } from "./reviews.ts";
import { isBadBy } from "./shrink.ts";
import { readSizes } from "./sizes.ts";

const { count: QUESTIONS, clients: CLIENTS, calls: CALLS } = readSizes().questions;
const APPROVALS = 3;
const PEOPLE = ["ann", "bob", "carl", "dora"];
const seed = Number(process.env["HOLDPOINT_HISTORY_SEED"] ?? Date.now() % 1_000_000_000);
const next = randomFrom(seed);
const server = await startServerHere({ config: REVIEW_GRAPHS });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

type Heard = Pick<Call<ReviewOp>, "op" | "result">;

/** Another person holds the question, or it is decided, and its run goes on. */
const REFUSED = new Set(["interrupt_claimed", "interrupt_stale", "thread_busy"]);

function readCode({ problem }: { readonly problem?: unknown }): string {
  return String((problem as { readonly code?: string } | undefined)?.code);
}

async function act(question: Question): Promise<Heard> {
  const by = PEOPLE[Math.floor(next() * PEOPLE.length)] ?? "";
  const chance = next();
  if (chance < 0.5) {
    const { status, ...more } = await vote(server, by, question, true);
    const isCounted = status === "pending" || status === "answered";
    assert.ok(isCounted || REFUSED.has(readCode(more)), JSON.stringify(more));
    return { op: { verb: "vote", by, decided: status === "answered" }, result: isCounted ? "ok" : "refused" };
  }
  const verb = chance < 0.7 ? "claim" : "release";
  const { status, body, text } = await post(server, by, `${question.path}/${verb}`, {});
  assert.ok(status === 200 || REFUSED.has(String(body["code"])), text);
  return { op: { verb, by }, result: status === 200 ? "ok" : "refused" };
}

test(`histories of votes and claims on ${QUESTIONS} questions are linearizable`, async (t) => {
  const model = modelReview(APPROVALS);
  const tally = { calls: 0, refused: 0, decided: 0 };
  for (let at = 0; at < QUESTIONS; at++) {
    const question = await askUnder(server, { approvals: APPROVALS });
    const history: Call<ReviewOp>[] = [];
    const speak = async (client: number): Promise<void> => {
      for (let left = CALLS; left > 0; left--) {
        const startedAt = performance.now();
        const heard = await act(question);
        history.push({ ...heard, client, startedAt, endedAt: performance.now() });
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => speak(client)));
    const isBad = isBadBy(model);
    assert.ok(!isBad(history), isBad(history) ? `seed ${seed}:\n${printed(history)}` : "");
    tally.calls += history.length;
    tally.refused += history.filter(({ result }) => result === "refused").length;
    tally.decided += Number(
      history.some(({ op, result }) => op.verb === "vote" && op.decided === true && result === "ok"),
    );
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(tally)}`);
  assert.ok(tally.refused > 0);
});
