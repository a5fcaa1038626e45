// Tests of answers that were not used, of runs that a state refuses, and of what a continuing run inherits.
//   unused-answers.1. A run that fails before its node takes the answer, or at it, opens the question again. A good
//        answer after that continues the thread.
//   unused-answers.2. Siblings keep their answers and questions, and do not run again.
//   unused-answers.3. After a limited number of answers at which the node threw, the thread fails; a person can ask
//        again.
//   unused-answers.4. A value that the state refuses ends its run and nothing else: reads are 200, the question is open,
//        the next good input works.
//   unused-answers.5. A run that continues a thread has the context, tags and limits of the run that asked. A context
//        that does not match the schema is refused before anything is accepted.
//   unused-answers.6. Values without a stored form end the run by name. Errors keep name, message and code.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { join } from "node:path";
import { PATIENCE } from "../harness/patience.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newNotes, newThread, onlyQuestion, readProblem, type TestThread, followLog } from "../harness/threads.ts";

const server = await startServerHere({
  config: join(ROOT, "test", "graphs", "paused", "langgraph.json"),
  env: { BG_JOB_TIMEOUT_SECS: "2" },
  limits: { askAgainMax: 2 },
});
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

interface Entry {
  readonly action: string;
  readonly by: string;
}
const trail = async ({ threadId }: TestThread): Promise<readonly string[]> => {
  const { body } = await call(server, "GET", `/threads/${threadId}/audit`);
  return (body as { readonly items: readonly Entry[] }).items.map(({ action }) => action);
};

interface ShownItem {
  readonly state: string;
  readonly failed_answer?: { readonly error: string; readonly message: string; readonly times: number };
}
const readShownItem = async ({ threadId }: TestThread, id: string): Promise<ShownItem> =>
  (await call(server, "GET", `/inbox/${threadId}/${id}`)).body;

/** Every read of the thread and of its state. */
async function checkReads({ path, threadId }: TestThread): Promise<void> {
  for (const end of ["", "/state", "/state?subgraphs=true", "/history", "/audit"]) {
    const { status, text } = await call(server, "GET", `${path}${end}`);
    assert.equal(status, 200, `${end}: ${text}`);
  }
  for (const method of ["state.get", "state.listCheckpoints", "agent.getTree"]) {
    const answer = await call(server, "POST", `${path}/commands`, { id: 1, method, params: {} });
    assert.equal(
      (answer.body as { readonly type: string }).type,
      "success",
      `${method} of ${threadId}: ${answer.text}`,
    );
  }
}

const WIZARD = { messages: [{ role: "wizard", content: "x" }] };

/** Answers that are not used; `times` counts for the limit. */
const UNUSED = [
  { name: "the node throws", graph: "strict", body: { command: { resume: "bad" } }, times: 1 },
  { name: "the node hangs", graph: "strict", body: { command: { resume: "hang" } }, times: 0 },
  {
    name: "the update is refused",
    graph: "strict",
    body: { command: { resume: "ok", update: { sum: -1 } } },
    times: 0,
  },
  { name: "the node's result is refused", graph: "refusing", body: { command: { resume: "negative" } }, times: 1 },
  {
    name: "a subgraph's result is refused",
    graph: "refusing_below",
    body: { command: { resume: "negative" } },
    times: 1,
  },
  {
    name: "a message has an unknown role",
    graph: "chat",
    body: { command: { resume: "yes", update: WIZARD } },
    times: 0,
  },
  {
    name: "the factory throws",
    graph: "made",
    body: { command: { resume: "ok" }, config: { configurable: { broken: true } } },
    times: 0,
  },
  {
    name: "a breakpoint names no node of the made graph",
    graph: "made",
    body: { command: { resume: "ok" }, interrupt_before: ["nowhere"] },
    times: 0,
  },
];

for (const durability of ["async", "sync", "exit"])
  for (const { name, graph, body, times } of UNUSED) {
    if (durability !== "async" && body.command.resume === "hang") continue;
    test(
      `${name}: the question is open again, with durability ${durability} (unused-answers.1, unused-answers.4)`,
      PATIENCE,
      async () => {
        const thread = await newThread(server, graph);
        const input = graph === "chat" ? { messages: [{ role: "user", content: "hi" }] } : {};
        const asked = onlyQuestion(await thread.run({ input, durability }));
        const failed = await thread.run({ ...body, durability });
        assert.ok(failed.__error__ !== undefined, JSON.stringify(failed));
        assert.deepEqual(
          (await thread.open()).map(({ id }) => id),
          [asked.id],
        );
        assert.equal((await thread.get()).status, "interrupted");
        const { failed_answer: failure } = await readShownItem(thread, asked.id);
        assert.deepEqual([failure?.error, failure?.times], [failed.__error__.error, times]);
        assert.deepEqual(await trail(thread), ["answered", "reopened"]);
        await checkReads(thread);
        const again = onlyQuestion(await thread.run({ input: null, durability }));
        assert.equal(again.id, asked.id, "a continuation asks, and does not use the failed answer");
        const done = await thread.run({
          command: { resume: { [asked.id]: "good" } },
          durability,
        });
        assert.equal(done.__error__, undefined, JSON.stringify(done));
        assert.equal((await thread.get()).status, "idle");
        await checkReads(thread);
      },
    );
  }

