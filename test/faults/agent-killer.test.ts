// One run that kills its process, and innocent concurrent runs (packages/server/ARCHITECTURE.md, "Crash recovery").
//   agent-killer.1. All innocent runs end in success: the server neither gives them up nor blames them.
//   agent-killer.2. The server gives the killer up after the permitted number of solo deaths.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Bench, FULL, until, within } from "../harness/faults/fault-server.ts";
import { PATIENCE } from "../harness/patience.ts";

const INNOCENTS = 5;
const RETRIES = FULL ? 3 : 1;
/** Far more than needed: one death with the others, then the solo ones. */
const DEATHS_MAX = RETRIES + 6;

const bench = new Bench({ BG_JOB_MAX_RETRIES: String(RETRIES) });
before(() => bench.start());
after(() => bench.end());

test(
  `a run that kills its process takes none of ${INNOCENTS} innocent runs along (agent-killer.1, agent-killer.2)`,
  PATIENCE,
  async () => {
    const begin = async (graph: string, node: string): Promise<string> => {
      const thread = await bench.newThread();
      bench.hold(thread, node);
      await bench.post(`/threads/${thread}/runs`, { assistant_id: graph, input: {} });
      return thread;
    };
    const innocents = await Promise.all(Array.from({ length: INNOCENTS }, () => begin("steps", "two")));
    const killer = await begin("killer", "kill");
    for (const thread of innocents) await bench.sees(thread, "two starts");
    await bench.sees(killer, "kill");
    bench.release(killer, "kill");
    let deaths = 0;
    const die = (): void => assert.ok(++deaths <= DEATHS_MAX, `${deaths} deaths`);
    const startAgain = async (): Promise<void> => {
      await bench.start().catch(async (error: unknown) => {
        assert.match(String(error), /\(SIGKILL\) before it listened/); // of the run that it recovered
        die();
        await startAgain();
      });
    };
    for (;;) {
      const died = bench.server.exited.then(() => "died" as const);
      const ended = until("the killer is given up", async () => {
        const runs = await bench.runs(killer).catch(() => []);
        return runs.some(({ status }) => status === "error");
      }).then(
        () => "ended" as const,
        () => "late" as const,
      );
      const next = await within("the process dies, or the killer is given up", Promise.race([died, ended]), 90_000);
      if (next === "ended") break;
      assert.equal(next, "died");
      die();
      for (const thread of innocents) bench.release(thread, "two");
      await startAgain();
    }
    for (const thread of innocents) {
      await bench.settled(thread);
      assert.deepEqual(
        (await bench.runs(thread)).map(({ status }) => status),
        ["success"],
      ); // agent-killer.1
    }
    console.log(`killer: ${deaths} deaths, given up; ${INNOCENTS} of ${INNOCENTS} innocent runs ended in success`);
    assert.equal(deaths, RETRIES + 2); // agent-killer.2: once with the others, then alone
  },
);
