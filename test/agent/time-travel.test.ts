// Tests of the start and target of a run, over real HTTP and with the official client.
// Rules:
//   time-travel.1. A run from an older checkpoint starts there, with input, with none, with an answer; the past stays.
//   time-travel.2. The same for a checkpoint of a subgraph.
//   time-travel.3. A goto sends the graph to nodes, with their input; an update changes the state.
//   time-travel.4. A goto to the end ends the thread at its current state, with any pending tasks, and adds an audit
//        entry.
//   time-travel.5. Durability "exit" saves only the end or the pause.
//   time-travel.6. Config comes from the assistant, the thread and the run, the later over the earlier.
import { Client } from "@langchain/langgraph-sdk";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import {
  newNotes,
  newThread,
  onlyQuestion,
  readProblem,
  listQuestions,
  type Result,
  type TestThread,
  type WireState,
} from "../harness/threads.ts";
import { PATIENCE } from "../harness/patience.ts";

const NO_CHECKPOINT = "11111111-1111-6111-8111-111111111111";

const server = await startServerHere();
const folder = temporaryFolder();
const client = new Client({ apiUrl: server.url, apiKey: null });
after(async () => {
  await server.stop();
  for (const path of [server.dataDir, folder]) removeFolder(path);
});

/** The newest state of which these nodes are next. */
async function stateBefore(thread: TestThread, ...next: readonly string[]): Promise<WireState> {
  const found = (await thread.history()).find((state) => state.next.join() === next.join());
  assert.ok(found !== undefined, `no state has ${next.join()} next`);
  return found;
}

suite("from an older checkpoint (time-travel.1)", PATIENCE, () => {
  const START = { visited: ["start"] };

  test("without input the nodes after it run again", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: START });
    const before = await stateBefore(thread, "node_c");
    const steps = (await thread.history()).length;
    const result = await thread.run({ checkpoint_id: before.checkpoint.checkpoint_id });
    assert.deepEqual(result, { visited: ["start", "node_a", "node_b", "node_c"] });
    const history = await thread.history();
    assert.ok(history.length > steps, "what was there is still there");
    assert.ok(history.some(({ checkpoint }) => checkpoint.checkpoint_id === before.checkpoint.checkpoint_id));
  });

  test("with input the graph starts from its beginning, with the state as it was there", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: START });
    const before = await stateBefore(thread, "node_b");
    const result = await thread.run({ input: { visited: ["again"] }, checkpoint: before.checkpoint });
    assert.deepEqual(result["visited"], ["start", "node_a", "again", "node_a", "node_b", "node_c"]);
  });

  test("after an edit of the state there, it continues from the edit", async () => {
    const { thread_id: threadId } = await client.threads.create();
    await client.runs.wait(threadId, "steps", { input: START });
    const history = await client.threads.getHistory(threadId);
    const before = history.find(({ next }) => next[0] === "node_b");
    assert.ok(before?.checkpoint.checkpoint_id);
    const edited = await client.threads.updateState(threadId, {
      values: { visited: ["by hand"] },
      checkpointId: before.checkpoint.checkpoint_id,
      asNode: "node_b",
    });
    const checkpointId = String(edited.configurable?.checkpoint_id);
    const result = (await client.runs.wait(threadId, "steps", { input: null, checkpointId })) as Result;
    assert.deepEqual(result["visited"], ["start", "node_a", "by hand", "node_c"]);
  });

  test("an answer there is a fork, and audited as one", async () => {
    const thread = await newThread(server, "echo");
    const asked = onlyQuestion(await thread.run({ input: { payload: "?" } }));
    const { checkpoint } = await thread.state();
    assert.deepEqual((await thread.resume({ [asked.id]: "first" }))["answer"], ["first"]);
    const again = await thread.run({
      command: { resume: { [asked.id]: "second" }, fork: true },
      checkpoint_id: checkpoint.checkpoint_id,
    });
    assert.deepEqual(again["answer"], ["second"]);
    assert.equal((await thread.get()).status, "idle");
    const values = (await thread.history()).flatMap(({ values: one }) =>
      one["answer"] === undefined ? [] : [one["answer"]],
    );
    assert.deepEqual(values, [["second"], ["first"]]);
  });

  test("a checkpoint that is not there is 404, and nothing runs", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: START });
    const before = await thread.picture();
    for (const body of [{ checkpoint_id: NO_CHECKPOINT }, { checkpoint: { checkpoint_id: NO_CHECKPOINT } }]) {
      const edit = { values: { visited: ["edited"] }, as_node: "node_a", ...body };
      for (const refused of [
        await thread.wait({ input: null, ...body }),
        await call(server, "POST", `${thread.path}/state`, edit),
      ])
        assert.deepEqual([refused.status, readProblem(refused).code], [404, "checkpoint_not_found"]);
    }
    assert.deepEqual(await thread.picture(), before);
  });

  test("a queued run starts from its named checkpoint, after any progress of the thread", async () => {
    const notes = newNotes(folder);
    const thread = await newThread(server, "slow");
    await thread.run({ input: { waitMs: 0 } });
    const { checkpoint } = await stateBefore(thread, "first");
    const gate = join(folder, "gate-of-the-queued");
    await thread.begin({ input: { waitMs: 200, gate, notes: notes.notes } });
    await notes.reached("waits");
    const queued = await thread.begin({ input: null, checkpoint });
    assert.equal(queued.status, "pending");
    writeFileSync(gate, "");
    assert.equal((await thread.join(queued))["waitMs"], 0);
  });
});

