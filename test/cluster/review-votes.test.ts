// Tests of votes on several servers, and of a server that dies between them.
//   review-votes.1. Of 200 votes at once on two servers of one database, one starts the run; each person counts once.
//   review-votes.2. A counted vote is on disk: after a kill, the next vote completes the decision.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { askUnder, read, REVIEW_GRAPHS, readTrail, vote } from "../harness/reviews/questions.ts";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder, startServer, temporaryFolder } from "../harness/server.ts";

const uri = await newDatabase();
const start = (dataDir: string) => startServerHere({ config: REVIEW_GRAPHS, dataDir, env: { DATABASE_URI: uri } });

test("200 votes on two servers start one run (review-votes.1)", PATIENCE, async () => {
  const folders = [temporaryFolder(), temporaryFolder()];
  const servers = [await start(folders[0] ?? ""), await start(folders[1] ?? "")];
  const [one, other] = servers;
  assert.ok(one !== undefined && other !== undefined);
  beforeDrop(async () => void (await Promise.all(servers.map((server) => server.stop()))));
  after(() => folders.forEach(removeFolder));
  const asked = await askUnder(one, { approvals: 10 });
  const votes = Array.from({ length: 200 }, (_, at) => vote(at % 2 === 0 ? one : other, `p${at % 40}`, asked, true));
  const results = await Promise.all(votes);
  assert.equal(results.filter(({ status }) => status === "answered").length, 1);
  const trail = await readTrail(other, asked);
  assert.equal(trail.filter(([action]) => action === "voted").length, 9);
  assert.equal(trail.filter(([action]) => action === "answered").length, 1);
  assert.equal(new Set(trail.map(([, by]) => by)).size, 10);
  const { body: runs } = await read(one, `/threads/${asked.thread_id}/runs`);
  assert.equal((runs as unknown as readonly unknown[]).length, 2);
});

test("a vote survives a kill, and the next one decides (review-votes.2)", PATIENCE, async () => {
  const dataDir = temporaryFolder();
  after(() => removeFolder(dataDir));
  let server = await startServer({ config: REVIEW_GRAPHS, dataDir });
  const asked = await askUnder(server, { approvals: 3 });
  for (const who of ["ann", "bob"]) {
    assert.equal((await vote(server, who, asked, true)).status, "pending");
    await server.kill();
    if (who === "ann") server = await startServer({ config: REVIEW_GRAPHS, dataDir });
  }
  const last = await startServerHere({ config: REVIEW_GRAPHS, dataDir });
  assert.equal((await vote(last, "ann", asked, true)).status, "pending", "ann has voted already");
  assert.equal((await vote(last, "carl", asked, true)).status, "answered");
  assert.deepEqual(await readTrail(last, asked), [
    ["voted", "ann"],
    ["voted", "bob"],
    ["answered", "carl"],
  ]);
  await last.stop();
});
