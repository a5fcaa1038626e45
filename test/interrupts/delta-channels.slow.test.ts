// Tests of values that LangGraph rebuilds from writes (DeltaChannel), on the server and in process with MemorySaver.
// Rules:
//   delta-channels.1. The state, the thread, its history and a run's result are the same on both, after every call and
//        a kill -9.
//   delta-channels.2. Pruning keeps the base of such a value, and deletes the rest.
//   delta-channels.3. The same holds for states of subgraphs, and for forks and edits at older checkpoints.
// All threads share one server, and one kill. HOLDPOINT_FAULTS=full: durability `sync`, too, and a kill after
// each step.
import { Command, MemorySaver } from "@langchain/langgraph";
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { compileNested } from "../graphs/delta/nested.ts";
import { compileWriters } from "../graphs/delta/writers.ts";
import { call, removeFolder, ROOT, startServer, temporaryFolder } from "../harness/server.ts";

const FULL = process.env["HOLDPOINT_FAULTS"] === "full";
const config = join(ROOT, "test", "graphs", "delta", "langgraph.json");
const GRAPHS = { writers: compileWriters, nested: compileNested };

interface StateBody {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly checkpoint: { readonly checkpoint_id: string };
  readonly tasks: readonly { readonly name: string; readonly state: StateBody | null }[];
}

interface LocalState {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly config: { readonly configurable?: { readonly checkpoint_id?: string } };
  readonly tasks: readonly { readonly name: string; readonly state?: LocalState | object }[];
}

interface LocalGraph {
  invoke(input: unknown, config: object): Promise<unknown>;
  getState(config: object, options?: { readonly subgraphs: boolean }): Promise<LocalState>;
  getStateHistory(config: object): AsyncIterable<LocalState>;
  updateState(config: object, values: object, asNode: string): Promise<unknown>;
}

interface Pair {
  readonly graphId: keyof typeof GRAPHS;
  readonly threadId: string;
  readonly local: LocalGraph;
  readonly durability: "async" | "sync" | "exit";
}

let server = await startServer({ config, dataDir: temporaryFolder() });
after(async () => {
  await server.kill();
  removeFolder(server.dataDir);
});

async function killServer(): Promise<void> {
  const { dataDir } = server;
  await server.kill();
  server = await startServer({ config, dataDir });
}

async function opened(graphId: Pair["graphId"], durability: Pair["durability"]): Promise<Pair> {
  const { thread_id: threadId } = (await call(server, "POST", "/threads", {})).body as { readonly thread_id: string };
  return { graphId, threadId, local: GRAPHS[graphId](new MemorySaver()) as unknown as LocalGraph, durability };
}

/** `DeltaChannel` returns an empty list before its first write; both sides omit an empty channel. */
const plain = (values: unknown): unknown => JSON.parse(JSON.stringify(values)) as unknown;
const localConfig = ({ threadId, durability }: Pair, checkpointId?: string) => ({
  configurable: { thread_id: threadId, ...(checkpointId === undefined ? {} : { checkpoint_id: checkpointId }) },
  durability,
});

interface Step {
  /** Body of the run on the server. */
  readonly body: object;
  readonly input: unknown;
  /** A fork from so many states before the newest. */
  readonly back?: number;
}
const given = (items: readonly string[], back?: number): Step => {
  const input = { items };
  return { body: { input }, input, ...(back === undefined ? {} : { back }) };
};
const answered = (resume: unknown): Step => ({ body: { command: { resume } }, input: new Command({ resume }) });

async function run(pair: Pair, { body, input, back }: Step): Promise<void> {
  const from = back === undefined ? null : await findPlace(pair, back);
  const answer = await call(server, "POST", `/threads/${pair.threadId}/runs/wait`, {
    assistant_id: pair.graphId,
    durability: pair.durability,
    ...body,
    ...(from === null ? {} : { checkpoint_id: from.there }),
  });
  assert.equal(answer.status, 200, answer.text);
  const expected = plain(await pair.local.invoke(input, localConfig(pair, from?.here))) as Record<string, unknown>;
  const { __interrupt__: asked, ...values } = answer.body as Record<string, unknown>;
  const { __interrupt__: expectedAsked, ...expectedValues } = expected;
  assert.deepEqual(values, expectedValues);
  assert.equal(asked === undefined, expectedAsked === undefined);
  await compare(pair);
}

/** The same place in both histories; the oldest where these are shorter, as with durability `exit`. */
async function findPlace(pair: Pair, back: number): Promise<{ readonly there: string; readonly here: string }> {
  const [states, localStates] = [await readHistory(pair), await readLocalHistory(pair)];
  const at = Math.min(back, states.length - 1, localStates.length - 1);
  const there = states[at]?.checkpoint.checkpoint_id;
  const here = localStates[at]?.config.configurable?.checkpoint_id;
  assert.ok(there !== undefined && here !== undefined);
  return { there, here };
}

/** Without `next`: the library omits a task that has saved an answer and interrupts again. */
interface Picture {
  readonly values: unknown;
  readonly inside: readonly (readonly [task: string, state: Picture | null])[];
}

function describeState({ values, tasks }: StateBody | LocalState): Picture {
  const inside = tasks.map(({ name, state }): Picture["inside"][number] => [
    name,
    state !== null && state !== undefined && "values" in state ? describeState(state) : null,
  ]);
  return { values: plain(values), inside };
}

