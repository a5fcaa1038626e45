// Tests of the erasure of a person on the embedded storage: a failure in between, rows that come behind the place, and
// cursors. Checked: erase-person.1, erase-person.3, erase-person.4, erase-person.5.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { openStorage, SILENT } from "../../../../test/harness/storage/sqlite-storage.ts";
import { ANONYMOUS } from "../auth/authorize.ts";
import type { AgentContext } from "../context/context.ts";
import type { TraceEraser } from "../ports/ports.ts";
import { newId, newThread } from "../storage/contract/samples.contract.ts";
import { erasePerson } from "./erase-person.ts";

const ZOE = "zoe@example.com";
const NOTHING = { traces: 0, next: null };

const ACTS = {
  actions: ["person_removed"],
  search: [],
  limit: 9,
  scanMax: 99,
  scope: null,
  threadId: null,
  graphId: null,
  assistantId: null,
  by: null,
  via: null,
  since: null,
  until: null,
  after: null,
};

/** @param onTraces runs when all rows of a pass are done */
async function start(t: TestContext, onTraces: (writeName: () => Promise<void>) => Promise<void>) {
  const storage = await openStorage(t);
  const writeName = (): Promise<void> =>
    storage.transaction(async (tx) => tx.insertThread(newThread({ metadata: { owner: ZOE } })));
  const traces: TraceEraser = {
    eraseThread: async () => 0,
    async erasePerson() {
      await onTraces(writeName);
      return NOTHING;
    },
  };
  let now = 0;
  const clock = { ...systemClock, now: () => ++now, monotonic: () => 0 }; // one call does it all
  const agent = { storage, clock, log: SILENT, newId, traces } as unknown as AgentContext;
  await writeName();
  const erase = (cursor: string | null = null) => erasePerson(agent, ANONYMOUS, { person: ZOE, dryRun: false, cursor });
  const acts = async (): Promise<readonly unknown[]> => {
    const { rows } = await storage.read((tx) => tx.searchAudit(ACTS));
    return rows.map(({ entry: { value } }) => (value as { readonly erased: unknown }).erased).toReversed();
  };
  return { storage, erase, acts };
}

test("rows that come behind the place are erased by another pass (erase-person.5)", async (t) => {
  let late = 1;
  const { erase, acts } = await start(t, async (writeName) => {
    if (late-- > 0) await writeName();
  });
  const { places, isComplete } = await erase();
  assert.deepEqual([places["threads"], isComplete], [2, true]);
  assert.deepEqual(await acts(), ["begun", true]);
});

test("an erasure whose person is written again and again ends, and says so (erase-person.5)", async (t) => {
  const { erase, acts } = await start(t, (writeName) => writeName());
  const { places, isComplete, next } = await erase();
  assert.deepEqual([places["threads"], isComplete, next], [3, false, null]);
  assert.deepEqual(await acts(), ["begun", "partly"]);
});

test("the trail says that an erasure has begun, also if it fails; the next call goes on as the same one (erase-person.1, erase-person.4)", async (t) => {
  let failures = 1;
  const { storage, erase, acts } = await start(t, async () => {
    if (failures-- > 0) throw new Error("the trace store is away");
  });
  await assert.rejects(erase(), /is away/);
  assert.deepEqual(await acts(), ["begun"]);
  const begun = await storage.read((tx) => tx.personErasure(ZOE));
  assert.deepEqual([begun?.at.isRowsDone, begun?.at.found], [true, 2]);
  const { pseudonym } = await erase();
  assert.equal(pseudonym, begun?.pseudonym);
  assert.deepEqual(await acts(), ["begun", true]);
});

test("a cursor is the name of an erasure that has begun, and nothing else (erase-person.3)", async (t) => {
  let failures = 1;
  const { storage, erase } = await start(t, async () => {
    if (failures-- > 0) throw new Error("the trace store is away");
  });
  const end = JSON.stringify({
    pass: 9,
    rows: null,
    isRowsDone: true,
    traces: null,
    found: 1,
    foundInPass: 0,
    foundBefore: 0,
  });
  for (const cursor of ["x", "erased-0123456789ab", Buffer.from(end).toString("base64url")])
    await assert.rejects(erase(cursor), { code: "invalid_request" });
  assert.equal(await storage.read((tx) => tx.personErasure(ZOE)), null);
  await assert.rejects(erase(), /is away/);
  await assert.rejects(erase("erased-0123456789ab"), { code: "invalid_request" });
  const begun = await storage.read((tx) => tx.personErasure(ZOE));
  assert.equal((await erase(String(begun?.pseudonym))).isComplete, true);
});

test("a repeat of the last call ends as it did (erase-person.3)", async (t) => {
  for (const [late, isComplete] of [
    [0, true],
    [9, false],
  ] as const) {
    let left = late;
    const { erase, acts } = await start(t, async (writeName) => {
      if (left-- > 0) await writeName();
    });
    const { pseudonym } = await erase();
    const before = await acts();
    assert.deepEqual(await erase(pseudonym), { pseudonym, places: {}, isComplete, next: null });
    assert.deepEqual(await acts(), before);
    await assert.rejects(erase("erased-0123456789ab"), { code: "invalid_request" });
  }
});

test("an erasure that finds nothing says so in the trail (erase-person.4)", async (t) => {
  const { storage, erase, acts } = await start(t, async () => undefined);
  await erase();
  await assert.rejects(erase(), { code: "person_not_found" });
  assert.deepEqual(await acts(), ["begun", true, "begun", false]);
  assert.equal(await storage.read((tx) => tx.personErasure(ZOE)), null);
});
