// Histories: random calls of several clients on each thread while a test makes trouble; every thread's history must be
// linearizable (test/histories/linearizable.ts). A bad one is printed with its seed, shrunken and recorded.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { linearize, printed, type Call, type Op, type Result } from "../../histories/linearizable.ts";
import { record } from "../../histories/shrink.ts";
import { readSizes } from "../../histories/sizes.ts";
import { PATIENCE } from "../patience.ts";
import { ROOT } from "../server.ts";
import { type Bench, each, pause, questionsIn, seeded, until } from "./fault-server.ts";

export const {
  rounds: ROUNDS,
  cutRounds: CUT_ROUNDS,
  threads: THREADS,
  clients: CLIENTS,
  calls: CALLS,
} = readSizes().threads;
const JUMP_MS = String(24 * 60 * 60 * 1000);
export const timeout = ROUNDS > 2 ? 1_800_000 : PATIENCE.timeout;
export const SETTINGS = { BG_JOB_MAX_RETRIES: "100", BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: "1" };
const { seed, next } = seeded();

/** From 0 to 1, in the order of the seed. */
export { next };

interface Watched {
  readonly id: string;
  readonly calls: Call[];
  readonly questions: string[];
}

/** The calls of a round so far, and the next start of a server that is down. */
export interface Progress {
  made: number;
  up: Promise<unknown>;
}

/** Refusals that hang on the moment: the thread is busy, the server stops or has no storage. Nothing took place. */
const PASSING = new Set(["thread_busy", "shutting_down", "storage_unavailable", "worker_not_listed", "overloaded"]);

async function act(bench: Bench, thread: Watched, client: number, progress: Progress): Promise<void> {
  progress.made++;
  const path = `/threads/${thread.id}`;
  const known = thread.questions[Math.floor(next() * thread.questions.length)];
  const verb = chooseVerb(known !== undefined);
  const startedAt = performance.now();
  const body = { assistant_id: "ask", multitask_strategy: "reject", on_paused: "abandon" };
  const calls = {
    delete: () => bench.attempt("DELETE", path),
    cancel: () => bench.attempt("POST", "/runs/cancel", { thread_id: thread.id, status: "all" }),
    start: () => bench.attempt("POST", `${path}/runs/wait`, { ...body, input: {} }),
    answer: () =>
      bench.attempt("POST", `${path}/runs/wait`, { ...body, command: { resume: { [known ?? ""]: client } } }),
  };
  const answer = await calls[verb]();
  const { code = "", __error__: failure } = (answer?.body ?? {}) as {
    readonly code?: string;
    readonly __error__?: { readonly error: string };
  };
  if (PASSING.has(code)) return;
  if (answer === null) await progress.up; // the server is down
  const isLost =
    answer === null || code === "commit_unknown" || (verb === "answer" && CONTINUES.has(failure?.error ?? ""));
  const accepted: Result = failure?.error === "Cancelled" ? "cancelled" : "ok";
  const result: Result = isLost ? "lost" : answer.status < 300 ? accepted : "refused";
  assert.ok(answer === null || answer.status < 500 || isLost, answer?.text ?? "");
  const question = result === "ok" && verb === "start" ? (questionsIn(answer?.body)[0]?.id ?? null) : null;
  if (question !== null) thread.questions.push(question);
  const op: Op = verb === "start" ? { verb, question } : verb === "answer" ? { verb, question: known ?? "" } : { verb };
  thread.calls.push({ op, client, startedAt, endedAt: isLost ? Infinity : performance.now(), result });
}

/** Replies of a run that continues after them: a later cancellation may reopen its question. */
const CONTINUES = new Set(["ServerShutdown", "StorageError"]);

function chooseVerb(asked: boolean): Op["verb"] {
  const chance = next();
  if (chance < 0.08) return "delete";
  if (chance < 0.2) return "cancel";
  return chance < 0.42 || !asked ? "start" : "answer";
}

