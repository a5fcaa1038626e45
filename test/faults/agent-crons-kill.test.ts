// kill -9 of a server with active crons. Rules: a tick has at most one run, at any moment of death; ticks continue
// after every restart; a run that a tick has started survives.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { test } from "node:test";
import { removeFolder, startServer, temporaryFolder } from "../harness/server.ts";
import { until } from "../harness/threads.ts";
import { FULL } from "../harness/faults/fault-server.ts";

const ROUNDS = FULL ? 40 : 1;

interface Mark {
  readonly key: string;
  readonly value: { readonly thread_id: string; readonly due: string };
}

test(`one run a tick at most, over ${ROUNDS} kills`, { timeout: 60_000 + ROUNDS * 30_000 }, async (t) => {
  const dataDir = temporaryFolder();
  const env = { BG_JOB_MAX_RETRIES: "100" }; // a run that is in progress at many kills is not at fault
  let seen = 0;
  let marks: readonly Mark[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const server = await startServer({ dataDir, env });
    t.after(() => server.kill());
    const { crons, runs, store } = new Client({ apiUrl: server.url, apiKey: null });
    if (round === 0) {
      for (const mark of ["a", "b", "c"]) {
        const input = { mark };
        await crons.create("ticker", { schedule: "* * * * * *", input, onRunCompleted: "keep" });
      }
    }
    marks = await until("new ticks", async () => {
      const { items } = await store.searchItems(["ticks"], { limit: 1000 });
      return items.length > seen ? (items as unknown as readonly Mark[]) : undefined;
    });
    seen = marks.length;
    if (round < ROUNDS) {
      await server.kill();
      continue;
    }
    for (const { cron_id: id } of await crons.search()) await crons.delete(id);
    const { threads } = new Client({ apiUrl: server.url, apiKey: null });
    const made = await threads.search({ limit: 1000 });
    const ticks: string[] = [];
    for (const { thread_id: thread } of made) {
      for (const run of await runs.list(thread)) {
        const { cron_id: cron, cron_due: due } = run.metadata as Record<string, unknown>;
        ticks.push(`${String(cron)} ${String(due)}`);
        await runs.join(thread, run.run_id);
        const { status } = await runs.get(thread, run.run_id);
        assert.equal(status, "success", `${run.run_id} was taken up again\n${server.output().slice(-2000)}`);
      }
    }
    assert.equal(new Set(ticks).size, ticks.length, "one run a tick");
    assert.ok(ticks.length >= marks.length);
    assert.ok(ticks.length > ROUNDS, "there were ticks after every restart");
    await server.stop();
  }
  removeFolder(dataDir);
});