suite("from a checkpoint of a subgraph (time-travel.2)", PATIENCE, () => {
  /** The graph `deep` at its first question, two levels down. */
  async function pausedDeep() {
    const notes = newNotes(folder);
    const thread = await newThread(server, "deep");
    onlyQuestion(await thread.run({ input: { notes: notes.notes } }));
    const state = await thread.state("?subgraphs=true");
    const ns = state.tasks[0]?.state?.tasks[0]?.state?.checkpoint.checkpoint_ns ?? "";
    assert.match(ns, /^outer:[^|]+\|inside:/);
    const { body } = await call(server, "POST", `${thread.path}/history`, {
      limit: 100,
      checkpoint: { checkpoint_ns: ns },
    });
    return { thread, notes, ns, below: body as readonly (WireState & { readonly checkpoint: Checkpoint })[] };
  }
  interface Checkpoint {
    readonly checkpoint_id: string;
    readonly checkpoint_ns: string;
    readonly checkpoint_map: Readonly<Record<string, string>> | null;
  }

  test("its nodes run again from there, those before it do not", async () => {
    const { thread, notes, ns, below } = await pausedDeep();
    const before = below.find(({ next }) => next[0] === "prepare");
    assert.ok(before !== undefined, "the state before the first node of the subgraph");
    const root = (await thread.state()).checkpoint.checkpoint_id;
    const outer = (await thread.state("?subgraphs=true")).tasks[0]?.state?.checkpoint;
    const map = before.checkpoint.checkpoint_map ?? {
      "": root,
      [outer?.checkpoint_ns ?? ""]: outer?.checkpoint_id ?? "",
      [ns]: before.checkpoint.checkpoint_id,
    };
    const checkpoint = { ...before.checkpoint, checkpoint_map: map };
    const question = onlyQuestion(await thread.run({ input: null, checkpoint }));
    assert.equal((question.value as { readonly question: string }).question, "deep first");
    assert.deepEqual([notes.count("prepare"), notes.count("ask start")], [2, 2]);
    const second = onlyQuestion(await thread.resume({ [question.id]: 1 }));
    const end = await thread.resume({ [second.id]: 2 });
    assert.deepEqual([end["first"], end["second"]], [1, 2]);
    assert.deepEqual(notes.count("after"), 1);
  });

  test("U+0000 in a namespace is read as |, as front-end SDKs join it", async () => {
    const { thread, ns, below } = await pausedDeep();
    const joined = { checkpoint_ns: ns.replaceAll("|", "\0") };
    const history = await call(server, "POST", `${thread.path}/history`, { limit: 100, checkpoint: joined });
    assert.deepEqual([history.status, history.body], [200, below]);
    const state = await call(server, "POST", `${thread.path}/state/checkpoint`, { checkpoint: joined });
    assert.deepEqual([state.status, (state.body as (typeof below)[number]).checkpoint.checkpoint_ns], [200, ns]);
  });

  test("without the checkpoints above it, it is refused", async () => {
    const { thread, ns, below } = await pausedDeep();
    const { checkpoint_id } = below[0]?.checkpoint ?? { checkpoint_id: "" };
    for (const checkpoint_map of [undefined, {}, { [ns]: checkpoint_id }]) {
      const refused = await thread.wait({
        input: null,
        checkpoint: { checkpoint_id, checkpoint_ns: ns, checkpoint_map },
      });
      assert.match(readProblem(refused).detail, /checkpoint_map/);
    }
    const root = (await thread.state()).checkpoint.checkpoint_id;
    const wrong = { checkpoint_ns: ns, checkpoint_id: NO_CHECKPOINT, checkpoint_map: { "": root } };
    assert.equal(readProblem(await thread.wait({ input: null, checkpoint: wrong })).code, "checkpoint_not_found");
  });
});

