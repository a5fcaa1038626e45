// Tests of concurrent runs on one thread: every strategy on every call that creates a run, over real HTTP.
// Rules:
//   multitask.1. enqueue waits, reject fails, interrupt keeps the first run's steps, rollback undoes them, input
//        included.
//   multitask.2. The replacing run executes, also if the replaced one carried an answer.
//   multitask.3. By default, runs queue.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder, type Answer } from "../harness/server.ts";
import {
  newNotes,
  newThread,
  onlyQuestion,
  readProblem,
  until,
  type TestThread,
  type WireRun,
} from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const server = await startServerHere();
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

type Strategy = "enqueue" | "reject" | "interrupt" | "rollback";

/** Ways to request a second run. Each resolves with the reply, after the server's decision. */
const CALLS: Readonly<Record<string, (thread: TestThread, body: object) => Promise<Answer>>> = {
  "POST /threads/{id}/runs": (thread, body) => call(server, "POST", `${thread.path}/runs`, body),
  "POST /threads/{id}/runs/wait": (thread, body) => call(server, "POST", `${thread.path}/runs/wait`, body),
  "POST /threads/{id}/runs/stream": (thread, body) => call(server, "POST", `${thread.path}/runs/stream`, body),
  "POST /runs": ({ threadId }, body) => call(server, "POST", "/runs", { ...body, thread_id: threadId }),
  "POST /runs/wait": ({ threadId }, body) => call(server, "POST", "/runs/wait", { ...body, thread_id: threadId }),
  "POST /runs/stream": ({ threadId }, body) => call(server, "POST", "/runs/stream", { ...body, thread_id: threadId }),
  "POST /runs/batch": ({ threadId }, body) => call(server, "POST", "/runs/batch", [{ ...body, thread_id: threadId }]),
};

/** A thread with a run in its second node, after the checkpoint of the first. The run lasts until its cancellation. */
async function busyThread(): Promise<{ readonly thread: TestThread; readonly first: WireRun }> {
  const notes = newNotes(folder);
  const thread = await newThread(server, "slow");
  const input = { waitMs: 60_000, notes: notes.notes, failures: 7 };
  const first = await thread.begin({ input, durability: "sync" });
  await notes.reached("waits");
  return { thread, first };
}

async function waitForEnd(thread: TestThread, run: WireRun | undefined): Promise<string> {
  assert.ok(run !== undefined);
  await call(server, "GET", `${thread.path}/runs/${run.run_id}/join`);
  const now = (await thread.runs()).find(({ run_id }) => run_id === run.run_id);
  return `${now?.status} ${now?.ended_by}`;
}

const SECOND = { assistant_id: "slow", input: { waitMs: 0 } };

for (const [name, ask] of Object.entries(CALLS)) {
  suite(`${name} on a busy thread (multitask.1)`, PATIENCE, () => {
    const second = async (thread: TestThread): Promise<WireRun | undefined> =>
      until("the second run is there", async () => {
        const runs = await thread.runs();
        return runs.length > 1 ? runs[0] : undefined;
      });

    for (const strategy of ["enqueue", undefined] as const) {
      test(strategy ?? "no strategy: it waits its turn (multitask.3)", async () => {
        const { thread, first } = await busyThread();
        const asked = ask(thread, { ...SECOND, ...(strategy === undefined ? {} : { multitask_strategy: strategy }) });
        const run = await second(thread);
        assert.equal(run?.status, "pending");
        await call(server, "POST", `${thread.path}/runs/${first.run_id}/cancel`);
        assert.equal(await waitForEnd(thread, first), "interrupted cancel");
        assert.equal(await waitForEnd(thread, run), "success done");
        assert.equal((await asked).status, 200);
        assert.equal((await thread.get()).values?.["failures"], 7);
      });
    }

    test("reject", async () => {
      const { thread, first } = await busyThread();
      const before = await thread.picture();
      const refused = await ask(thread, { ...SECOND, multitask_strategy: "reject" });
      assert.deepEqual([refused.status, readProblem(refused).code], [409, "thread_busy"]);
      assert.deepEqual((refused.body as { readonly active_runs: unknown }).active_runs, [first.run_id]);
      assert.deepEqual(await thread.picture(), before);
      await call(server, "DELETE", thread.path);
    });

    const GIVES_WAY: readonly (readonly [Strategy, ends: string, failures: unknown])[] = [
      ["interrupt", "interrupted cancel", 7],
      ["rollback", "error rollback", undefined],
    ];
    for (const [strategy, ends, failures] of GIVES_WAY) {
      test(strategy, async () => {
        const { thread, first } = await busyThread();
        const waits = await thread.begin({ input: {} });
        const asked = ask(thread, { ...SECOND, multitask_strategy: strategy });
        assert.equal(await waitForEnd(thread, first), ends);
        assert.equal(await waitForEnd(thread, waits), ends, "and so does what waited behind it");
        const [run] = await thread.runs();
        assert.equal(await waitForEnd(thread, run), "success done");
        assert.equal((await asked).status, 200);
        const { values, status } = await thread.get();
        assert.deepEqual([values?.["failures"], values?.["waitMs"], status], [failures, 0, "idle"]);
        const own = (await thread.history()).filter(({ metadata }) => metadata["run_id"] === first.run_id);
        assert.equal(own.length > 0, strategy === "interrupt");
      });
    }
  });
}

suite("a run that was answering (multitask.2)", PATIENCE, () => {
  for (const strategy of ["interrupt", "rollback"] as const) {
    test(`${strategy}: the new run is not held up by the question that it leaves`, async () => {
      const notes = newNotes(folder);
      const thread = await newThread(server, "ask_slowly");
      const question = onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
      const answering = await thread.begin({ command: { resume: { [question.id]: "yes" } } });
      await notes.reached("works");
      const asked = onlyQuestion(await thread.run({ input: { notes: notes.notes }, multitask_strategy: strategy }));
      assert.equal(
        await waitForEnd(thread, answering),
        strategy === "interrupt" ? "interrupted cancel" : "error rollback",
      );
      assert.deepEqual(
        (await thread.open()).map(({ id }) => id),
        [asked.id],
      );
    });
  }

  test("without another run in its place, its question waits again", async () => {
    const notes = newNotes(folder);
    const thread = await newThread(server, "ask_slowly");
    const question = onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
    const answering = await thread.begin({ command: { resume: { [question.id]: "yes" } } });
    await notes.reached("works");
    await call(server, "POST", `${thread.path}/runs/${answering.run_id}/cancel?wait=1`);
    assert.deepEqual(
      (await thread.open()).map(({ id }) => id),
      [question.id],
    );
  });
});
