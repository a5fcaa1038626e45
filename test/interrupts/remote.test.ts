// Tests of questions that a RemoteGraph asks (graphs/langgraph/remote-answers.ts), on two servers.
// Rules:
//   interrupts/remote.1. The question is shown once, and its answer continues the thread that asked, exactly once.
//   interrupts/remote.2. An answer that the other server refuses leaves the question open, with the reason.
//   interrupts/remote.3. What cannot be answered is asked again.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import {
  type Notes,
  type TestThread,
  newNotes,
  newThread,
  onlyQuestion,
  openThread,
  listQuestions,
  until,
} from "../harness/threads.ts";

const graphs = (name: string): string => join(ROOT, "test", "graphs", "remote", name);
const there = await startServerHere({ config: graphs("there.json") });
process.env["REMOTE_URL"] = there.url;
const here = await startServerHere({ config: graphs("here.json") });
const folder = temporaryFolder();
after(async () => {
  await here.stop();
  await there.stop();
  for (const path of [here.dataDir, there.dataDir, folder]) removeFolder(path);
});

/** An assistant of the other server, with rules that only it knows. */
const REVIEWED = "5d6f2f0e-5f3d-4c55-9d6e-0c9f0a6b7d11";

interface Paused {
  readonly thread: TestThread;
  readonly notes: Notes;
  readonly id: string;
}

async function pause(graph: string, input: object = {}): Promise<Paused> {
  const thread = await newThread(here, graph);
  const notes = newNotes(folder);
  const { id } = onlyQuestion(await thread.run({ input: { notes: notes.notes, ...input } }));
  return { thread, notes, id };
}

suite("a question of a RemoteGraph (interrupts/remote.1)", () => {
  for (const graph of ["node", "called", "below"])
    for (const answer of ["yes", false, null])
      test(`${graph}: ${JSON.stringify(answer)} continues the other thread once`, PATIENCE, async () => {
        const { thread, notes, id } = await pause(graph);
        const inbox = await call(here, "GET", `/inbox?thread_id=${thread.threadId}`);
        assert.equal((inbox.body as { readonly items: readonly unknown[] }).items.length, 1);
        const { log, ...end } = await thread.resume({ [id]: answer });
        const told = `there <- ${JSON.stringify(answer)}`;
        assert.deepEqual([log, end.__error__, end.__interrupt__], [[told, "after"], undefined, undefined]);
        assert.deepEqual(notes.lines(), ["begun", told, "after"]);
        assert.equal((await openThread(there, "asking", thread.threadId).get()).status, "idle");
      });

  test("a second question follows the answer to the first", PATIENCE, async () => {
    const { thread, notes, id } = await pause("twice");
    const second = onlyQuestion(await thread.resume({ [id]: 1 }));
    assert.deepEqual([second.value, second.id === id], ["two?", false]);
    const { log } = await thread.resume({ [second.id]: 2 });
    assert.deepEqual(log, ["one <- 1", "two <- 2", "after"]);
    assert.deepEqual(notes.lines(), ["begun", "one <- 1", "two <- 2", "after"]);
  });

  test("two questions are answered one by one, or together", PATIENCE, async () => {
    for (const together of [true, false]) {
      const thread = await newThread(here, "several");
      const notes = newNotes(folder);
      const [one, two] = listQuestions(await thread.run({ input: { notes: notes.notes } }));
      assert.ok(one !== undefined && two !== undefined);
      if (!together) {
        const left = onlyQuestion(await thread.resume({ [two.id]: "b" }));
        assert.deepEqual([left.id, left.value], [one.id, "one?"]);
      }
      const { log } = await thread.resume(together ? { [one.id]: "a", [two.id]: "b" } : { [one.id]: "a" });
      assert.deepEqual(log, ['one <- "a"', 'two <- "b"', "after"]);
      assert.deepEqual(notes.lines().toSorted(), ["after", "begun", 'one <- "a"', 'two <- "b"']);
    }
  });

  test("the answer to a question beside it keeps it open, under its id", PATIENCE, async () => {
    const thread = await newThread(here, "besideLocal");
    const notes = newNotes(folder);
    const both = listQuestions(await thread.run({ input: { notes: notes.notes } }));
    const [remote, local] = ["there?", "local?"].map((value) => both.find((one) => one.value === value)?.id ?? "");
    const left = onlyQuestion(await thread.resume({ [local ?? ""]: 1 }));
    assert.equal(left.id, remote);
    await thread.resume({ [remote ?? ""]: 2 });
    assert.deepEqual(notes.lines(), ["begun", "there <- 2", "after"]);
  });

  test("two tasks on one thread ask one after the other", PATIENCE, async () => {
    const thread = await newThread(here, "parallel");
    const notes = newNotes(folder);
    let result = await thread.run({ input: { notes: notes.notes } });
    const asked: unknown[] = [];
    while (result.__interrupt__ !== undefined) {
      const { id, value } = onlyQuestion(result);
      asked.push(value);
      result = await thread.resume({ [id]: asked.length });
    }
    assert.equal(result.__error__, undefined);
    assert.deepEqual(
      asked.map(String).toSorted((a, b) => a.localeCompare(b)),
      ["one?", "there?", "two?"],
    );
    const told = asked.map((value, at) => `${String(value).slice(0, -1)} <- ${at + 1}`);
    assert.deepEqual(
      notes.lines().filter((line) => line !== "begun"),
      told,
    );
    assert.equal(notes.count("begun"), 2);
  });
});

