// Tests of the end of a run that cannot be stored, over a storage of a test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { interruptRecord, runRecord, threadRecord } from "../../model/testkit.ts";
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import type { CarriedAnswer, Checkpoint, Interrupt, Run, WriteSet } from "../../model/model.ts";
import type { GraphRunResult, RunSink, Tx } from "../../ports/ports.ts";
import { executeRun } from "./execute-run.ts";
import type { ExecutePorts } from "./execution-ports.ts";

test("a run ends although rows that it took over from a repeated transaction cannot be stored, and its answer with them", async () => {
  const answers = [{ interruptId: "q" } as CarriedAnswer];
  const command = { answers };
  const record = runRecord({ threadId: "t", runId: "r", status: "running", attempt: 1 });
  const run: Run = { ...record, request: { ...record.request, command } };
  const answer = { runId: "r" } as Interrupt["answer"];
  const question = interruptRecord({ interruptId: "q", threadId: "t", state: "answered", answer });
  const changed: Interrupt[] = [];
  const row: WriteSet = { ...EMPTY_WRITE_SET, checkpoints: [{ checkpointId: "bad" } as Checkpoint] };
  const tx = (more: Partial<Tx>): Tx =>
    new Proxy({} as Tx, {
      get: (_, verb) => {
        if (verb in more) return Reflect.get(more, verb) as unknown;
        if (verb === "isCurrent") return () => true;
        if (verb === "thread") return () => threadRecord({ threadId: "t", status: "busy", checkpointId: "c" });
        if (verb === "interrupts") return () => [question];
        if (verb === "putInterrupts") return (list: readonly Interrupt[]) => void changed.push(...list);
        return () => (verb === "listAudit" || verb === "runWebhooks" || verb === "activeRuns" ? [] : null);
      },
    });
  const ended = Promise.withResolvers<boolean>();
  const refuseRow = ({ checkpoints }: WriteSet): void => {
    if (checkpoints.length > 0) throw new Error("the row cannot be stored");
  };
  let transactions = 0;
  const storage = {
    async transaction(work: (tx: Tx) => Promise<unknown>) {
      if (transactions++ > 0) return work(tx({ putWriteSet: refuseRow }));
      await work(tx({ putRunWrites: () => Promise.reject(new Error("a deadlock")) })).catch(() => undefined);
      return work(tx({ isCurrent: () => ended.promise })); // the repetition waits for the lock
    },
  };
  const result: GraphRunResult = {
    outcome: { kind: "done", values: {} },
    rest: EMPTY_WRITE_SET,
    checkpointId: null,
    overlay: null,
    unused: [],
    held: [],
  } as unknown as GraphRunResult;
  const graphs = {
    async run(_: unknown, sink: RunSink) {
      let rows = row;
      void sink.now(() => {
        const given = rows;
        rows = EMPTY_WRITE_SET;
        return given;
      });
      await nextTurn();
      return result;
    },
    clientText: () => "{}",
    readUnused: async () => answers,
  };
  let failures = 0;
  const ports = {
    storage,
    graphs,
    clock: { now: () => 1, after: (_: number, call: () => void) => setImmediate(call) },
    log: { error: () => failures++, warning: () => undefined, info: () => undefined },
    events: { goneAt: () => 0, store: () => null },
    eventLog: { hasFresh: () => false },
    notifier: { notify: () => undefined },
    mayContinue: () => true,
    leaveMs: () => 0,
    claimNext: () => null,
    answerByPolicy: async () => null,
    onGraphEnd: () => undefined,
    onFailure: () => undefined,
    onUnstored: () => undefined,
    isDraining: () => failures > 3,
  } as unknown as ExecutePorts;
  const executed = await executeRun(run, "none", new AbortController(), ports);
  ended.resolve(false);
  assert.deepEqual([executed.finished?.run.status, failures], ["error", 1]);
  assert.deepEqual(
    changed.map(({ interruptId, state }) => [interruptId, state]),
    [["q", "open"]],
    "the thread waits for it as before",
  );
});