suite("goto and update (time-travel.3)", PATIENCE, () => {
  test("a goto runs the named node and its successors", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: { visited: [] } });
    const one = await thread.run({ command: { goto: "node_c" } });
    assert.deepEqual(one["visited"], ["node_a", "node_b", "node_c", "node_c"]);
    const two = await thread.run({ command: { goto: ["node_b"], update: { visited: ["by hand"] } } });
    assert.deepEqual((two["visited"] as readonly string[]).slice(4), ["by hand", "node_b", "node_c"]);
  });

  for (const [form, member] of [
    ["{node, input}", "input"],
    ["{node, args}, as the library writes it", "args"],
  ] as const) {
    test(`a goto may be a list of ${form}: each node gets its own input`, async () => {
      const thread = await newThread(server, "sends");
      await thread.run({ input: { items: ["auto"] } });
      const refused = await thread.wait({ command: { goto: [{ node: "nowhere", [member]: {} }] } });
      assert.equal(readProblem(refused).code, "node_unknown", "names are checked there too");
      const goto = ["a", "b"].map((item) => ({ node: "review", [member]: { item } }));
      const paused = await thread.run({ command: { goto } });
      assert.deepEqual(
        listQuestions(paused).map(({ value }) => value),
        [{ review: "a" }, { review: "b" }],
      );
    });
  }

  test("an update alone changes the state as a node would", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: { visited: [] } });
    const result = await thread.run({ command: { update: { visited: ["by hand"] } } });
    assert.deepEqual((result["visited"] as readonly string[]).slice(3, 4), ["by hand"]);
  });
});

suite("goto the end (time-travel.4)", PATIENCE, () => {
  const PAUSES = [
    { name: "a question", graph: "echo", input: {}, extra: {} },
    { name: "several questions", graph: "parallel", input: {}, extra: {} },
    { name: "a question in a subgraph", graph: "deep", input: {}, extra: {} },
    { name: "a breakpoint", graph: "steps", input: {}, extra: { interrupt_before: ["node_b"] } },
  ];
  for (const { name, graph, input, extra } of PAUSES) {
    test(`a pause at ${name} ends, and none of its interrupts returns`, async () => {
      const thread = await newThread(server, graph);
      await thread.run({ input, ...extra });
      assert.equal((await thread.get()).status, "interrupted");
      const open = await thread.open();
      const result = await thread.run({ input: {}, command: { goto: "__end__" } });
      assert.equal(result.__interrupt__, undefined);
      assert.equal(result.__error__, undefined);
      const [shown, state] = [await thread.get(), await thread.state()];
      assert.deepEqual([shown.status, shown.interrupts, state.next, state.tasks], ["idle", {}, [], []]);
      for (const { id } of open) {
        assert.equal(readProblem(await thread.wait({ command: { resume: { [id]: 1 } } })).code, "interrupt_stale");
      }
      assert.equal((await thread.wait({ input, ...extra })).status, 200, "the thread can be used again");
    });
  }

  test("as agent-chat-ui sends it, with a stream; the state is in the events", async () => {
    const { thread_id: threadId } = await client.threads.create();
    await client.runs.wait(threadId, "agent", { input: { some_text: "draft" } });
    const events = [];
    const command = { goto: "__end__" };
    for await (const event of client.runs.stream(threadId, "agent", { input: {}, command, streamMode: ["values"] })) {
      events.push([event.event, (event.data as Result)["some_text"]]);
    }
    assert.deepEqual(events.at(-1), ["values", "draft"]);
    assert.equal((await client.threads.get(threadId)).status, "idle");
  });

  test("the audit trail names the person who ended the interrupts", async () => {
    const thread = await newThread(server, "echo");
    const question = onlyQuestion(await thread.run({ input: {} }));
    await thread.run({ command: { goto: ["__end__"] } });
    const audit = await call(server, "GET", `${thread.path}/audit`);
    const { body } = audit.status === 200 ? audit : await call(server, "GET", `/audit?thread_id=${thread.threadId}`);
    const entries = (Array.isArray(body) ? body : (body as { readonly items: unknown[] }).items) as readonly {
      readonly action: string;
      readonly interrupt_id: string | null;
    }[];
    assert.deepEqual(
      entries.map(({ action, interrupt_id }) => [action, interrupt_id]),
      [["abandoned", question.id]],
    );
  });

  test("an update comes along, and no node runs", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: { visited: [] }, interrupt_before: ["node_b"] });
    const result = await thread.run({ command: { goto: "__end__", update: { visited: ["by hand"] } } });
    assert.deepEqual(result, { visited: ["node_a", "by hand"] });
    assert.deepEqual([(await thread.get()).status, (await thread.state()).next], ["idle", []]);
  });

  test("a failed thread becomes idle; an idle or new one stays idle", async () => {
    const failed = await newThread(server, "failing");
    await failed.run({ input: {} });
    assert.equal((await failed.get()).status, "error");
    await failed.run({ command: { goto: "__end__" } });
    assert.deepEqual([(await failed.get()).status, (await failed.state()).next], ["idle", []]);
    const resting = await newThread(server, "steps");
    const end = await resting.run({ input: { visited: [] } });
    const before = await resting.history();
    assert.deepEqual(await resting.run({ command: { goto: "__end__" } }), end);
    assert.deepEqual(await resting.history(), before);
    const fresh = await newThread(server, "steps");
    assert.equal((await fresh.run({ command: { goto: "__end__" } })).__error__, undefined);
    assert.equal((await fresh.get()).status, "idle");
  });

  test("at an older checkpoint it ends the thread there", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: { visited: [] } });
    const { checkpoint } = await stateBefore(thread, "node_b");
    const result = await thread.run({ command: { goto: "__end__" }, checkpoint_id: checkpoint.checkpoint_id });
    assert.deepEqual(result, { visited: ["node_a"] });
    assert.deepEqual([(await thread.state()).next, (await thread.state()).values], [[], { visited: ["node_a"] }]);
  });
});

