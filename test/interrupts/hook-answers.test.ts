// Tests of answers as `useStream` of the SDK up to 1.12.4 sends them: with the checkpoint on the page.
// Rules:
//   hook-answers.1. Of two pages that answer one interrupt at once, one succeeds; the side effect after the interrupt
//        happens once.
//   hook-answers.2. A stale page fails later too, and gets the run with the accepted answer.
//   hook-answers.3. `fork: true` answers the interrupt again, and the audit trail calls it a fork.
//   hook-answers.4. Other members have no effect: other input, and unknown members of the command.
//   hook-answers.5. At a breakpoint the hook's answer continues the run.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { call, removeFolder, temporaryFolder, type Answer } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newNotes, newThread, onlyQuestion, readProblem, type TestThread, type WireState } from "../harness/threads.ts";

const server = await startServerHere();
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const ROUNDS = 15;

/** The request of `submit({}, { command: { resume } })` of 1.12.4 on a page with this state. */
async function hookBody(thread: TestThread, resume: unknown, command: object = {}): Promise<object> {
  const { thread_id: _thread, ...checkpoint } = (await thread.state()).checkpoint as WireState["checkpoint"] & {
    readonly thread_id: string;
  };
  return {
    assistant_id: "echo",
    input: {},
    command: { resume, ...command },
    checkpoint,
    stream_mode: ["values", "updates", "messages-tuple"],
    stream_resumable: true,
    on_disconnect: "continue",
  };
}

const send = (thread: TestThread, body: object): Promise<Answer> =>
  call(server, "POST", `${thread.path}/runs/stream`, body);

async function askedThread() {
  const notes = newNotes(folder);
  const thread = await newThread(server, "echo");
  const question = onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
  return { thread, notes, question };
}

test(`two pages answer at once, ${ROUNDS} times: one is accepted (hook-answers.1)`, PATIENCE, async () => {
  let accepted = 0;
  let paid = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { thread, notes } = await askedThread();
    const body = await hookBody(thread, "approve");
    const answers = await Promise.all([send(thread, body), send(thread, body)]);
    accepted += answers.filter(({ status }) => status === 200).length;
    assert.deepEqual(
      answers.map(({ status }) => status).sort((one, other) => one - other),
      [200, 409],
    );
    paid += notes.count("after");
  }
  assert.deepEqual([accepted, paid], [ROUNDS, ROUNDS]);
});

test("a stale page is rejected, with the outcome of its interrupt (hook-answers.2)", PATIENCE, async () => {
  const { thread, notes, question } = await askedThread();
  const body = await hookBody(thread, "approve");
  assert.equal((await send(thread, body)).status, 200);
  for (const resume of ["approve", { [question.id]: "approve" }]) {
    const late = await send(thread, { ...body, command: { resume } });
    const problem = readProblem(late);
    assert.deepEqual([late.status, problem.code], [409, "interrupt_stale"]);
    assert.deepEqual([problem.answered?.interrupt_id, problem.answered?.same_value], [question.id, true]);
    assert.match(late.headers.get("location") ?? "", new RegExp(problem.answered?.run_id ?? "none"));
  }
  await thread.run({ input: { notes: notes.notes } });
  const other = await send(thread, body);
  assert.equal(readProblem(other).code, "interrupt_stale", "the answer is not taken for another question");
  assert.equal((await thread.open()).length, 1);
  assert.equal(notes.count("after"), 1);
});

test("an abandoned question is refused the same way, without `answered` (hook-answers.2)", PATIENCE, async () => {
  const { thread } = await askedThread();
  const body = await hookBody(thread, "approve");
  await thread.run({ command: { goto: "__end__" } });
  const problem = readProblem(await send(thread, body));
  assert.equal(problem.code, "interrupt_stale");
  assert.match(problem.detail, /abandoned/);
  assert.equal(problem.answered, undefined);
});

test("with fork: true the answer is a fork, and is audited as one (hook-answers.3)", PATIENCE, async () => {
  const { thread, notes } = await askedThread();
  const body = await hookBody(thread, "first");
  const fork = await hookBody(thread, "second", { fork: true });
  assert.equal((await send(thread, body)).status, 200);
  assert.equal((await send(thread, fork)).status, 200);
  assert.deepEqual((await thread.state()).values["answer"], ["second"]);
  assert.equal(notes.count("after"), 2);
  const { items } = (await call(server, "GET", `${thread.path}/audit`)).body as {
    readonly items: readonly { readonly action: string }[];
  };
  assert.deepEqual(
    items.map(({ action }) => action),
    ["answered", "answered_as_fork"],
  );
  const odd = await send(thread, { ...fork, command: { resume: 1, fork: "yes" } });
  assert.deepEqual([odd.status, readProblem(odd).code], [422, "invalid_request"]);
});

test("other input and unknown members have no effect on an answer (hook-answers.4)", PATIENCE, async () => {
  for (const extra of [
    { input: { payload: "other" } },
    { input: { messages: [{ role: "user", content: "AG-UI sends the whole state" }] } },
    { command: { resume: "yes", lg_name: "Command", graph: null, interruptId: "x", update: null, goto: [] } },
  ]) {
    const { thread } = await askedThread();
    const { status, text } = await send(thread, { ...(await hookBody(thread, "yes")), ...extra });
    assert.equal(status, 200, text);
    const { values } = await thread.state();
    assert.deepEqual([values["answer"], values["payload"]], [["yes"], undefined]);
  }
});

test(
  "at a breakpoint the hook's answer continues the run, and that of a stale page does not (hook-answers.5)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "steps");
    const stop = { interrupt_before: ["node_b", "node_c"] };
    await thread.run({ input: { visited: [] }, ...stop });
    const body = { ...(await hookBody(thread, true)), assistant_id: "steps" };
    assert.equal((await send(thread, { ...body, ...stop })).status, 200);
    assert.deepEqual((await thread.state()).next, ["node_c"]);
    const late = await send(thread, body);
    assert.deepEqual([late.status, readProblem(late).code], [409, "no_pending_interrupt"]);
    assert.deepEqual((await thread.state()).next, ["node_c"]);
  },
);
