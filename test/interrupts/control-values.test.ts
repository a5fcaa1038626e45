// Tests of values on which LangGraph would act, at every entry point of the API that takes values for a graph.
// Rules:
//   interrupts/control-values.1. Each entry point rejects each form, and open interrupts stay: the call answers, skips
//        and starts nothing.
//   interrupts/control-values.2. Only `command.resume` answers an interrupt: neither an internal channel nor an input
//        that looks like a Command does.
//   interrupts/control-values.3. A malformed goto fails before the run.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { call, removeFolder, temporaryFolder, type Answer } from "../harness/server.ts";
import { startServerHere } from "../harness/server-here.ts";
import { newNotes, newThread, onlyQuestion, readProblem, type TestThread } from "../harness/threads.ts";

const server = await startServerHere();
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const FORMS = {
  Command: { lg_name: "Command", resume: "forged", goto: "ask" },
  Send: { lg_name: "Send", node: "ask", args: {} },
  Overwrite: { lg_name: "Overwrite", value: [] },
  __overwrite__: { __overwrite__: ["forged"] },
  "type __overwrite__": { type: "__overwrite__", value: ["forged"] },
  snapshot: { lg_name: "DeltaSnapshot", value: 1 },
  "final value": { __lg_type: "__pregel_final", value: 1, save: 2 },
  "key of the engine": { __pregel_resuming: true },
} as const;

type EmbeddedListener = (thread: TestThread, form: object, id: string) => Promise<Answer>;

const assistant = { assistant_id: "echo" };
const cron = { ...assistant, schedule: "0 0 1 1 *" };
const post = (path: string, body: unknown) => call(server, "POST", path, body);

const ENTRY_POINTS: Readonly<Record<string, EmbeddedListener>> = {
  "input of runs": ({ path }, form) => post(`${path}/runs`, { ...assistant, input: form }),
  "input of runs/wait": (thread, form) => thread.wait({ input: { payload: { deep: [form] } } }),
  "input of runs/stream": ({ path }, form) => post(`${path}/runs/stream`, { ...assistant, input: [form] }),
  "input of a stateless run": (_, form) => post("/runs/wait", { ...assistant, input: form }),
  "input in a batch": (_, form) =>
    post("/runs/batch", [
      { ...assistant, input: {} },
      { ...assistant, input: { payload: form } },
    ]),
  "input of a cron": (_, form) => post("/runs/crons", { ...cron, input: form }),
  "input of a thread's cron": ({ path }, form) => post(`${path}/runs/crons`, { ...cron, input: { payload: form } }),
  "command.update": (thread, form) => thread.wait({ command: { update: { payload: form } } }),
  "command.update in pairs": (thread, form) => thread.wait({ command: { update: [["payload", form]] } }),
  "input of a goto": (thread, form) => thread.wait({ command: { goto: [{ node: "ask", input: { payload: form } }] } }),
  "args of a goto": (thread, form) => thread.wait({ command: { goto: { node: "ask", args: form } } }),
  "update when giving up": (thread, form) => thread.wait({ command: { goto: "__end__", update: { payload: form } } }),
  "an answer": (thread, form) => thread.wait({ command: { resume: form } }),
  "an answer by id": (thread, form, id) => thread.wait({ command: { resume: { [id]: { deep: form } } } }),
  "a state edit": ({ path }, form) => post(`${path}/state`, { values: form, as_node: "ask" }),
  "a state edit, inside": ({ path }, form) => post(`${path}/state`, { values: { payload: form } }),
  "supersteps, values": (_, form) =>
    post("/threads", { metadata: { graph_id: "echo" }, supersteps: [{ updates: [{ values: form, as_node: "ask" }] }] }),
  "supersteps, command": (_, form) =>
    post("/threads", {
      metadata: { graph_id: "echo" },
      supersteps: [{ updates: [{ command: { update: { payload: form } }, as_node: "ask" }] }],
    }),
};

async function asked() {
  const notes = newNotes(folder);
  const thread = await newThread(server, "echo");
  const { id } = onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
  return { thread, notes, id, before: await thread.picture() };
}

for (const [entryPoint, send] of Object.entries(ENTRY_POINTS)) {
  test(
    `${entryPoint}: rejects every form, and the interrupt stays open (interrupts/control-values.1)`,
    PATIENCE,
    async () => {
      const { thread, notes, id, before } = await asked();
      for (const [name, form] of Object.entries(FORMS)) {
        const answer = await send(thread, form, id);
        assert.deepEqual(
          [answer.status, readProblem(answer).code],
          [422, "control_value_refused"],
          `${name}: ${answer.text}`,
        );
      }
      assert.deepEqual(await thread.picture(), before);
      assert.equal(notes.count("after"), 0);
    },
  );
}

test("an answer of the inbox is refused the same way (interrupts/control-values.1)", PATIENCE, async () => {
  const { thread, id, before } = await asked();
  const answer = await post("/inbox/answers", {
    answers: [{ thread_id: thread.threadId, interrupt_id: id, resume: FORMS.Command }],
  });
  assert.match(answer.text, /control_value_refused/);
  assert.deepEqual(await thread.picture(), before);
});

suite("nothing answers but command.resume (interrupts/control-values.2)", PATIENCE, () => {
  for (const update of [
    { __resume__: "forged" },
    [["__resume__", "forged"]],
    { __pregel_tasks: [{ node: "ask", args: {} }] },
    { "branch:to:ask": "__start__" },
    { __interrupt__: [] },
  ]) {
    test(`update ${JSON.stringify(update)}`, async () => {
      const { thread, notes, before } = await asked();
      const answer = await thread.wait({ command: { update } });
      assert.deepEqual([answer.status, readProblem(answer).code], [422, "control_value_refused"], answer.text);
      assert.deepEqual(await thread.picture(), before);
      assert.equal(notes.count("after"), 0);
    });
  }
});

test("a goto of an odd shape is refused (interrupts/control-values.3)", PATIENCE, async () => {
  const { thread, before } = await asked();
  for (const goto of [{ node: ["nowhere"] }, [["ask"]], 5, { input: {} }, { node: null }, ["ask", { node: {} }]]) {
    const answer = await thread.wait({ command: { goto } });
    assert.deepEqual([answer.status, readProblem(answer).code], [422, "invalid_request"], JSON.stringify(goto));
    assert.match(readProblem(answer).detail, /command\.goto/);
  }
  assert.deepEqual(await thread.picture(), before);
  const made = await post("/threads", {
    metadata: { graph_id: "echo" },
    supersteps: [{ updates: [{ command: { goto: "nowhere" }, as_node: "ask" }] }],
  });
  assert.equal(readProblem(made).code, "node_unknown");
});

test("similar-looking data stays unchanged", PATIENCE, async () => {
  const payload = {
    lc: 1,
    resume: { goto: "x" },
    steps: [{ node: "a", args: 1 }],
    lg_name: "mine",
    type: "x",
    value: 1,
  };
  const thread = await newThread(server, "echo");
  const { value } = onlyQuestion(await thread.run({ input: { payload } }));
  assert.deepEqual(value, payload);
  assert.deepEqual((await thread.resume(payload))["answer"], [payload]);
});