const HITL = {
  action_requests: [{ name: "refund", args: {} }],
  review_configs: [{ action_name: "refund", allowed_decisions: ["approve"] }],
};

test("the rules of the question hold here, as the other server derives them (interrupts/remote.2)", async () => {
  const { thread, notes, id } = await pause("node", { payload: HITL });
  for (const wrong of [{ decisions: [] }, { decisions: [{ type: "reject" }] }, "yes", null]) {
    const { status, text } = await thread.wait({ command: { resume: { [id]: wrong } } });
    assert.equal(status, 422, text);
  }
  const yes = { decisions: [{ type: "approve" }] };
  assert.deepEqual((await thread.resume({ [id]: yes }))["log"], [`there <- ${JSON.stringify(yes)}`, "after"]);
  assert.equal(notes.count("begun"), 1);
});

test("a refused answer leaves the question open, with the reason (interrupts/remote.2)", PATIENCE, async () => {
  const review = { assignees: ["ann"] };
  const made = { assistant_id: REVIEWED, graph_id: "asking", metadata: { interrupt_review: review } };
  assert.equal((await call(there, "POST", "/assistants", made)).status, 200);
  const { thread, notes, id } = await pause("reviewed");
  for (let attempt = 0; attempt < 5; attempt++) {
    const { __error__: error } = await thread.resume({ [id]: "yes" });
    assert.equal(error?.error, "answer_invalid");
    assert.match(error.message, /refused the answer \(403 reviewer_not_assigned\)/);
    const { body } = await call(here, "GET", `/inbox/${thread.threadId}/${id}`);
    const item = body as { readonly state: string; readonly failed_answer: { readonly message: string } };
    assert.deepEqual([item.state, item.failed_answer.message], ["open", error.message]);
    assert.equal((await openThread(there, "asking", thread.threadId).open()).length, 1);
  }
  assert.deepEqual(notes.lines(), ["begun"]);
});

test("an answer at which the other node throws is asked again (interrupts/remote.2)", PATIENCE, async () => {
  const { thread, notes, id } = await pause("node");
  const failed = await thread.resume({ [id]: "throw" });
  assert.match(failed.__error__?.message ?? "", /not this/);
  assert.deepEqual(
    (await thread.open()).map((one) => one.id),
    [id],
  );
  assert.deepEqual((await thread.resume({ [id]: "fine" }))["log"], ['there <- "fine"', "after"]);
  assert.equal(notes.count("begun"), 1);
});

test("a call that waits for a pause of another run fails with its reason (interrupts/remote.3)", PATIENCE, async () => {
  const other = await newThread(there, "late");
  const notes = newNotes(folder);
  await other.begin({ input: { notes: notes.notes } });
  const thread = await newThread(here, "shared");
  const run = await thread.begin({ input: { notes: notes.notes, payload: other.threadId } });
  await until("its call is queued there", async () => ((await other.runs()).length === 2 ? true : undefined));
  writeFileSync(`${notes.notes}.go`, "");
  const { __error__: error } = await thread.join(run);
  assert.deepEqual([error?.error, error?.message.includes("thread of its own")], ["thread_paused", true]);
  assert.deepEqual(
    (await other.runs()).map(({ ended_by: by, status }) => by ?? status),
    ["cancel", "pause"],
  );
});

test("a thread that nobody can reach again is asked anew (interrupts/remote.3)", PATIENCE, async () => {
  const { thread, notes, id } = await pause("anew");
  const next = onlyQuestion(await thread.resume({ [id]: "yes" }));
  assert.deepEqual([next.value, next.id === id], ["there?", false]);
  assert.deepEqual(notes.lines(), ["begun", "begun"]);
});

test("a thread that was deleted there is asked anew (interrupts/remote.3)", PATIENCE, async () => {
  const { thread, notes, id } = await pause("node");
  await call(there, "DELETE", thread.path);
  const next = onlyQuestion(await thread.resume({ [id]: "yes" }));
  assert.notEqual(next.id, id);
  assert.deepEqual((await thread.resume({ [next.id]: "yes" }))["log"], ['there <- "yes"', "after"]);
  assert.deepEqual(notes.lines(), ["begun", "begun", 'there <- "yes"', "after"]);
});

test("a question that was answered there is continued here with null (interrupts/remote.3)", PATIENCE, async () => {
  const { thread, notes, id } = await pause("node");
  await openThread(there, "asking", thread.threadId).resume({ [id]: "there" });
  const refused = await thread.resume({ [id]: "here" });
  assert.match(refused.__error__?.message ?? "", /409 (interrupt_stale|no_pending_interrupt)/);
  const { log } = await thread.run({ input: null });
  assert.deepEqual(log, ['there <- "there"', "after"]);
  assert.deepEqual(notes.lines(), ["begun", 'there <- "there"', "after"]);
});
