// Tests of fingerprints (A16). Checked: what a paused thread needs of a newer graph, change by change; additions, order and
// what is not pending never matter.
import { Annotation, StateGraph } from "@langchain/langgraph";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fingerprint } from "../../agent/model/model.ts";
import type { StoredCheckpoint } from "../../agent/ports/ports.ts";
import { isCompiledGraph, type CompiledGraph } from "../langgraph/compiled-graph.ts";
import { fingerprintOf, missingParts } from "./graph-fingerprint.ts";

const then: Fingerprint = {
  hash: "then",
  graphId: "g",
  nodes: { "": ["__start__", "ask", "outer", "later"], outer: ["inner"], "outer|inner": ["deep"] },
  channels: { "": { text: "LastValue", list: "BinaryOperatorAggregate", unused: "LastValue" } },
  outputs: ["text", "list", "unused"],
};

const TASK = "01a1fd86-6ea5-7341-90d3-f2766ddd56ff";

/** A checkpoint in which these channels have a value. */
function stored(...channels: readonly string[]): StoredCheckpoint {
  const values = new Map(channels.map((channel) => [channel, { json: 1, tagged: false }]));
  const ids = { threadId: "t", ns: "", checkpointId: "c", parentId: null, runId: "r", fingerprint: "then" };
  return { checkpoint: { ...ids, body: "{}", small: "{}", metadata: "{}" }, values, writes: [], blobs: new Map() };
}

const now = (changes: Partial<Fingerprint>): Fingerprint => ({ ...then, hash: "now", ...changes });
const nodes = (root: readonly string[], rest: Fingerprint["nodes"] = { outer: ["inner"], "outer|inner": ["deep"] }) =>
  now({ nodes: { "": root, ...rest } });
const channels = (root: Readonly<Record<string, string>>) => now({ channels: { "": root } });

const asked = [[`ask:${TASK}`]];
const below = [[`outer:${TASK}`, `inner:${TASK}`, `deep:${TASK}`]];
const { text, list, unused } = { text: "LastValue", list: "BinaryOperatorAggregate", unused: "LastValue" };

const CASES: readonly {
  readonly name: string;
  readonly now: Fingerprint;
  readonly values?: readonly string[];
  readonly pausedAt?: readonly (readonly string[])[];
  readonly missing: readonly string[];
}[] = [
  { name: "nothing has changed but the hash", now: now({}), missing: [] },
  { name: "a node was added", now: nodes(["new", "__start__", "ask", "outer", "later"]), missing: [] },
  { name: "the order has changed", now: nodes(["later", "outer", "ask", "__start__"]), missing: [] },
  { name: "a node that is not pending was removed", now: nodes(["__start__", "ask", "outer"]), missing: [] },
  { name: "the node that asks was removed", now: nodes(["__start__", "outer", "later"]), missing: ["node ask"] },
  {
    name: "the node that asks was renamed",
    now: nodes(["__start__", "ask_2", "outer", "later"]),
    missing: ["node ask"],
  },
  {
    name: "the node that is next was removed",
    now: nodes(["__start__", "ask", "outer"]),
    values: ["branch:to:later"],
    pausedAt: [],
    missing: ["node later"],
  },
  { name: "the node that is next is there", now: now({}), values: ["branch:to:later"], pausedAt: [], missing: [] },
  { name: "a question below, all there", now: now({}), pausedAt: below, missing: [] },
  { name: "the outer graph was removed", now: nodes(["ask"], {}), pausedAt: below, missing: ["node outer"] },
  {
    name: "the inner graph was removed",
    now: nodes(["outer"], { outer: ["other"] }),
    pausedAt: below,
    missing: ["node outer > inner"],
  },
  {
    name: "the node that asks below was removed",
    now: nodes(["outer"], { outer: ["inner"], "outer|inner": ["other"] }),
    pausedAt: below,
    missing: ["node outer > inner > deep"],
  },
  {
    name: "a graph that a node calls is not known beforehand",
    now: nodes(["outer"], {}),
    pausedAt: [[`outer:${TASK}`, `x:${TASK}`]],
    missing: [],
  },
  {
    name: "a task that a node calls is in no graph",
    now: nodes(["outer"], { outer: ["inner", "more"] }),
    pausedAt: [[`outer:${TASK}`, `called:${TASK}`]],
    missing: [],
  },
  { name: "a channel was added", now: channels({ text, list, unused, more: "LastValue" }), missing: [] },
  { name: "a channel without a value was removed", now: channels({ text, list }), missing: [] },
  { name: "a channel without a value has another kind", now: channels({ text, list, unused: "Topic" }), missing: [] },
  {
    name: "a channel with a value was removed",
    now: channels({ list, unused }),
    missing: ["channel text of kind LastValue"],
  },
  {
    name: "a channel with a value has another kind",
    now: channels({ text, list: "LastValue", unused }),
    missing: ["channel list of kind BinaryOperatorAggregate"],
  },
  {
    name: "several parts are missing",
    now: now({ nodes: { "": [] }, channels: { "": { list } } }),
    missing: ["node ask", "channel text of kind LastValue"],
  },
  { name: "it is another graph", now: now({ graphId: "other" }), missing: ["graph g (this is other)"] },
  { name: "the hash is the same", now: { ...now({ graphId: "other", nodes: {} }), hash: "then" }, missing: [] },
];

for (const { name, now: deployed, values = ["text", "list"], pausedAt = asked, missing } of CASES) {
  test(`${name}: ${missing.length === 0 ? "it can go on" : `it lacks ${missing.join(", ")}`}`, () => {
    assert.deepEqual(missingParts(deployed, then, stored(...values), pausedAt), missing);
  });
}

const State = Annotation.Root({
  text: Annotation<string>,
  list: Annotation<string[]>({ reducer: (a, b) => a.concat(b) }),
});
const child = new StateGraph(State)
  .addNode("inner", () => ({}))
  .addEdge("__start__", "inner")
  .compile();
function graph(last: string): CompiledGraph {
  const compiled: unknown = new StateGraph(State)
    .addNode("outer", child)
    .addNode(last, () => ({}))
    .addEdge("__start__", "outer")
    .addEdge("outer", last as "outer")
    .compile();
  assert.ok(isCompiledGraph(compiled));
  return compiled;
}

test("the fingerprint of a graph has its nodes, its channels and those of its subgraphs", async () => {
  const one = await fingerprintOf("g", graph("end"));
  assert.deepEqual(one.nodes, { "": ["__start__", "outer", "end"], outer: ["__start__", "inner"] });
  assert.equal(one.channels[""]?.["text"], "LastValue");
  assert.equal(one.channels[""]?.["list"], "BinaryOperatorAggregate");
  assert.deepEqual(one.outputs, ["text", "list"]);
  assert.equal((await fingerprintOf("g", graph("end"))).hash, one.hash, "equal graphs have equal hashes");
  assert.notEqual((await fingerprintOf("g", graph("other"))).hash, one.hash);
  assert.notEqual((await fingerprintOf("h", graph("end"))).hash, one.hash);
});