suite("durability (time-travel.5)", PATIENCE, () => {
  for (const [durability, saved] of [
    ["sync", 5],
    ["async", 5],
    ["exit", 1],
  ] as const) {
    test(`${durability}: ${saved} checkpoints of a run with three nodes`, async () => {
      const thread = await newThread(server, "steps");
      await thread.run({ input: { visited: [] }, durability });
      assert.equal((await thread.history()).length, saved);
      assert.deepEqual((await thread.get()).values, { visited: ["node_a", "node_b", "node_c"] });
    });
  }

  test("exit: a pause is saved, and nothing before it", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: { visited: [] }, durability: "exit", interrupt_before: ["node_c"] });
    const history = await thread.history();
    assert.deepEqual(
      history.map(({ next }) => next),
      [["node_c"]],
    );
    assert.deepEqual(await thread.run({ input: null }), { visited: ["node_a", "node_b", "node_c"] });
  });

  test("checkpoint_during false means exit", async () => {
    const thread = await newThread(server, "steps");
    await thread.run({ input: { visited: [] }, checkpoint_during: false });
    assert.equal((await thread.history()).length, 1);
  });
});

suite("config and context (time-travel.6)", PATIENCE, () => {
  const seen = (result: Result): Record<string, unknown> => result["seen"] as Record<string, unknown>;

  test("configurable values of the assistant and the run are merged, the run's win", async () => {
    const assistant = await client.assistants.create({
      graphId: "keeper",
      config: { configurable: { of_assistant: 1, both: "assistant" }, tags: ["assistant"] },
    });
    const thread = await newThread(server, assistant.assistant_id);
    const result = await thread.run({ input: {}, config: { configurable: { of_run: 2, both: "run" }, tags: ["run"] } });
    const { of_assistant, of_run, both } = seen(result);
    assert.deepEqual([of_assistant, of_run, both], [1, 2, "run"]);
  });

  test("the error of the recursion limit has the limit and the remedy", async () => {
    const thread = await newThread(server, "endless");
    for (const limit of [3, 7]) {
      const result = await thread.run({ input: {}, config: { recursion_limit: limit } });
      assert.equal(result.__error__?.error, "GraphRecursionError");
      assert.match(result.__error__.message, new RegExp(`Recursion limit of ${limit} steps reached.*recursion_limit`));
    }
    assert.equal((await thread.run({ input: { calm: true } })).__error__, undefined);
  });

  test("accepts feedback_keys", async () => {
    const thread = await newThread(server, "steps");
    assert.equal((await thread.wait({ input: {}, feedback_keys: ["score"] })).status, 200);
  });
});

for (const [name, stepMs] of [
  ["an hour", 3_600_000],
  ["a year", 365 * 86_400_000],
] as const)
  test(`history is in the order of writing after the clock has gone back ${name} (written-order.1)`, async (t) => {
    const now = Date.now;
    const thread = await newThread(server, "echo");
    await thread.run({ input: { payload: "before" } });
    t.mock.method(Date, "now", () => now() - stepMs);
    await thread.resume("yes");
    const history = async (query: string) =>
      (await call(server, "GET", `${thread.path}/history?${query}`)).body as readonly {
        readonly checkpoint: { readonly checkpoint_id: string };
        readonly parent_checkpoint: { readonly checkpoint_id: string } | null;
        readonly values: { readonly answer?: unknown };
      }[];
    const [newest] = await history("limit=1");
    assert.deepEqual(newest?.values.answer, ["yes"]);
    const all = await history("limit=100");
    assert.ok(all.length >= 3, `${all.length} states`);
    for (const [at, { parent_checkpoint: parent }] of all.entries())
      assert.equal(parent?.checkpoint_id, all[at + 1]?.checkpoint.checkpoint_id);
  });