test("siblings keep their answers and questions (unused-answers.2)", PATIENCE, async () => {
  const thread = await newThread(server, "beside");
  const notes = newNotes(folder);
  await thread.run({ input: { notes: notes.notes } });
  const ids = new Map((await thread.open()).map(({ id, value }) => [value, id]));
  const id = (name: string): string => ids.get(name) ?? assert.fail(name);
  await thread.run({ command: { resume: { [id("left")]: "bad" } } });
  assert.deepEqual(
    (await thread.open()).map(({ value }) => value),
    ["left", "right"],
  );
  await thread.run({ command: { resume: { [id("right")]: "fine" } } });
  assert.deepEqual(
    (await thread.open()).map(({ value }) => value),
    ["left"],
  );
  await thread.run({ command: { resume: { [id("left")]: "bad again" } } });
  assert.deepEqual(
    (await thread.open()).map(({ value }) => value),
    ["left"],
  );
  const { log } = await thread.run({ command: { resume: { [id("left")]: "good" } } });
  assert.deepEqual((log as readonly string[]).toSorted(), ["after", "left=good", "plain", "right=fine"]);
  assert.equal(notes.count("plain"), 1);
  assert.equal(notes.count("right"), 1);
});

test(
  "a node that throws at every answer is asked again twice; then a person asks (unused-answers.3)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "strict");
    const asked = onlyQuestion(await thread.run({ input: {} }));
    for (const status of ["interrupted", "interrupted", "error"]) {
      await thread.run({ command: { resume: { [asked.id]: "bad" } } });
      assert.equal((await thread.get()).status, status);
    }
    const item = await readShownItem(thread, asked.id);
    assert.deepEqual(
      [item.state, item.failed_answer?.message, item.failed_answer?.times],
      ["answered", "bad is not good", 3],
    );
    const path = `/inbox/${thread.threadId}/${asked.id}/ask-again`;
    assert.equal((await call(server, "POST", path, { by: "ann" })).status, 200);
    await thread.reaches("interrupted");
    assert.deepEqual(
      (await thread.open()).map(({ id }) => id),
      [asked.id],
    );
    assert.equal((await readShownItem(thread, asked.id)).failed_answer?.message, "bad is not good");
    assert.equal((await call(server, "POST", path, { by: "ann" })).status, 200, "an open item stays as it is");
    await thread.resume({ [asked.id]: "good" });
    const late = await call(server, "POST", path, { by: "ann" });
    assert.deepEqual([late.status, readProblem(late).code], [409, "interrupt_stale"]);
    assert.equal((await trail(thread)).filter((action) => action === "reopened").length, 3);
  },
);

/** Ways by which a value comes in. The reply is a failed run, or a refusal. */
const ENTRIES: readonly { readonly name: string; readonly send: (thread: TestThread) => Promise<unknown> }[] = [
  { name: "the input of a run", send: (thread) => thread.run({ input: WIZARD }) },
  { name: "an update", send: (thread) => thread.run({ command: { update: WIZARD } }) },
  { name: "an answer with an update", send: (thread) => thread.run({ command: { resume: "yes", update: WIZARD } }) },
  { name: "POST state", send: ({ path }) => call(server, "POST", `${path}/state`, { values: WIZARD }) },
  {
    name: "POST state as the node",
    send: ({ path }) => call(server, "POST", `${path}/state`, { values: WIZARD, as_node: "ask" }),
  },
  {
    name: "run.start",
    send: ({ path }) =>
      call(server, "POST", `${path}/commands`, {
        id: 1,
        method: "run.start",
        params: { assistant_id: "chat", input: WIZARD },
      }),
  },
  {
    name: "a cron",
    send: async ({ threadId }) => {
      const cron = { assistant_id: "chat", schedule: "* * * * * *", input: WIZARD };
      const { body } = await call(server, "POST", `/threads/${threadId}/runs/crons`, cron);
      const { cron_id: id } = body as { readonly cron_id: string };
      await followLog(server, "the cron has run", async () => {
        const { body: runs } = await call(server, "GET", `/threads/${threadId}/runs`);
        return (runs as readonly { readonly status: string }[]).some(({ status }) => status === "error")
          ? true
          : undefined;
      });
      await call(server, "DELETE", `/runs/crons/${id}`);
    },
  },
];

