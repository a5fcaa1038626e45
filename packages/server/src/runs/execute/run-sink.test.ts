// Tests of execute-run.4 on a storage whose transactions overlap until they have the lock of the thread, as those of
// PostgreSQL do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Checkpoint, Run, WriteSet } from "../../model/model.ts";
import type { Tx } from "../../ports/ports.ts";
import type { ExecutePorts } from "./execution-ports.ts";
import { createSink } from "./run-sink.ts";

const RUN = { runId: "run", threadId: "thread", attempt: 1 } as Run;

const REFUSED = new Error("refused");

interface StorageOptions {
  /** True: the commit fails, and the storage repeats the transaction. */
  readonly refuses?: () => boolean;
  /** True: the statement fails, and the storage repeats the transaction after its ROLLBACK. */
  readonly fails?: () => boolean;
}

/**
 * A transaction has the lock from its first statement to its end, in call order. Each statement waits for `answer`.
 * `stored` has the rows of all commits; a row that is stored again moves to the end.
 */
function storageWithLock({ refuses = () => false, fails = () => false }: StorageOptions = {}) {
  const stored = new Set<string>();
  const answers: (() => void)[] = [];
  let line: Promise<void> = Promise.resolve();
  const answered = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
  const attempt = async (work: (tx: Tx) => Promise<unknown>): Promise<{ readonly result: unknown } | null> => {
    const end = Promise.withResolvers<void>();
    const rows: string[] = [];
    let turn: Promise<void> | null = null;
    const inTurn = async (): Promise<void> => {
      if (turn === null) {
        turn = line;
        line = line.then(() => end.promise);
      }
      await turn;
      await answered();
      if (fails()) throw REFUSED;
    };
    const tx = {
      async putRunWrites(_: unknown, { checkpoints }: WriteSet) {
        await inTurn();
        rows.push(...checkpoints.map(({ checkpointId }) => checkpointId));
        return true;
      },
      async isCurrent() {
        await inTurn();
        return true;
      },
    };
    try {
      const result = await work(tx as unknown as Tx);
      await answered(); // to the commit
      if (refuses()) return null;
      for (const row of rows) {
        stored.delete(row);
        stored.add(row);
      }
      return { result };
    } catch (error) {
      if (error !== REFUSED) throw error;
      await answered(); // to the ROLLBACK
      return null;
    } finally {
      end.resolve();
    }
  };
  const transaction = async (work: (tx: Tx) => Promise<unknown>): Promise<unknown> => {
    let ended = await attempt(work);
    while (ended === null) ended = await attempt(work);
    return ended.result;
  };
  const answer = async (): Promise<void> => {
    await nextTurn();
    for (const one of answers.splice(0)) one();
  };
  return { storage: { transaction, transactionDeferred: transaction }, stored, answer };
}

/** A sink, and the graph that writes to it. */
function sinkOn(storage: ReturnType<typeof storageWithLock>["storage"]) {
  const ports = {
    storage,
    mayContinue: () => true,
    eventLog: { append: () => undefined, isRead: () => false, hasFresh: () => false },
    events: { store: () => ({ rows: [], exceedsLimits: false, committed: () => undefined, restore: () => undefined }) },
  } as unknown as ExecutePorts;
  const sink = createSink(RUN, new AbortController(), ports);
  let rows: Checkpoint[] = [];
  const take = (): WriteSet => {
    const checkpoints = rows;
    rows = [];
    return { checkpoints, writes: [], blobs: [] };
  };
  const add = (checkpointId: string): void => void rows.push({ checkpointId } as Checkpoint);
  return { sink, take, add };
}

/** Answers statements until the work has ended. */
async function answeredUntil(work: Promise<unknown>, answer: () => Promise<void>): Promise<void> {
  const state = { open: true };
  const ended = work.finally(() => (state.open = false));
  while (state.open) await answer();
  await ended;
}

test("checkpoints are stored in the order of the graph, although transactions overlap", async () => {
  const { storage, stored, answer } = storageWithLock();
  const { sink, take, add } = sinkOn(storage);
  add("1");
  sink.soon(take); // its transaction waits for the lock
  await nextTurn();
  add("2");
  sink.soon(take); // the next transaction begins
  await nextTurn();
  add("3"); // for whichever takes next
  while (stored.size < 3) await answer();
  assert.deepEqual([...stored], ["1", "2", "3"]);
});

for (const refused of [[0], [1], [0, 1], [0, 2], [0, 1, 2], [0, 1, 2, 3, 4]]) {
  test(`they are stored in this order although the storage repeats transactions (commits ${refused.join(", ")})`, async () => {
    let commits = 0;
    const { storage, stored, answer } = storageWithLock({ refuses: () => refused.includes(commits++) });
    const { sink, take, add } = sinkOn(storage);
    const ended: Promise<void>[] = [];
    for (const id of ["1", "2", "3", "4"]) {
      add(id);
      ended.push(sink.now(take));
      await answer(); // to its rows, and to the commit before them
      await nextTurn();
    }
    add("5");
    await answeredUntil(Promise.all(ended), answer);
    sink.check();
    assert.deepEqual([...stored].slice(0, 4), ["1", "2", "3", "4"]);
  });
}

test("the last transaction of a run stores the rows of one that the storage is about to repeat", async () => {
  let commits = 0;
  const { storage, stored, answer } = storageWithLock({ refuses: () => commits++ === 0 });
  const { sink, take, add } = sinkOn(storage);
  add("1");
  const early = sink.now(take);
  await answer(); // its commit is about to be refused
  const last = storage.transaction(async (tx) => {
    await tx.isCurrent(RUN);
    await tx.putRunWrites(
      RUN,
      sink.withEarlier({ checkpoints: [{ checkpointId: "2" } as Checkpoint], writes: [], blobs: [] }),
    );
  });
  sink.close();
  await answeredUntil(Promise.all([early, last]), answer);
  assert.deepEqual([...stored], ["1", "2"]);
});

test("rows that wait for a second repetition reach the end of the run, and no transaction behind it", async () => {
  const done = { statements: 0 };
  const { storage, stored, answer } = storageWithLock({ fails: () => done.statements++ < 2 });
  const { sink, take, add } = sinkOn(storage);
  add("1");
  const early = sink.now(take);
  while (done.statements < 1) await answer(); // refused
  while (done.statements < 2) await answer(); // its repetition too, which is about to roll back
  const last = storage.transaction(async (tx) => {
    await tx.isCurrent(RUN);
    await tx.putRunWrites(
      RUN,
      sink.withEarlier({ checkpoints: [{ checkpointId: "2" } as Checkpoint], writes: [], blobs: [] }),
    );
  });
  sink.close();
  const behind = sink.now(take);
  await answeredUntil(Promise.all([early, last, behind]), answer);
  assert.deepEqual([...stored], ["1", "2"]);
});
