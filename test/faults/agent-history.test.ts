// Random calls of several clients on each thread, with kills and stops of the server: every thread's history is
// linearizable (linearizable.ts).
//   agent-history.1. Starts, answers and deletions of a thread take place one after the other, each once or not at all,
//        within the time of their call, as the answers of the server say; a question takes one answer.
//   agent-history.2. The test prints a bad history with its seed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Bench, each, FULL, pause, questionsIn, seeded } from "../harness/faults/fault-server.ts";
import { linearize, printed, type Call, type Op, type Result } from "../harness/faults/linearizable.ts";
import { PATIENCE } from "../harness/patience.ts";

const [ROUNDS, THREADS, CLIENTS, CALLS] = FULL ? [60, 12, 4, 5] : [2, 4, 3, 3];
const JUMP_MS = String(24 * 60 * 60 * 1000);
const timeout = FULL ? 1_800_000 : PATIENCE.timeout;

const bench = new Bench({ BG_JOB_MAX_RETRIES: "100", BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "1" });
before(() => bench.start());
after(() => bench.end());
const { seed, next } = seeded();

interface Watched {
  readonly id: string;
  readonly calls: Call[];
  readonly questions: string[];
}

/** Refusals that hang on the moment: the thread is busy, the server stops or has no storage. Nothing took place. */
const PASSING = new Set(["thread_busy", "shutting_down", "storage_unavailable", "overloaded"]);

async function act(thread: Watched, client: number): Promise<void> {
  const path = `/threads/${thread.id}`;
  const chance = next();
  const known = thread.questions[Math.floor(next() * thread.questions.length)];
  const verb = chance < 0.08 ? "delete" : chance < 0.35 || known === undefined ? "start" : "answer";
  const startedAt = performance.now();
  const body = { assistant_id: "ask", multitask_strategy: "reject" };
  const sent =
    verb === "delete"
      ? bench.attempt("DELETE", path)
      : verb === "start"
        ? bench.attempt("POST", `${path}/runs/wait`, { ...body, input: {} })
        : bench.attempt("POST", `${path}/runs/wait`, { ...body, command: { resume: { [known ?? ""]: client } } });
  const answer = await sent;
  const code = (answer?.body as { readonly code?: string } | undefined)?.code ?? "";
  if (PASSING.has(code)) return;
  if (answer === null) await pause(200); // the server is down: calls continue after its start
  const isLost = answer === null || code === "commit_unknown";
  const result: Result = isLost ? "lost" : answer.status < 300 ? "ok" : "refused";
  assert.ok(answer === null || answer.status < 500 || isLost, answer?.text ?? "");
  const question = result === "ok" && verb === "start" ? (questionsIn(answer?.body)[0]?.id ?? null) : null;
  if (question !== null) thread.questions.push(question);
  const op: Op = verb === "start" ? { verb, question } : verb === "answer" ? { verb, question: known ?? "" } : { verb };
  thread.calls.push({ op, client, startedAt, endedAt: isLost ? Infinity : performance.now(), result });
}

/** Kills or stops the server while calls are under way; every second time the clock is a day on. */
async function trouble(round: number): Promise<void> {
  await pause(next() * 200);
  if (next() < 0.5) await bench.server.kill();
  else await bench.server.stop();
  await bench.start(round % 2 === 0 ? { HOLDPOINT_TEST_CLOCK_SHIFT_MS: JUMP_MS } : {});
}

test(
  `${ROUNDS} rounds of ${THREADS} threads: every history is linearizable (agent-history.1, agent-history.2)`,
  { timeout },
  async (t) => {
    t.diagnostic(`seed ${seed}`);
    let [calls, lost] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const threads: Watched[] = [];
      for (let at = 0; at < THREADS; at++) threads.push({ id: await bench.newThread(), calls: [], questions: [] });
      const clients = threads.flatMap((thread) => Array.from({ length: CLIENTS }, (_, client) => ({ thread, client })));
      const troubled = trouble(round);
      await each(clients, clients.length, async ({ thread, client }) => {
        for (let at = 0; at < CALLS; at++) await act(thread, client);
      });
      await troubled;
      for (const { calls: history } of threads) {
        calls += history.length;
        lost += history.filter(({ result }) => result === "lost").length;
        assert.ok(linearize(history) !== null, `seed ${seed}, round ${round}:\n${printed(history)}`); // agent-history.2
      }
    }
    console.log(`histories: ${ROUNDS * THREADS} threads, ${calls} calls, ${lost} without an answer, all linearizable`);
    assert.ok(calls > 0);
  },
);
