// Tests of answers that only LangGraph can reject (a refinement of a Zod schema, LangGraph 1.7), and of answers and
// interrupts that are too large.
// Rules:
//   refused-answers.1. The run fails with `answer_invalid`; the thread pauses again at the same interrupt, with an
//        entry in the audit trail.
//   refused-answers.2. A valid answer after it continues the run, and the code after the interrupt runs once.
//   refused-answers.3. A rejected default answer applies once; the interrupt stays open, overdue.
//   refused-answers.4. The same holds in a subgraph and at the second interrupt of a node; siblings keep their answers
//        and interrupts.
//   refused-answers.5. Answers of one call above the limit get 413, on every way; their interrupts
//        stay open. Those of exactly that size are accepted.
//   refused-answers.6. A run that passes more than the limit to interrupt() fails, and names the
//        setting. The thread takes new runs.
//   refused-answers.7. So does a run that asks with a pattern that RE2 does not have; the message names the pattern.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { onOldest } from "../harness/langgraph.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newNotes, newThread, onlyQuestion, listQuestions, followLog } from "../harness/threads.ts";

const ANSWER_BYTES_MAX = 20_000;
const INTERRUPT_BYTES_MAX = 40_000;
const server = await startServerHere({
  limits: { answerBytesMax: ANSWER_BYTES_MAX, interruptBytesMax: INTERRUPT_BYTES_MAX },
});
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
  const idByValue = new Map((await open(thread)).map(({ id, value }) => [value, id]));
  const id = (value: string): string => idByValue.get(value) ?? assert.fail(`${value} is not asked`);
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
    listQuestions(result).map(({ id: one }) => one),
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
  const entries = await followLog(server, "it is open again", async () => {
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

/** A text whose JSON has `bytes` bytes: each `ü` has two, and the quotes one each. */
const fillText = (bytes: number): string => "ü".repeat((bytes - 2) / 2);

test("a large answer is refused on every way, and its interrupt stays open (refused-answers.5)", async () => {
  const thread = await newThread(server, "echo");
  const { id } = onlyQuestion(await thread.run({ input: { payload: "?" } }));
  const large = fillText(ANSWER_BYTES_MAX + 2);
  const { threadId, path } = thread;
  const command = { id: 1, method: "input.respond", params: { interrupt_id: id, namespace: [], response: large } };
  const ways: readonly (readonly [path: string, body: object])[] = [
    [`${path}/runs/wait`, { assistant_id: "echo", command: { resume: large } }],
    [`${path}/runs`, { assistant_id: "echo", command: { resume: { [id]: large } } }],
    [`${path}/runs/stream`, { assistant_id: "echo", command: { resume: large } }],
    ["/inbox/answers", { answers: [{ thread_id: threadId, interrupt_id: id, resume: large }] }],
    [`${path}/commands`, command],
  ];
  for (const [at, body] of ways) {
    const { status, text } = await call(server, "POST", at, body);
    assert.match(text, /answer_too_large|more than 20000 bytes/, `${at}: ${status} ${text}`);
    if (at.includes("/runs")) assert.equal(status, 413, text);
    assert.deepEqual(await open(thread), [{ id, value: "?" }], at);
  }
  const fitting = fillText(ANSWER_BYTES_MAX);
  assert.ok(isDeepStrictEqual((await thread.resume(fitting))["answer"], [fitting])); // without a difference of texts
});

for (const durability of ["sync", "async", "exit"]) {
  test(`a large interrupt fails its run (${durability}, refused-answers.6)`, async () => {
    const thread = await newThread(server, "echo");
    const result = await thread.run({ input: { payload: fillText(INTERRUPT_BYTES_MAX + 2) }, durability });
    const { error, message } = result.__error__ ?? {};
    assert.equal(error, "interrupt_too_large", JSON.stringify(result).slice(0, 500));
    assert.match(message ?? "", /40000 are allowed/);
    assert.deepEqual([(await thread.get()).status, await open(thread)], ["error", []]);
    onlyQuestion(await thread.run({ input: { payload: "?" } }));
    assert.deepEqual((await thread.resume("yes"))["answer"], ["yes"]);
  });
}

test("a question whose answers cannot be checked fails its run (refused-answers.7)", async () => {
  const thread = await newThread(server, "echo");
  const form = (pattern: string) => ({ question: "Which?", response_schema: { type: "string", pattern } });
  const result = await thread.run({ input: { payload: form("^(?=.*[0-9])a+$") } });
  const { error, message } = result.__error__ ?? {};
  assert.equal(error, "response_schema_refused", JSON.stringify(result).slice(0, 500));
  assert.match(message ?? "", /"\^\(\?=\.\*\[0-9\]\)a\+\$".*lookaround/);
  assert.deepEqual([(await thread.get()).status, await open(thread)], ["error", []]);
  onlyQuestion(await thread.run({ input: { payload: form("^a+$") } }));
  assert.deepEqual((await thread.resume("aa"))["answer"], ["aa"]);
});
