// Tests of the store without a server. Checked: store.5, reads while the storage takes no writes.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { systemClock } from "@holdpoint/base/clock.ts";
import { openStorage, SILENT } from "../../../../test/harness/storage/sqlite-storage.ts";
import { createStore } from "./store.ts";

const TTL = 60_000;
const OPTIONS = { itemBytesMax: 1000, defaultTtlMs: TTL, refreshOnRead: true, sweepEveryMs: 1000, fields: [] };
const SEARCH = { prefix: ["a"], query: null, filter: {}, limit: 10, offset: 0, refreshTtl: null };

async function opened(t: TestContext) {
  const storage = await openStorage(t);
  const state = { now: 1_000_000, fault: null as Error | null };
  const failing: typeof storage = {
    ...storage,
    transaction: (work) => (state.fault === null ? storage.transaction(work) : Promise.reject(state.fault)),
  };
  const clock = { ...systemClock, now: () => state.now };
  const store = createStore(OPTIONS, { storage: failing, clock, log: SILENT, embedder: null });
  await store.put({ namespace: ["a"], key: "k", value: { n: 1 }, index: null, ttlMs: undefined });
  return { state, store };
}

async function collectKeys(found: AsyncIterable<{ readonly key: string }>): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of found) keys.push(key);
  return keys;
}

test("a read that cannot extend the expiry returns the item, which expires as before (store.5)", async (t) => {
  const { state, store } = await opened(t);
  state.now += TTL / 2;
  state.fault = new ApiError("storage_unavailable", "the disk is full");
  assert.deepEqual((await store.get(["a"], "k", null))?.value, { n: 1 });
  assert.deepEqual(await collectKeys(await store.search(SEARCH)), ["k"]);
  state.now += TTL / 2;
  assert.equal(await store.get(["a"], "k", null), null);
});

test("a read extends the expiry again when there is space (store.5)", async (t) => {
  const { state, store } = await opened(t);
  for (let count = 0; count < 3; count++) {
    state.now += TTL - 1;
    assert.notEqual(await store.get(["a"], "k", null), null);
    state.now += TTL - 1;
    assert.deepEqual(await collectKeys(await store.search(SEARCH)), ["k"]);
  }
  state.fault = new TypeError("a defect");
  await assert.rejects(store.get(["a"], "k", null), TypeError);
});
