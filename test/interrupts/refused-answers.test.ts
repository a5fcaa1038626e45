// Tests of answers that only LangGraph can reject: a refinement of a Zod schema, LangGraph 1.7.
// Rules:
//   refused-answers.1. The run fails with `answer_invalid`; the thread waits again at the same interrupt, and the audit
//        trail says so.
//   refused-answers.2. A valid answer after it continues the run, and the code after the interrupt runs once.
//   refused-answers.3. A rejected default answer applies once; the interrupt stays open, overdue.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { onOldest } from "../harness/langgraph.ts";
import { call, removeFolder, startServer, temporaryFolder } from "../harness/server.ts";
import { newNotes, newThread, onlyQuestion, until } from "../harness/threads.ts";

const server = await startServer();
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

test("a default answer that is refused is given once (refused-answers.3)", options, async () => {
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
