// Random calls of several clients on each thread, with faults in between: every thread's history is linearizable
// (linearizable.ts). On SQLite the server is killed and stopped, on PostgreSQL its connections are cut as well.
//   agent-history.1. Starts, answers, cancellations and deletions of a thread take place one after the other, each once
//        or not at all, within the time of their call, as the answers of the server say; a question takes one answer,
//        and one more for each cancellation before its use.
//   agent-history.2. The test prints a bad history with its seed, shrinks it, and records it for test/histories/check.ts.
//   agent-history.3. The checker rejects a recorded history with a second use of an answer.
import { test } from "node:test";
import { startPostgresProxy, isMarked, type Fate } from "../fakes/postgres-proxy.ts";
import { Bench, FULL, pause } from "../harness/faults/fault-server.ts";
import {
  checkHistories,
  CUT_ROUNDS,
  next,
  type Progress,
  restart,
  ROUNDS,
  SETTINGS,
  someCalls,
  THREADS,
  timeout,
} from "../harness/faults/histories.ts";
import { testInLong } from "../harness/long.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";

test(
  `${ROUNDS} rounds of ${THREADS} threads with kills and stops: every history is linearizable (agent-history.1–3)`,
  { timeout },
  async (t) => {
    const bench = new Bench(SETTINGS);
    try {
      await bench.start();
      await checkHistories(t, bench, { rounds: ROUNDS, trouble: (round, progress) => restart(bench, round, progress) });
    } finally {
      await bench.end();
    }
  },
);

const FATES: readonly Fate[] = ["before", "after", "during", "all"];

testInLong(
  `${CUT_ROUNDS} rounds of ${THREADS} threads on PostgreSQL with cuts: every history is linearizable (agent-history.1–3)`,
  { timeout },
  async (t) => {
    const proxy = await startPostgresProxy(await newDatabase());
    const bench = new Bench({ ...SETTINGS, DATABASE_URI: proxy.uri });
    beforeDrop(async () => {
      await bench.end();
      await proxy.close();
    });
    await bench.start();
    /** Cuts a few commits, each in another way, and once all connections. */
    const cut = async (round: number, progress: Progress): Promise<void> => {
      await someCalls(progress);
      for (let at = 0; at < 3; at++) {
        await pause(next() * 60);
        const fate = FATES[Math.floor(next() * FATES.length)] ?? "pass";
        let met = false;
        proxy.decideFate = (text) => {
          if (met || !isMarked(text)) return "pass";
          met = true;
          return fate;
        };
        await pause(30);
        proxy.decideFate = () => "pass";
        proxy.flow(); // after "all" there are no new connections until then
      }
      proxy.refuse();
      await pause(50);
      proxy.flow();
      if (FULL && round % 10 === 9) await restart(bench, round, progress);
    };
    await checkHistories(t, bench, { rounds: CUT_ROUNDS, trouble: cut });
  },
);
