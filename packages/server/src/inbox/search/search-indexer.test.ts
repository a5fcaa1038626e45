import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentContext } from "../../context/context.ts";
import { createSearchIndexer } from "./search-indexer.ts";

const TICK_MS = 5000;

/** An indexer with a worker that the test plays, and the times at which it looked for changed threads. */
async function startIndexer() {
  let nowMs = 0;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  const worker = { executing: 0, begun: 0 };
  const looks: number[] = [];
  const tx = {
    async unindexedThreads() {
      looks.push(nowMs);
      return [];
    },
    sweepUnindexed: async () => null,
    switchSearch: () => undefined,
  };
  const indexer = createSearchIndexer({
    clock: {
      now: () => nowMs,
      monotonic: () => nowMs,
      after(ms: number, callback: () => void) {
        const timer = { at: nowMs + ms, callback };
        timers.push(timer);
        return () => (timers = timers.filter((other) => other !== timer));
      },
    },
    storage: {
      transaction: (work: (own: object) => unknown) => work(tx),
      read: (work: (own: object) => unknown) => work(tx),
    },
    worker: { running: () => worker.executing, begun: () => worker.begun },
  } as unknown as AgentContext);
  await indexer.start();
  return {
    worker,
    looks,
    tick: async () => {
      nowMs += TICK_MS;
      const due = timers.filter(({ at }) => at <= nowMs);
      timers = timers.filter(({ at }) => at > nowMs);
      for (const { callback } of due) callback();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("changes are indexed when no run has executed since the look before (search-indexer.2)", async () => {
  const { worker, looks, tick } = await startIndexer();
  await tick();
  assert.deepEqual(looks, [TICK_MS]);
  worker.begun += 100; // they have all ended at the next look
  await tick();
  assert.equal(looks.length, 1);
  worker.begun++;
  worker.executing = 1;
  await tick();
  await tick();
  assert.equal(looks.length, 1);
  worker.executing = 0;
  await tick();
  assert.equal(looks.length, 2);
});

test("changes are indexed after a minute of runs (search-indexer.2)", async () => {
  const { worker, looks, tick } = await startIndexer();
  await tick();
  for (let ms = 0; ms < 60_000; ms += TICK_MS) {
    worker.begun++;
    await tick();
  }
  assert.deepEqual(looks, [TICK_MS, TICK_MS + 60_000]);
});
