// Contract of the line of waiting runs (shared/line.ts).
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "node:test";
import { plainRequest, runRecord, threadRecord } from "../../model/testkit.ts";
import type { Storage, Tx } from "../../ports/ports.ts";
import { createIdSource } from "@holdpoint/base/ids.ts";
import type { OpenStorage } from "./open-storage.ts";

const CLAIM = { status: "running", workerId: null, updatedAt: 77 } as const;
const newId = createIdSource(Date.now);

async function join(tx: Tx, caller: string, goesFirst = false): Promise<string> {
  const [threadId, runId] = [newId(), newId()];
  await tx.insertThread(threadRecord({ threadId, status: "busy" }));
  const request = { ...plainRequest, user: { identity: caller }, goesFirst };
  await tx.insertRun(runRecord({ runId, threadId, request }));
  await tx.queueNext(threadId);
  return runId;
}

async function claim(tx: Tx): Promise<string | null> {
  return (await tx.claimPendingRun(CLAIM, null))?.run.runId ?? null;
}

interface Waiting {
  readonly isAnswer: boolean;
  /** Runs that waited when it came. */
  readonly ahead: number;
  overtaken: number;
}

/** The line as a caller sees it, in the order of arrival. */
class Model {
  waiting = new Map<string, Waiting>();
  answersInRow = 0;

  /** For a transaction, which may be repeated. */
  copy(): Model {
    const copy = new Model();
    copy.waiting = structuredClone(this.waiting);
    copy.answersInRow = this.answersInRow;
    return copy;
  }

  join(runId: string, isAnswer: boolean): void {
    this.waiting.set(runId, { isAnswer, ahead: this.waiting.size, overtaken: 0 });
  }

  /** line.1, line.3. */
  claim(runId: string): void {
    const claimed = this.waiting.get(runId);
    assert.ok(claimed !== undefined, "it waited");
    for (const [other, earlier] of this.waiting) {
      if (other === runId) break;
      if (earlier.isAnswer || claimed.isAnswer) continue;
      earlier.overtaken++;
      const message = `overtaken ${earlier.overtaken} times, ${earlier.ahead} were ahead`;
      assert.ok(earlier.overtaken <= earlier.ahead, message);
    }
    this.waiting.delete(runId);
    const othersWait = [...this.waiting.values()].some(({ isAnswer }) => !isAnswer);
    this.answersInRow = claimed.isAnswer && othersWait ? this.answersInRow + 1 : 0;
    assert.ok(this.answersInRow <= 8, "answers leave a turn to other runs");
  }
}

/** A caller's runs that come at once, and the claims after them. */
const step = fc.record({
  caller: fc.oneof(fc.constantFrom("a", "b", "c"), fc.constant("someone new")),
  runs: fc.integer({ min: 0, max: 6 }),
  isAnswer: fc.boolean(),
  claims: fc.integer({ min: 0, max: 4 }),
  /** Before them, by a transaction that fails (line.5). */
  inVain: fc.integer({ min: 0, max: 2 }),
});

async function claimInVain(storage: Storage, claims: number): Promise<void> {
  const failure = new Error("claimed in vain");
  const failed = storage.transaction(async (tx) => {
    for (let count = 0; count < claims; count++) await claim(tx);
    throw failure;
  });
  await assert.rejects(failed, failure);
}

/** Cases for storageContract(). */
export function lineCases(openStorage: OpenStorage, isSealed: boolean): void {
  test(
    "no run is overtaken by more runs than waited when it came, whatever the callers do (line.1, line.3, line.5)",
    { skip: isSealed },
    async (t) => {
      const storage = await openStorage(t);
      const steps = fc.array(step, { minLength: 5, maxLength: 15 });
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          let model = new Model();
          await storage.transaction(async (tx) => {
            while ((await claim(tx)) !== null); // left by a case that failed
          });
          for (const [at, { caller, runs, isAnswer, claims, inVain }] of all.entries()) {
            if (inVain > 0) await claimInVain(storage, inVain);
            const before = model;
            model = await storage.transaction(async (tx) => {
              const after = before.copy();
              const name = caller === "someone new" ? `${caller} ${at}` : caller;
              for (let count = 0; count < runs; count++) after.join(await join(tx, name, isAnswer), isAnswer);
              for (let count = 0; count < claims; count++) {
                const runId = await claim(tx);
                assert.equal(runId === null, after.waiting.size === 0);
                if (runId !== null) after.claim(runId);
              }
              return after;
            });
          }
          const last = await storage.transaction(async (tx) => {
            const after = model.copy();
            for (let runId = await claim(tx); runId !== null; runId = await claim(tx)) after.claim(runId);
            return after;
          });
          assert.equal(last.waiting.size, 0, "all have run");
        }),
        { numRuns: 20 },
      );
    },
  );

  test("new callers at every claim do not keep a waiting run from its turn (line.3)", async (t) => {
    const storage = await openStorage(t);
    const mine = await storage.transaction(async (tx) => {
      const runs: string[] = [];
      for (let at = 0; at < 10; at++) runs.push(await join(tx, "many"));
      return runs;
    });
    const order: (string | null)[] = [];
    await storage.transaction(async (tx) => {
      for (let at = 0; at < 20; at++) {
        await join(tx, `caller ${at}`);
        order.push(await claim(tx));
      }
    });
    assert.ok(order.includes(mine.at(-1) ?? ""), "nine were ahead, and nine may overtake");
  });

  test("a claim that is undone gives no turn to others (line.5)", async (t) => {
    const storage = await openStorage(t);
    await storage.transaction((tx) => join(tx, "many"));
    await storage.transaction(claim); // eight answers may go first from here
    const oldest = await storage.transaction((tx) => join(tx, "many"));
    await storage.transaction(async (tx) => {
      for (let at = 0; at < 20; at++) await join(tx, "many", true);
    });
    for (let at = 0; at < 8; at++) await storage.transaction(claim);
    await claimInVain(storage, 1); // of the oldest run
    assert.equal(await storage.transaction(claim), oldest);
  });

  test("a caller with few runs has its turn among those of one with many (line.2)", async (t) => {
    const storage = await openStorage(t);
    const few = await storage.transaction(async (tx) => {
      for (let at = 0; at < 20; at++) await join(tx, "many");
      return [await join(tx, "few"), await join(tx, "few"), await join(tx, "few")];
    });
    const order: (string | null)[] = [];
    await storage.transaction(async (tx) => {
      for (let at = 0; at < 6; at++) order.push(await claim(tx));
    });
    assert.deepEqual(
      order.filter((_, at) => at % 2 === 1),
      few,
    );
  });
}