/** Nodes that use answers wait for a while, so that cancellations find their runs in progress. */
async function hold(bench: Bench): Promise<void> {
  bench.hold("all", "ask");
  await pause(next() * 200);
  bench.release("all", "ask");
}

/** Waits for a random part of the calls of a round. */
export async function someCalls(progress: Progress): Promise<void> {
  const wanted = THREADS * CLIENTS * CALLS * next();
  await until("enough calls", () => progress.made >= Math.floor(wanted), timeout);
}

/** Kills or stops the server during calls; every second time the clock is a day ahead. */
export async function restart(bench: Bench, round: number, progress: Progress): Promise<void> {
  await someCalls(progress);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  progress.up = promise;
  try {
    if (next() < 0.5) await bench.server.kill();
    else await bench.server.stop();
    await bench.start(round % 2 === 0 ? { HOLDPOINT_TEST_CLOCK_SHIFT_MS: JUMP_MS } : {});
  } finally {
    resolve(null);
  }
}

/** @returns the history with its last used answer once more; null without one */
function withSecondUse(history: readonly Call[]): readonly Call[] | null {
  const used = history.findLast(({ op, result }) => op.verb === "answer" && result === "ok");
  if (used === undefined) return null;
  const ends = history.map(({ endedAt }) => endedAt).filter((at) => at < Infinity);
  const startedAt = Math.max(...ends) + 1;
  return [...history, { ...used, startedAt, endedAt: startedAt + 1 }];
}

/** The connections of the previous round may still be broken. */
async function newThread(bench: Bench): Promise<string> {
  for (;;) {
    const { status, body, text } = await bench.call("POST", "/threads", {});
    if (status === 200) return (body as { readonly thread_id: string }).thread_id;
    assert.equal(status, 503, text);
    await pause(50);
  }
}

const recordBad = (history: readonly Call[], round: number): string =>
  `${printed(history)}\nshrunken:\n${record(history, join(ROOT, `dist/histories/${seed}-${round}.json`))}`;

export async function checkHistories(
  t: TestContext,
  bench: Bench,
  {
    rounds,
    trouble,
  }: { readonly rounds: number; readonly trouble: (round: number, progress: Progress) => Promise<void> },
): Promise<void> {
  t.diagnostic(`seed ${seed}`);
  const tally = { calls: 0, lost: 0, cancelled: 0, planted: 0 };
  for (let round = 0; round < rounds; round++) {
    const threads: Watched[] = [];
    for (let at = 0; at < THREADS; at++) threads.push({ id: await newThread(bench), calls: [], questions: [] });
    const clients = threads.flatMap((thread) => Array.from({ length: CLIENTS }, (_, client) => ({ thread, client })));
    const progress: Progress = { made: 0, up: Promise.resolve() };
    const troubled = Promise.all([trouble(round, progress), hold(bench)]);
    await each(clients, clients.length, async ({ thread, client }) => {
      for (let at = 0; at < CALLS; at++) await act(bench, thread, client, progress);
    });
    await troubled;
    for (const { calls: history } of threads) {
      tally.calls += history.length;
      tally.lost += history.filter(({ result }) => result === "lost").length;
      tally.cancelled += history.filter(({ result }) => result === "cancelled").length;
      const isGood = linearize(history) !== null;
      assert.ok(isGood, isGood ? "" : `seed ${seed}, round ${round}:\n${recordBad(history, round)}`);
      const bad = withSecondUse(history);
      if (bad === null) continue;
      tally.planted++;
      assert.equal(linearize(bad), null, `seed ${seed}, round ${round}, a second use is not found:\n${printed(bad)}`);
    }
  }
  const { calls, lost, cancelled, planted } = tally;
  console.log(
    `histories: ${rounds * THREADS} threads, ${calls} calls, ${lost} without a reply, ${cancelled} cancelled, all linearizable; ${planted} planted bad ones found`,
  );
  assert.ok(calls > 0);
}