for (const { name, send } of ENTRIES)
  test(`a message of an unknown role in ${name} spoils nothing (unused-answers.4)`, PATIENCE, async () => {
    const thread = await newThread(server, "chat");
    const asked = onlyQuestion(await thread.run({ input: { messages: [{ role: "user", content: "hi" }] } }));
    await send(thread);
    await followLog(server, "the thread is at rest", async () =>
      (await thread.get()).status === "busy" ? undefined : true,
    );
    await checkReads(thread);
    assert.deepEqual(
      (await thread.open()).map(({ id }) => id),
      [asked.id],
      "the question is open",
    );
    const { values } = await thread.state();
    assert.equal((values["messages"] as readonly unknown[]).length, 1);
    onlyQuestion(await thread.run({ input: { messages: [{ role: "user", content: "good" }] } }));
  });

test("results that do not fit together spoil nothing (unused-answers.4)", PATIENCE, async () => {
  const thread = await newThread(server, "conflicting");
  await thread.run({ input: { sum: 1 } });
  assert.equal((await thread.resume("x")).__error__?.error, "InvalidUpdateError");
  await checkReads(thread);
  const { sum } = await thread.run({ input: { sum: 2 } });
  assert.equal(sum, 3);
  await checkReads(thread);
});

test(
  "a result of a sent task that the state refuses ends the run; new input works (unused-answers.4)",
  PATIENCE,
  async () => {
    for (const graph of ["refusing", "refusing_below"]) {
      const thread = await newThread(server, graph);
      await thread.run({ input: { sum: 1 } });
      assert.equal((await thread.resume("send")).__error__?.error, "RangeError");
      await checkReads(thread);
      assert.equal((await thread.run({ input: { sum: 2 } }))["sum"], 3);
    }
  },
);

for (const [name, body] of [
  ["an answer", { command: { resume: "yes" } }],
  ["a continuation", { input: null }],
] as const)
  test(`${name} has the context and the tags of the run that asked (unused-answers.5)`, PATIENCE, async () => {
    const thread = await newThread(server, "with_context");
    onlyQuestion(await thread.run({ input: {}, context: { user: "ann" }, config: { tags: ["x"] } }));
    const first = await thread.run(body);
    const { log } = name === "an answer" ? first : await thread.resume("yes");
    assert.deepEqual(log, ["yes as ann, x", "more"]);
  });

test("the call adds its own context, also over the thread protocol (unused-answers.5)", PATIENCE, async () => {
  const thread = await newThread(server, "with_context");
  const start = { assistant_id: "with_context", input: {}, context: { user: "ann" } };
  await call(server, "POST", `${thread.path}/commands`, { id: 1, method: "run.start", params: start });
  await thread.reaches("interrupted");
  const [asked] = await thread.open();
  const respond = { namespace: [], interrupt_id: asked?.id, response: "yes", context: { user: "bob" } };
  await call(server, "POST", `${thread.path}/commands`, { id: 2, method: "input.respond", params: respond });
  await thread.reaches("idle");
  assert.deepEqual((await thread.get()).values?.["log"], ["yes as bob, ", "more"]);
});

test(
  "a context that does not match the schema is refused, and the question stays open (unused-answers.5)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "with_context");
    const missing = await thread.wait({ input: {} });
    assert.deepEqual([missing.status, readProblem(missing).code], [422, "context_invalid"]);
    onlyQuestion(await thread.run({ input: {}, context: { user: "ann" } }));
    const before = await thread.picture();
    const wrong = await thread.wait({ command: { resume: "yes" }, context: { user: 5 } });
    assert.deepEqual([wrong.status, readProblem(wrong).errors?.[0]?.path], [422, "user"]);
    assert.deepEqual(await thread.picture(), before);
  },
);

test("the recursion limit of the run that asked holds for its answer (unused-answers.5)", PATIENCE, async () => {
  const thread = await newThread(server, "steps");
  await thread.run({ input: {}, config: { recursion_limit: 4 } });
  assert.equal((await thread.resume("yes")).__error__?.error, "GraphRecursionError");
});

for (const [kind, says] of [
  ["promise", /a promise \(is an await missing\?\) at value\.inner/],
  ["thenable", /a promise/],
  ["blob", /Blob at value\.inner/],
  ["headers", /Headers/],
  ["form", /FormData/],
  ["response", /Response/],
  ["weak", /WeakMap/],
  ["generator", /Generator/],
  ["iterator", /Map Iterator/],
  ["signal", /AbortSignal/],
  ["params", /URLSearchParams/],
] as const)
  test(`${kind}: the run ends with a sentence instead of storing {} (unused-answers.6)`, PATIENCE, async () => {
    const thread = await newThread(server, "lost");
    const { __error__: error } = await thread.run({ input: { kind } });
    assert.equal(error?.error, "state_not_serialisable");
    assert.match(error.message, says);
  });

test("errors keep name, message and code; maps and sets their items (unused-answers.6)", PATIENCE, async () => {
  for (const [kind, inner] of [
    ["error", { name: "TypeError", message: "no", code: "E_NO" }],
    ["map", [["a", 1]]],
    ["set", [1]],
  ] as const) {
    const thread = await newThread(server, "lost");
    await thread.run({ input: { kind } });
    assert.deepEqual((await thread.state()).values["value"], { inner });
  }
});
