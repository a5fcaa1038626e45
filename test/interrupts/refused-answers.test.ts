// Tests of answers that only LangGraph can reject: a refinement of a Zod schema, LangGraph 1.7.
// Rules:
//   refused-answers.1. The run fails with `answer_invalid`; the thread pauses again at the same interrupt, with an
//        entry in the audit trail.
//   refused-answers.2. A valid answer after it continues the run, and the code after the interrupt runs once.
//   refused-answers.3. A rejected default answer applies once; the interrupt stays open, overdue.
//   refused-answers.4. The same holds in a subgraph and at the second interrupt of a node; siblings keep their answers
//        and interrupts.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { onOldest } from "../harness/langgraph.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newNotes, newThread, onlyQuestion, questionsOf, until } from "../harness/threads.ts";

const server = await startServerHere();
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
  removeFolder(folder);
});

interface Entry {
  readonly action: string;
  readonly interrupt_id: string;
}
async function trail(threadId: string): Promise<readonly Entry[]> {
  const { body } = await call(server, "GET", `/threads/${threadId}/audit`);
  return (body as { readonly items: readonly Entry[] }).items;
}

const options = { skip: onOldest && "since 1.7" };

test(
  "a rejected answer leaves its interrupt open, and a valid one continues (refused-answers.1, refused-answers.2)",
  options,
  async () => {
    const thread = await newThread(server, "refined");
    const notes = newNotes(folder);
    const asked = onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
    for (const answer of [3, { [asked.id]: 5 }]) {
      const { status, body } = await thread.wait({ command: { resume: answer } });
      assert.equal(status, 200);
      const { __error__: error } = body as { readonly __error__: { readonly error: string; readonly message: string } };
      assert.equal(error.error, "answer_invalid");
      assert.match(error.message, /not an even number/);
      const now = await thread.get();
      assert.equal(now.status, "interrupted");
      assert.deepEqual(
        Object.values(now.interrupts)
          .flat()
          .map(({ id }) => id),
        [asked.id],
      );
    }
    assert.equal((await thread.resume({ [asked.id]: 4 }))["answer"], 4);
    assert.equal((await thread.get()).status, "idle");
    assert.equal(notes.count("after"), 1);
    assert.deepEqual(
      (await trail(thread.threadId)).map(({ action, interrupt_id: id }) => [action, id]),
      ["answered", "reopened", "answered", "reopened", "answered"].map((action) => [action, asked.id]),
    );
  },
);

type Asked = readonly { readonly id: string; readonly value: unknown }[];
const open = async (thread: Awaited<ReturnType<typeof newThread>>): Promise<Asked> =>
  (await thread.open()).map(({ id, value }) => ({ id, value }));

for (const [graph, before] of [
  ["refined_below", []],
  ["refined_twice", ["one"]],
] as const)
  test(`${graph}: the question keeps its id and its place (refused-answers.4)`, options, async () => {
    const thread = await newThread(server, graph);
    const notes = newNotes(folder);
    await thread.run({ input: { notes: notes.notes } });
    for (const answer of before) await thread.resume(answer);
    const asked = await open(thread);
    for (const refused of [3, { [asked[0]?.id ?? ""]: 5 }]) {
      const { __error__: error } = await thread.run({ command: { resume: refused } });
      assert.equal(error?.error, "answer_invalid");
      assert.deepEqual(await open(thread), asked);
      assert.equal((await thread.get()).status, "interrupted");
    }
    const { done } = await thread.resume({ [asked[0]?.id ?? ""]: 4 });
    assert.deepEqual(done, graph === "refined_below" ? ["below=4", "after"] : ["first=one", "second=4"]);
    assert.equal(notes.lines().length, 1);
  });

test("siblings keep their answers and questions (refused-answers.4)", options, async () => {
  const thread = await newThread(server, "refined_beside");
  const notes = newNotes(folder);
  await thread.run({ input: { notes: notes.notes } });
  const idOf = new Map((await open(thread)).map(({ id, value }) => [value, id]));
  const id = (value: string): string => idOf.get(value) ?? assert.fail(`${value} is not asked`);
  const { __error__: error } = await thread.run({ command: { resume: { [id("left")]: 3, [id("right")]: "yes" } } });
  assert.equal(error?.error, "answer_invalid");
  const left = await open(thread);
  assert.ok(
    left.some((one) => one.id === id("left")) && left.some((one) => one.id === id("waits")),
    JSON.stringify(left),
  );
  let result = await thread.resume({
    [id("left")]: 4,
    ...(left.some((one) => one.id === id("right")) ? { [id("right")]: "yes" } : {}),
  });
  assert.deepEqual(
    questionsOf(result).map(({ id: one }) => one),
    [id("waits")],
  );
  result = await thread.resume("last");
  assert.deepEqual(result["done"], ["left=4", "right=yes", "waits=last"]);
  assert.equal(notes.count("left"), 1);
  assert.equal(notes.count("right"), 1);
});

test("a refused default answer is not retried (refused-answers.3)", options, async () => {
  const thread = await newThread(server, "refined");
  await thread.run({ input: { payload: { expires_in_seconds: 0.01, on_expiry: { answer: 3 } } } });
  const entries = await until("it is open again", async () => {
    const found = await trail(thread.threadId);
    return found.some(({ action }) => action === "reopened") ? found : undefined;
  });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ["answered", "reopened"],
  );
  const { body } = await call(server, "GET", "/inbox");
  const { items } = body as { readonly items: readonly { readonly deadline: unknown; readonly overdue: boolean }[] };
  assert.deepEqual(
    items.map(({ deadline, overdue }) => [(deadline as { readonly on_expiry: unknown }).on_expiry, overdue]),
    [[null, true]],
  );
});