async function compare(pair: Pair): Promise<void> {
  const expected = describeState(await pair.local.getState(localConfig(pair), { subgraphs: true }));
  const state = (await call(server, "GET", `/threads/${pair.threadId}/state?subgraphs=true`)).body as StateBody;
  assert.deepEqual(describeState(state), expected);
  const thread = (await call(server, "GET", `/threads/${pair.threadId}`)).body as { readonly values: unknown };
  assert.deepEqual(thread.values, expected.values);
}

async function readHistory({ threadId }: Pair): Promise<readonly StateBody[]> {
  return (await call(server, "GET", `/threads/${threadId}/history?limit=1000`)).body;
}
const readLocalHistory = (pair: Pair): Promise<readonly LocalState[]> =>
  Array.fromAsync(pair.local.getStateHistory(localConfig(pair)));

async function compareHistory(pair: Pair): Promise<void> {
  const shown = ({ values, next }: StateBody | LocalState): unknown => [plain(values), next];
  assert.deepEqual((await readHistory(pair)).map(shown), (await readLocalHistory(pair)).map(shown));
}

/** @param back so many states before the newest */
async function edit(pair: Pair, values: object, asNode: string, back = 0): Promise<void> {
  const from = back === 0 ? null : await findPlace(pair, back);
  const body = { values, as_node: asNode, ...(from === null ? {} : { checkpoint_id: from.there }) };
  assert.equal((await call(server, "POST", `/threads/${pair.threadId}/state`, body)).status, 200);
  await pair.local.updateState(localConfig(pair, from?.here), values, asNode);
  await compare(pair);
}

async function pruneLonger(pair: Pair): Promise<void> {
  const before = (await readHistory(pair)).length;
  await prune(pair);
  assert.ok((await readHistory(pair)).length < before);
}

async function prune(pair: Pair): Promise<void> {
  const body = { thread_ids: [pair.threadId], strategy: "keep_latest" };
  assert.equal((await call(server, "POST", "/threads/prune", body)).status, 200);
  await compare(pair);
}

async function copy(pair: Pair): Promise<void> {
  const { body } = await call(server, "POST", `/threads/${pair.threadId}/copy`);
  const { thread_id: threadId } = body as { readonly thread_id: string };
  const readState = async (id: string): Promise<unknown> =>
    ((await call(server, "GET", `/threads/${id}/state`)).body as StateBody).values;
  assert.deepEqual(await readState(threadId), await readState(pair.threadId));
}

type Story = readonly ((pair: Pair) => Promise<void>)[];

/** Each step on all threads, then the next: a kill between two steps is one for all of them. */
async function tell(pairs: readonly Pair[], story: Story, killAfter: number): Promise<void> {
  for (const [at, step] of story.entries()) {
    for (const pair of pairs) await step(pair);
    if (!FULL && at !== killAfter) continue;
    await killServer();
    for (const pair of pairs) await compare(pair);
  }
}

const DURABILITIES = FULL ? (["async", "sync", "exit"] as const) : (["async", "exit"] as const);

const WRITERS: Story = [
  (pair) => run(pair, { body: { input: FIRST }, input: FIRST }),
  (pair) => run(pair, answered(0)),
  (pair) => run(pair, given(["input 0"])),
  (pair) => run(pair, answered(1)),
  (pair) => run(pair, given(["input 1"])),
  (pair) => run(pair, answered(2)),
  compareHistory,
  (pair) => edit(pair, { items: ["edited"] }, "ask"),
  (pair) => run(pair, given(["more"])),
  (pair) => run(pair, given(["another past"], 3)),
  compareHistory,
  (pair) => edit(pair, { items: ["edited past"] }, "ask", 4),
  (pair) => run(pair, given(["after the edit"])),
  compareHistory,
  pruneLonger,
  (pair) => run(pair, answered("last")),
  prune,
  (pair) => run(pair, given(["after"])),
  copy,
];
const FIRST = { items: ["first"], seldom: ["once"] };

test("DeltaChannels equal those in process (delta-channels.1, delta-channels.2, delta-channels.3)", async () => {
  const pairs = await Promise.all(DURABILITIES.map((durability) => opened("writers", durability)));
  await tell(pairs, WRITERS, 10);
});

const NESTED: Story = [
  (pair) => run(pair, given(["first"])),
  (pair) => run(pair, answered("a")),
  (pair) => run(pair, answered("b")),
  compareHistory,
  (pair) => run(pair, given(["second"])),
  (pair) => run(pair, answered("c")),
  (pair) => run(pair, given(["another past"], 3)),
  (pair) => run(pair, answered("d")),
  (pair) => run(pair, answered("e")),
  compareHistory,
  (pair) => edit(pair, { items: ["edited past"] }, "begin", 5),
  (pair) => run(pair, { body: { input: null }, input: null }),
  (pair) => run(pair, answered("f")),
  pruneLonger,
  (pair) => run(pair, answered("g")),
  prune,
  (pair) => run(pair, given(["after"])),
  copy,
];

test("DeltaChannels in subgraphs equal those in process (delta-channels.3)", async () => {
  const pairs = await Promise.all(DURABILITIES.map((durability) => opened("nested", durability)));
  await tell(pairs, NESTED, -1);
});
