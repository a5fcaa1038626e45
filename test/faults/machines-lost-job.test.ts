// The proxy cuts the reply to graphile-worker's `get_job`: a live worker owns the job without knowing it.
//   machines-lost-job.1. The worker claims the run of such a job within seconds: it looks for jobs that it has locked
//        but never received.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startPostgresProxy } from "../fakes/postgres-proxy.ts";
import { FULL, within } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";

const ROUNDS = FULL ? 5 : 2;
/** Half of the earlier delay. */
const BOUND_MS = 30_000;

test(
  "an answer whose get_job was cut does not wait for the repair of abandoned jobs (machines-lost-job.1)",
  PATIENCE,
  async (t) => {
    const uri = await newDatabase();
    const proxy = await startPostgresProxy(uri);
    proxy.loseNotices("holdpoint_runs"); // a worker that gets them claims without the job
    const fleet = new Fleet(uri);
    t.after(async () => {
      await fleet.end();
      await proxy.close();
    });
    await fleet.start("worker", { DATABASE_URI: proxy.uri });
    fleet.use(await fleet.start("api"));
    const { bench } = fleet;
    for (let round = 0; round < ROUNDS; round++) {
      const { thread } = await bench.pause("ask");
      const cut = proxy.cutReply(
        (text) => text.includes("_private_jobs") && text.includes("locked_by = $1"),
        '"thread"',
      );
      const since = performance.now();
      const answered = await within("the answer takes effect", bench.resume(thread, "ask", "yes"), BOUND_MS);
      assert.deepEqual(answered.body, { log: ["prepared", "yes", "recorded"] });
      assert.ok(cut(), "a reply to get_job was cut");
      console.log(`cut reply to get_job: answered after ${Math.round(performance.now() - since)} ms`);
    }
  },
);
