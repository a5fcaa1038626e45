// Contract of the storage port; each adapter's test file runs it.
// Rules:
//   contract/storage.1. A transaction sees its own writes; its result arrives after the commit; a throw discards all
//        writes.
//   contract/storage.2. Transactions that share a commit succeed or fail separately.
//   contract/storage.3. A thread has at most one running run, whatever the callers do.
//   contract/storage.4. A run's writes count only in its current attempt.
//   contract/storage.5. A large value exists once per content and thread, and reads as if it were in its row.
//   contract/storage.6. Deleting a thread removes all of its rows; a copy leaves the original unchanged.
//   contract/storage.7. Values read back as stored, NUL and lone surrogates included.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ResealedPage, RowCursor, Tx } from "../../ports/ports.ts";
import { assistantCases } from "./assistants.contract.ts";
import { auditDeletionCases } from "./audit-deletions.contract.ts";
import { auditSearchCases } from "./audit-search.contract.ts";
import { auditCases } from "./audit.contract.ts";
import { checkpointCases } from "./checkpoints.contract.ts";
import { cronCases } from "./crons.contract.ts";
import { erasureCases } from "./erasure.contract.ts";
import { eventCases } from "./events.contract.ts";
import { identityCases } from "./identity.contract.ts";
import { inboxCountCases } from "./inbox-counts.contract.ts";
import { inboxCases } from "./inbox.contract.ts";
import { interruptCases } from "./interrupts.contract.ts";
import { lineCases } from "./line.contract.ts";
import { noticeCases } from "./notices.contract.ts";
import type { OpenStorage } from "./open-storage.ts";
import { policyCases } from "./policies.contract.ts";
import { retentionCases } from "./retention.contract.ts";
import { runCases } from "./runs.contract.ts";
import { searchCases } from "./search.contract.ts";
import { storeCases } from "./store.contract.ts";
import { tenantCases } from "./tenants.contract.ts";
import { newCheckpoint, newId, newInterrupt, newRun, newThread, ODD } from "./samples.contract.ts";
import { threadCases } from "./threads.contract.ts";
import { transactionCases } from "./transactions.contract.ts";
import { webhookCases } from "./webhooks.contract.ts";

/**
 * @param openStorage may empty the storage of an earlier test
 * @param startStorage a storage that has just started
 * @param isSealed it has keys: sizes are those of the sealed values, so the tests of exact sizes are left out, and
 *   the long ones of columns that are never sealed
 */
export function storageContract(
  adapter: string,
  openStorage: OpenStorage,
  startStorage = openStorage,
  isSealed = false,
): void {
  const called = new Set<string>();
  let verbs: readonly string[] = [];

  /** The adapter's storage, which records the operations that the tests use. */
  const noting = (storage: Awaited<ReturnType<OpenStorage>>): Awaited<ReturnType<OpenStorage>> => {
    const { longReads } = storage;
    const notingCalls = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(of, name, receiver) {
          called.add(String(name));
          return Reflect.get(of, name, receiver) as unknown;
        },
      });
    const noted = (tx: Tx): Tx => {
      verbs = Object.keys(tx);
      return notingCalls(tx);
    };
    return {
      transaction: (work) => storage.transaction((tx) => work(noted(tx))),
      read: (work) => storage.read((tx) => work(noted({ ...tx, ...longReads }))), // the same result either way
      transactionDeferred: (work) => storage.transactionDeferred((tx) => work(noted(tx))),
      longReads: notingCalls(longReads),
      scrub: () => storage.scrub(),
      dump: (work) => storage.dump(work),
    };
  };
  const open: OpenStorage = async (t) => noting(await openStorage(t));
  const openNew: OpenStorage = async (t) => noting(await startStorage(t));

  suite(`the storage port on ${adapter}`, () => {
    transactionCases(open);
    threadCases(open);
    runCases(open);
    webhookCases(open);
    checkpointCases(open, isSealed);
    interruptCases(open);
    assistantCases(open, ODD, (changes) => newRun(newId(), changes), newId);
    storeCases(open, ODD, isSealed);
    eventCases(open, { newThread, newRun, newId, isSealed });
    cronCases(open, ODD, newId);
    identityCases(open, ODD, newId);
    policyCases(open, ODD, newId);
    tenantCases(open);
    erasureCases(open);
    noticeCases(open, { newId, newThread, newInterrupt });
    auditCases(open, { newThread, newId });
    auditDeletionCases(open, { newThread, newId });
    auditSearchCases(open, { newThread, newRun, newInterrupt });
    inboxCases(open, { newThread, newInterrupt, newId });
    lineCases(open, isSealed);
    inboxCountCases(open, { newThread, newInterrupt, isSealed });
    searchCases(open, { newThread, newInterrupt, openNew });
    retentionCases(open, { newThread, newRun, newCheckpoint, newId });

    test("a rewrite of sealed values finds none to rewrite", async (t) => {
      const storage = await open(t);
      await storage.transaction((tx) => tx.insertThread(newThread()));
      for (let place: RowCursor | null = null; ;) {
        const at: RowCursor | null = place;
        const page: ResealedPage = await storage.transaction((tx) => tx.resealPage(at, 10));
        assert.equal(page.rows, 0);
        place = page.next;
        if (place === null) break;
      }
      await storage.transaction((tx) => tx.resealed([]));
      assert.equal((await storage.read((tx) => tx.sealingState())).isComplete, isSealed);
    });

    test("the tests above use every operation of the port", { skip: isSealed }, () => {
      assert.deepEqual(
        verbs.filter((verb) => !called.has(verb)),
        [],
      );
      assert.ok(verbs.length > 30);
    });
  });
}
