// A worker that gets no notices of waiting runs: they were lost with a process or its connection.
//   machines-lost-notice.1. It claims a run within seconds all the same: it polls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startPostgresProxy } from "../fakes/postgres-proxy.ts";
import { within } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { PATIENCE } from "../harness/patience.ts";
import { newDatabase } from "../harness/postgres/databases.ts";

const BOUND_MS = 30_000;

test("an answer whose notice was lost takes effect (machines-lost-notice.1)", PATIENCE, async (t) => {
  const uri = await newDatabase();
  const proxy = await startPostgresProxy(uri);
  proxy.loseNotices("holdpoint_runs");
  const fleet = new Fleet(uri);
  t.after(async () => {
    await fleet.end();
    await proxy.close();
  });
  await fleet.start("worker", { DATABASE_URI: proxy.uri });
  fleet.use(await fleet.start("api"));
  const { bench } = fleet;
  const { thread } = await bench.pause("ask");
  const answered = await within("the answer takes effect", bench.resume(thread, "ask", "yes"), BOUND_MS);
  assert.deepEqual(answered.body, { log: ["prepared", "yes", "recorded"] });
});
