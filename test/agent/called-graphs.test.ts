// Test of the states of graphs that nodes call as functions, such as subagents in tools: no deployed graph contains
// them. Pages read them when they open on a thread, also after its events are gone.
//   called-graphs.1. History, state and the protocol's state.get answer for every namespace with a checkpoint.
//   called-graphs.2. They do after a restart. A namespace without a checkpoint is 404.
//   called-graphs.3. A state shows its next nodes and its open questions, and no channel of LangGraph's own.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { newNotes, newThread, onlyQuestion, type WireState } from "../harness/threads.ts";

let server = await startServerHere();
const folder = temporaryFolder();
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

const readHistory = async (path: string, checkpoint: object, limit = 100): Promise<readonly WireState[]> => {
  const { status, body, text } = await call(server, "POST", `${path}/history`, { limit, checkpoint });
  assert.equal(status, 200, text);
  return body;
};

async function readState(path: string, checkpoint: object): Promise<WireState> {
  const { status, body, text } = await call(server, "POST", `${path}/state/checkpoint`, { checkpoint });
  assert.equal(status, 200, text);
  return body;
}

/** The namespaces below the root in which a run had steps. */
async function findNamespaces(path: string, body: object): Promise<readonly string[]> {
  const stream = { ...body, stream_mode: ["updates"], stream_subgraphs: true };
  const { text } = await call(server, "POST", `${path}/runs/stream`, stream);
  const names = [...text.matchAll(/^event: updates\|(\S+)$/gm)].map(([, ns = ""]) => ns);
  return [...new Set(names)];
}

test(
  "subagents of two tool calls each have their messages, also after a restart (called-graphs.1, called-graphs.2)",
  PATIENCE,
  async () => {
    const { path } = await newThread(server, "tooled");
    const calls = ["one", "two"].map((id) => ({
      id,
      name: "task",
      args: { description: id, subagent_type: "helper" },
    }));
    const namespaces = await findNamespaces(path, { assistant_id: "tooled", input: { calls } });
    assert.deepEqual(
      namespaces.map((ns) => ns.split(":")[0]),
      ["tools", "tools"],
    );

    const read = () =>
      Promise.all(
        namespaces.map(async (checkpoint_ns) => {
          const [newest, ...others] = await readHistory(path, { checkpoint_ns }, 1);
          assert.ok(newest !== undefined && others.length === 0);
          assert.deepEqual(await readState(path, { checkpoint_ns }), newest);
          const { checkpoint_id } = newest.checkpoint;
          assert.deepEqual(await readState(path, { checkpoint_ns, checkpoint_id }), newest);
          const command = { id: 1, method: "state.get", params: { namespace: checkpoint_ns.split("|") } };
          const { body } = await call(server, "POST", `${path}/commands`, command);
          assert.deepEqual((body as { readonly result: { readonly values: unknown } }).result.values, newest.values);
          assert.deepEqual([Object.keys(newest.values), newest.next, newest.tasks], [["messages"], [], []]);
          const messages = newest.values["messages"] as readonly { readonly content: string }[];
          return messages.map(({ content }) => content);
        }),
      );
    const texts = await read();
    assert.deepEqual(
      texts.toSorted(([a = ""], [b = ""]) => a.localeCompare(b)),
      [
        ["one", "Did one."],
        ["two", "Did two."],
      ],
    );

    await server.stop();
    server = await startServerHere({ dataDir: server.dataDir });
    assert.deepEqual(await read(), texts);
    for (const [at, body] of [
      ["history", { limit: 1, checkpoint: { checkpoint_ns: "tools:gone" } }],
      ["state/checkpoint", { checkpoint: { checkpoint_ns: "tools:gone" } }],
    ] as const) {
      const { status, body: problem } = await call(server, "POST", `${path}/${at}`, body);
      assert.deepEqual([status, (problem as { readonly code: string }).code], [404, "checkpoint_not_found"], at);
    }
  },
);

test(
  "a graph that waits in a node shows its question, and its past, newest first (called-graphs.3)",
  PATIENCE,
  async () => {
    const thread = await newThread(server, "called");
    const question = onlyQuestion(await thread.run({ input: { notes: newNotes(folder).notes } }));
    const checkpoint = { checkpoint_ns: question.ns[0] };
    const [waiting] = await readHistory(thread.path, checkpoint);
    assert.deepEqual(waiting?.next, ["ask"]);
    const [task] = waiting.tasks;
    assert.deepEqual([task?.name, task?.interrupts[0]?.value], ["ask", question.value]);

    await thread.resume("yes");
    const past = await readHistory(thread.path, checkpoint);
    assert.deepEqual(
      past.map(({ next, values }) => [next, values["third"] ?? null]),
      [
        [[], "yes"],
        [["ask"], null],
        [["__start__"], null],
      ],
    );
    assert.deepEqual(
      past.map(({ parent_checkpoint }) => parent_checkpoint?.checkpoint_id),
      [...past.slice(1).map((state) => state.checkpoint.checkpoint_id), undefined],
    );
    const { checkpoint_id } = past[1]?.checkpoint ?? {};
    const earlier = { limit: 100, before: checkpoint_id, checkpoint };
    const { body } = await call(server, "POST", `${thread.path}/history`, earlier);
    assert.deepEqual(body, past.slice(2));
  },
);
