// Tests of RemoteGraph, unmodified: a graph on the server, used as a local one. sdk.remote-graph.1. invoke and stream
// return the results of the graph itself, in the same modes and with the same namespaces. sdk.remote-graph.2. It raises
// interrupts as LangGraph does, and a Command answers them. sdk.remote-graph.3. It reads, edits, lists and forks states
// as a graph with a checkpointer does. sdk.remote-graph.4. Of two calls at once on one thread, the second does not wait
// behind the question of the first without a word: with an assistant whose `on_paused` is `reject` it fails with the
// reason, also among the nodes of one graph; else it goes on after the answer.
import { Command, GraphInterrupt, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { removeFolder, temporaryFolder } from "../harness/server.ts";
import { PATIENCE } from "../harness/patience.ts";
import { until } from "../harness/threads.ts";

const server = await startServerHere();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  removeFolder(server.dataDir);
});

const remote = (graphId: string): RemoteGraph => new RemoteGraph({ graphId, url: server.url });

async function newConfig(): Promise<{ readonly configurable: { readonly thread_id: string } }> {
  return { configurable: { thread_id: (await client.threads.create()).thread_id } };
}

async function collectList<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The questions that the library raises. */
async function raised(work: Promise<unknown>): Promise<readonly { readonly id?: string; readonly value?: unknown }[]> {
  const error = await work.then(
    () => assert.fail("it should have asked"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GraphInterrupt, String(error));
  return error.interrupts;
}

const WHOLE = { visited: ["node_a", "node_b", "node_c"] };

test("invoke returns the state, on a thread and without one (sdk.remote-graph.1)", PATIENCE, async () => {
  assert.deepEqual(await remote("steps").invoke({}, await newConfig()), WHOLE);
  assert.deepEqual(await remote("steps").invoke({}), WHOLE);
});

test("a thread that is not there is made (sdk.remote-graph.1)", PATIENCE, async () => {
  const thread_id = "4f1c2f0e-5f3d-4c55-9d6e-0c9f0a6b7d10";
  assert.deepEqual(await remote("steps").invoke({}, { configurable: { thread_id } }), WHOLE);
  assert.equal((await client.threads.get(thread_id)).status, "idle");
});

test("stream yields bare chunks in one mode, pairs in several (sdk.remote-graph.1)", PATIENCE, async () => {
  const updates = await collectList(
    await remote("steps").stream({}, { ...(await newConfig()), streamMode: "updates" }),
  );
  assert.deepEqual(
    updates,
    WHOLE.visited.map((node) => ({ [node]: { visited: [node] } })),
  );
  const pairs = await collectList(
    await remote("steps").stream({}, { ...(await newConfig()), streamMode: ["updates", "values"] }),
  );
  assert.deepEqual(
    (pairs as [string, unknown][]).map(([mode]) => mode),
    ["updates", "values", "updates", "values", "updates", "values"],
  );
  assert.deepEqual((pairs as unknown[]).at(-1), ["values", WHOLE]);
});

test(
  "custom, and the words of a model, come as they do in process; subgraphs name their place (sdk.remote-graph.1)",
  PATIENCE,
  async () => {
    const config = await newConfig();
    const streamMode = ["custom", "messages"] as const;
    const chunks = await collectList(
      await remote("teller").stream({}, { ...config, streamMode: [...streamMode], subgraphs: true }),
    );
    const seen = (chunks as unknown as [string[], string, unknown][]).map(([ns, mode, data]) => ({ ns, mode, data }));
    assert.deepEqual(
      seen.filter(({ mode }) => mode === "custom").map(({ ns, data }) => [ns[0]?.split(":")[0], data]),
      [
        [undefined, { n: 0 }],
        [undefined, { n: 1 }],
        ["inner", { inside: true }],
      ],
    );
    const words = seen.filter(({ mode }) => mode === "messages");
    assert.deepEqual(
      words.map(({ data }) => (data as [{ readonly content: string }])[0].content),
      ["H", "i", "!"],
    );
  },
);

test("a question is raised with its id, and a Command answers it (sdk.remote-graph.2)", PATIENCE, async () => {
  const config = await newConfig();
  const [question] = await raised(remote("agent").invoke({ some_text: "original" }, config));
  assert.ok(question);
  const [open] = Object.values((await client.threads.get(config.configurable.thread_id)).interrupts).flat();
  assert.deepEqual([question.id, question.value], [open?.id, open?.value]);
  const state = await remote("agent").getState(config);
  assert.deepEqual(state.next, ["human_node"]);
  const shown = (state.tasks[0]?.interrupts ?? []) as unknown as readonly { readonly interrupt_id: string }[];
  assert.equal(shown[0]?.interrupt_id, open?.id);
  assert.deepEqual(await remote("agent").invoke(new Command({ resume: "edited" }), config), { some_text: "edited" });
});

test(
  "a question of a subgraph, and one of a remote graph that is a node of a graph here (sdk.remote-graph.2)",
  PATIENCE,
  async () => {
    const here = new StateGraph(MessagesAnnotation)
      .addNode("there", async () => {
        return (await remote("messages").invoke({ messages: [] }, await newConfig())) as object;
      })
      .addEdge("__start__", "there")
      .addEdge("there", "__end__")
      .compile();
    const [question] = await raised(remote("teller").invoke({ ask: true }, await newConfig()));
    assert.deepEqual(question?.value, { question: "go on?" });
    const result = (await here.invoke({ messages: [] })) as { readonly __interrupt__?: readonly { value: unknown }[] };
    assert.deepEqual(result.__interrupt__?.[0]?.value, { heard: 0 });
  },
);

/** Two calls on a thread that is busy until the gate opens: the first one asks then, the second is behind it. */
async function callTwice(graphId: string, call: (graph: RemoteGraph, config: object) => readonly Promise<unknown>[]) {
  const folder = temporaryFolder();
  const gate = join(folder, "gate");
  const config = await newConfig();
  const { thread_id: threadId } = config.configurable;
  await client.runs.create(threadId, "slow", { input: { gate } });
  const calls = call(remote(graphId), config);
  await until("both are queued", async () => ((await client.runs.list(threadId)).length === 3 ? true : undefined));
  writeFileSync(gate, "");
  const ends = await Promise.allSettled(calls);
  removeFolder(folder);
  return { ends, config };
}

async function makeCareful(): Promise<string> {
  const made = await client.assistants.create({ graphId: "echo", metadata: { on_paused: "reject" } });
  return made.assistant_id;
}

test("a call behind a question fails at once where on_paused is reject (sdk.remote-graph.4)", PATIENCE, async () => {
  const careful = await makeCareful();
  const { ends, config } = await callTwice(careful, (graph, given) => [
    graph.invoke({}, given),
    graph.invoke({}, given),
  ]);
  const reasons = ends.map((end) => (end.status === "rejected" ? String(end.reason) : "no error"));
  assert.equal(ends.filter((end) => end.status === "rejected" && end.reason instanceof GraphInterrupt).length, 1);
  assert.equal(reasons.filter((text) => /thread_paused.*Answer the question/.test(text)).length, 1, reasons.join());
  await remote(careful).invoke(new Command({ resume: "yes" }), config);
  assert.equal((await client.threads.get(config.configurable.thread_id)).status, "idle");
});

test("two nodes that call on one thread end, with the reason (sdk.remote-graph.4)", PATIENCE, async () => {
  const { ends } = await callTwice(await makeCareful(), (graph, given) => {
    const node = async (): Promise<object> => (await graph.invoke({}, given)) as object;
    const both = new StateGraph(MessagesAnnotation).addNode("one", node).addNode("two", node);
    return [both.addEdge("__start__", "one").addEdge("__start__", "two").compile().invoke({ messages: [] })];
  });
  assert.match(String((ends[0] as PromiseRejectedResult).reason), /thread_paused.*Answer the question/);
});

test(
  "a call behind a question goes on after the answer without that choice (sdk.remote-graph.4)",
  PATIENCE,
  async () => {
    const answers: Promise<unknown>[] = [];
    const { ends } = await callTwice("echo", (graph, given) => {
      const answering = async (work: Promise<unknown>): Promise<unknown> => {
        const asked = await raised(work);
        if (answers.length === 0) answers.push(graph.invoke(new Command({ resume: "yes" }), given));
        return asked;
      };
      return [answering(graph.invoke({ payload: "one?" }, given)), answering(graph.invoke({ payload: "two?" }, given))];
    });
    await Promise.all(answers);
    const asked = ends.map((end) =>
      end.status === "fulfilled" ? (end.value as readonly { value: unknown }[])[0]?.value : end,
    );
    assert.deepEqual(asked, ["one?", "two?"]);
  },
);

test("breakpoints stop it, and null continues (sdk.remote-graph.2)", PATIENCE, async () => {
  const config = await newConfig();
  const stopped = new RemoteGraph({ graphId: "steps", url: server.url, interruptBefore: ["node_b"] });
  assert.deepEqual(await raised(stopped.invoke({}, config)), []);
  assert.deepEqual((await stopped.getState(config)).next, ["node_b"]);
  assert.deepEqual(await remote("steps").invoke(null, config), WHOLE);
});

test("a failure is thrown, with its name and message (sdk.remote-graph.1)", PATIENCE, async () => {
  const error = await remote("failing")
    .invoke({}, await newConfig())
    .catch((reason: unknown) => reason as Error);
  assert.match((error as Error).message, /NodeFault.*this node always fails/);
});

test("states are read, edited, walked through and started from (sdk.remote-graph.3)", PATIENCE, async () => {
  const graph = remote("steps");
  const config = await newConfig();
  await graph.invoke({}, config);
  const all = await collectList(graph.getStateHistory(config));
  assert.deepEqual(
    all.map(({ next }) => next),
    [[], ["node_c"], ["node_b"], ["node_a"], ["__start__"]],
  );
  const [, second, third] = all;
  assert.ok(second && third);
  assert.deepEqual(second.parentConfig, third.config);
  const before = await collectList(graph.getStateHistory(config, { before: second.config, limit: 2 }));
  assert.deepEqual(
    before.map(({ next }) => next),
    [["node_b"], ["node_a"]],
  );
  const filtered = await collectList(graph.getStateHistory(config, { filter: { step: 1 } }));
  assert.deepEqual(
    filtered.map(({ next }) => next),
    [["node_b"]],
  );
  assert.deepEqual((await graph.getState(second.config)).values, { visited: ["node_a", "node_b"] });

  const edited = await graph.updateState(second.config, { visited: ["by hand"] }, "node_b");
  const state = await graph.getState(config);
  assert.deepEqual(state.values, { visited: ["node_a", "node_b", "by hand"] });
  assert.equal(state.config.configurable?.["checkpoint_id"], edited.configurable?.["checkpoint_id"]);
  assert.deepEqual(await graph.invoke(null, config), { visited: ["node_a", "node_b", "by hand", "node_c"] });
});

test("states of subgraphs are read in place (sdk.remote-graph.3)", PATIENCE, async () => {
  const config = await newConfig();
  await raised(remote("deep").invoke({}, config));
  const { tasks } = await remote("deep").getState(config, { subgraphs: true });
  const inner = tasks[0]?.state as { readonly tasks: readonly { readonly name: string }[] };
  assert.equal(inner.tasks[0]?.name, "inside");
});

test("it is drawn as in process", PATIENCE, async () => {
  const drawn = await remote("steps").getGraphAsync();
  assert.deepEqual(Object.keys(drawn.nodes), ["__start__", "node_a", "node_b", "node_c", "__end__"]);
});
