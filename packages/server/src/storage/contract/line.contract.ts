// Contract of the line of waiting runs (shared/line.ts).
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "node:test";
import { plainRequest, runRecord, threadRecord } from "../../model/testkit.ts";
import type { Tx } from "../../ports/ports.ts";
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
  /** False once a transaction was repeated: the turn is memory of the process, and the refused one has moved it. */
  isExact = true;

  /** For a transaction, which may be repeated. @param attempt from 1 */
  copy(attempt: number): Model {
    const copy = new Model();
    copy.isExact = this.isExact && attempt === 1;
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
      assert.ok(
        !this.isExact || earlier.overtaken <= earlier.ahead,
        `overtaken ${earlier.overtaken} times, ${earlier.ahead} were ahead`,
      );
    }
    this.waiting.delete(runId);
    const othersWait = [...this.waiting.values()].some(({ isAnswer }) => !isAnswer);
    this.answersInRow = claimed.isAnswer && othersWait ? this.answersInRow + 1 : 0;
    assert.ok(!this.isExact || this.answersInRow <= 8, "answers leave a turn to other runs");
  }
}

/** A caller's runs that come at once, and the claims after them. */
const step = fc.record({
  caller: fc.oneof(fc.constantFrom("a", "b", "c"), fc.constant("someone new")),
  runs: fc.integer({ min: 0, max: 6 }),
  isAnswer: fc.boolean(),
  claims: fc.integer({ min: 0, max: 4 }),
});

/** Cases for storageContract(). */
export function lineCases(openStorage: OpenStorage): void {
  test("no run is overtaken by more runs than waited when it came, whatever the callers do (line.1, line.3)", async (t) => {
    const storage = await openStorage(t);
    const steps = fc.array(step, { minLength: 5, maxLength: 15 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        let model = new Model();
        await storage.transaction(async (tx) => {
          while ((await claim(tx)) !== null); // left by a case that failed
        });
        for (const [at, { caller, runs, isAnswer, claims }] of all.entries()) {
          const before = model;
          let attempt = 0;
          model = await storage.transaction(async (tx) => {
            const after = before.copy(++attempt);
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
        let attempt = 0;
        const last = await storage.transaction(async (tx) => {
          const after = model.copy(++attempt);
          for (let runId = await claim(tx); runId !== null; runId = await claim(tx)) after.claim(runId);
          return after;
        });
        assert.equal(last.waiting.size, 0, "all have run");
      }),
      { numRuns: 20 },
    );
  });

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
