// Test of deletions that race with runs, with real storage: a run accepted in between is neither lost nor left behind.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openStorage } from "../../../../../test/harness/storage/sqlite-storage.ts";
import type { SqliteStorage } from "../../storage/sqlite/storage.ts";
import type { AgentContext } from "../../context/context.ts";
import { ANONYMOUS } from "../../auth/authorize.ts";
import { deleteAssistant } from "./delete-assistant.ts";
import type { Run, RunStatus } from "../../model/model.ts";
import { assistantRecord, runRecord } from "../../model/testkit.ts";
import type { Tx } from "../../ports/ports.ts";
import { NO_TTL, newThread } from "../new-thread.ts";

const ID = "01a1fd86-6ea5-7341-90d3-f2766ddd56ff";

async function start(t: TestContext): Promise<{ readonly agent: AgentContext; readonly storage: SqliteStorage }> {
  const storage = await openStorage(t);
  await storage.transaction((tx) => tx.insertAssistant(assistantRecord(ID)));
  const agent = {
    storage,
    clock: { now: () => 1 },
    graphs: { describe: () => ({}), list: () => [] },
    worker: { abort: () => true },
    inbox: { deleted: () => undefined },
    events: { wakes: { wake: () => undefined } },
  };
  return { agent: agent as unknown as AgentContext, storage };
}

const newRun = (threadId: string, status: RunStatus): Run =>
  runRecord({ runId: crypto.randomUUID(), threadId, assistantId: ID, graphId: "g", status });

const everything = () => Promise.resolve(null);

test("a run that is accepted while threads go keeps the assistant, and a repeated call deletes it (delete-assistant.1, delete-assistant.2)", async (t) => {
  const { agent, storage } = await start(t);
  const threadId = crypto.randomUUID();
  let reads = 0;
  const between: AgentContext["storage"] = {
    ...storage,
    async transaction(work) {
      const result = await storage.transaction(work);
      // The second look is the one for runs that go on; this one comes right after it.
      if (++reads === 2) await storage.transaction((tx) => tx.insertRun(newRun(threadId, "pending")));
      return result;
    },
  };
  const racing = { ...agent, storage: between };
  await assert.rejects(
    deleteAssistant(racing, ID, { caller: ANONYMOUS, scope: null, ask: everything, withThreads: false }),
    {
      code: "run_active",
    },
  );
  assert.ok(await storage.transaction((tx) => tx.assistant(ID)));
  const [run] = await storage.transaction((tx) => tx.runsOfAssistant(ID, "active", 1));
  await storage.transaction((tx) => tx.updateRun(run?.runId ?? "", { status: "success" }));
  await deleteAssistant(agent, ID, { caller: ANONYMOUS, scope: null, ask: everything, withThreads: false });
  assert.equal(await storage.transaction((tx) => tx.assistant(ID)), null);
  assert.equal((await storage.transaction((tx) => tx.runsOfAssistant(ID, "ended", 1))).length, 0);
});

test("deletes more threads and runs than one batch holds, during concurrent activity (delete-assistant.3)", async (t) => {
  const { agent, storage } = await start(t);
  const other = crypto.randomUUID();
  await storage.transaction(async (tx) => {
    for (let at = 0; at < 120; at++) {
      const threadId = crypto.randomUUID();
      await tx.insertThread(newThread(threadId, { assistant_id: ID }, NO_TTL, at));
      await tx.insertRun(newRun(threadId, "pending"));
    }
    for (let at = 0; at < 1100; at++) await tx.insertRun(newRun(other, "success"));
  });
  let longest = 0;
  const counted: AgentContext["storage"] = {
    ...storage,
    transaction: (work) =>
      storage.transaction((tx) => {
        let deleted = 0;
        const deleteRun: Tx["deleteRun"] = (runId) => {
          longest = Math.max(longest, ++deleted);
          return tx.deleteRun(runId);
        };
        return work({ ...tx, deleteRun });
      }),
  };
  await deleteAssistant({ ...agent, storage: counted }, ID, {
    caller: ANONYMOUS,
    scope: null,
    ask: everything,
    withThreads: true,
  });
  assert.equal(longest, 500);
  for (const which of ["active", "ended"] as const)
    assert.equal((await storage.transaction((tx) => tx.runsOfAssistant(ID, which, 1))).length, 0);
  assert.equal(await storage.transaction((tx) => tx.assistant(ID)), null);
});
