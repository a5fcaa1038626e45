// Random histories of votes, edits, inputs and lost rights (../harness/reviews/quorum-law.ts), over calls of the API.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CHANNELS } from "../harness/channels/channels.ts";
import { QUORUM_GRAPHS, runHistory, type Told } from "../harness/reviews/quorum-law.ts";
import { startWorld } from "../harness/channels/world.ts";
import { readSizes } from "../histories/sizes.ts";

const ADMIN = "the-long-key-of-the-admin";
const HISTORIES = readSizes().reviews;
const NAMES = ["inbox", "POST /threads/{id}/runs/wait", "input.respond over HTTP", "POST /runs, thread in the body"];
const seedGiven = process.env["HOLDPOINT_QUORUM_SEED"];
const world = await startWorld(QUORUM_GRAPHS, { HOLDPOINT_API_KEYS: `root:${ADMIN}` });
after(() => world.close());

test("no random history decides a question with fewer people than it asks for, or by an author of its state", async () => {
  const channels = CHANNELS.filter(({ name }) => NAMES.includes(name));
  assert.equal(channels.length, NAMES.length);
  const told: Told = { decided: 0, counted: 0, refused: 0 };
  const first = seedGiven === undefined ? Date.now() % 1_000_000_000 : Number(seedGiven);
  for (let at = 0; at < (seedGiven === undefined ? HISTORIES : 1); at++)
    await runHistory({ world, adminKey: ADMIN, channels }, first + at, told);
  if (seedGiven === undefined)
    for (const count of Object.values(told)) assert.ok(count > HISTORIES / 10, JSON.stringify(told));
});
