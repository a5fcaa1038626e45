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

/** A transaction has the lock from its first statement to its end, in call order. Each write waits for `answer`. */
function storageWithLock() {
  const stored: string[] = [];
  const answers: (() => void)[] = [];
  let line: Promise<void> = Promise.resolve();
  const transaction = async (work: (tx: Tx) => Promise<unknown>): Promise<unknown> => {
    const end = Promise.withResolvers<void>();
    let turn: Promise<void> | null = null;
    const tx = {
      async putRunWrites(_: unknown, { checkpoints }: WriteSet) {
        if (turn === null) {
          turn = line;
          line = line.then(() => end.promise);
        }
        await turn;
        await new Promise<void>((resolve) => answers.push(resolve));
        stored.push(...checkpoints.map(({ checkpointId }) => checkpointId));
        return true;
      },
      isCurrent: () => Promise.resolve(true),
    };
    return work(tx as unknown as Tx).finally(end.resolve);
  };
  const answer = async (): Promise<void> => {
    await nextTurn();
    for (const one of answers.splice(0)) one();
  };
  return { storage: { transaction, transactionDeferred: transaction }, stored, answer };
}

test("checkpoints are stored in the order of the graph, although transactions overlap", async () => {
  const { storage, stored, answer } = storageWithLock();
  const ports = {
    storage,
    mayContinue: () => true,
    eventLog: { append: () => undefined, isRead: () => false, hasFresh: () => false },
    events: { store: () => null },
  } as unknown as ExecutePorts;
  const sink = createSink(RUN, new AbortController(), ports);
  let rows: Checkpoint[] = [];
  const take = (): WriteSet => {
    const checkpoints = rows;
    rows = [];
    return { checkpoints, writes: [], blobs: [] };
  };
  const write = (checkpointId: string): void => {
    rows.push({ checkpointId } as Checkpoint);
    sink.soon(take);
  };
  write("1"); // its transaction waits for the lock
  await nextTurn();
  write("2"); // the next transaction begins
  await nextTurn();
  rows.push({ checkpointId: "3" } as Checkpoint); // for whichever takes next
  while (stored.length < 3) await answer();
  assert.deepEqual(stored, ["1", "2", "3"]);
});
