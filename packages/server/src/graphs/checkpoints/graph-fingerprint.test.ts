// Tests of graph fingerprints: the parts of a newer graph that a paused thread needs, change by change. Additions,
// order and parts that are not pending never matter.
import { Annotation, StateGraph } from "@langchain/langgraph";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fingerprint } from "../../model/model.ts";
import type { StoredCheckpoint } from "../../ports/ports.ts";
import { isCompiledGraph, type CompiledGraph } from "../langgraph/compiled-graph.ts";
import { computeFingerprint, missingParts } from "./graph-fingerprint.ts";

const then: Fingerprint = {
  hash: "then",
  graphId: "g",
  nodes: { "": ["__start__", "ask", "outer", "later"], outer: ["inner"], "outer|inner": ["deep"] },
  channels: { "": { text: "LastValue", list: "BinaryOperatorAggregate", unused: "LastValue" } },
  outputs: ["text", "list", "unused"],
};

const TASK = "01a1fd86-6ea5-7341-90d3-f2766ddd56ff";

/** A checkpoint with values in these channels. */
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
  { name: "only the hash differs", now: now({}), missing: [] },
  { name: "an added node", now: nodes(["new", "__start__", "ask", "outer", "later"]), missing: [] },
  { name: "a different order", now: nodes(["later", "outer", "ask", "__start__"]), missing: [] },
  { name: "removal of a node that is not pending", now: nodes(["__start__", "ask", "outer"]), missing: [] },
  { name: "removal of the interrupted node", now: nodes(["__start__", "outer", "later"]), missing: ["node ask"] },
  {
    name: "a new name for the interrupted node",
    now: nodes(["__start__", "ask_2", "outer", "later"]),
    missing: ["node ask"],
  },
  {
    name: "removal of the next node",
    now: nodes(["__start__", "ask", "outer"]),
    values: ["branch:to:later"],
    pausedAt: [],
    missing: ["node later"],
  },
  { name: "the next node still exists", now: now({}), values: ["branch:to:later"], pausedAt: [], missing: [] },
  { name: "an interrupt in a subgraph, nothing missing", now: now({}), pausedAt: below, missing: [] },
  { name: "removal of the outer graph", now: nodes(["ask"], {}), pausedAt: below, missing: ["node outer"] },
  {
    name: "removal of the inner graph",
    now: nodes(["outer"], { outer: ["other"] }),
    pausedAt: below,
    missing: ["node outer > inner"],
  },
  {
    name: "removal of the interrupted node in the subgraph",
    now: nodes(["outer"], { outer: ["inner"], "outer|inner": ["other"] }),
    pausedAt: below,
    missing: ["node outer > inner > deep"],
  },
  {
    name: "a graph called by a node is not in the fingerprint",
    now: nodes(["outer"], {}),
    pausedAt: [[`outer:${TASK}`, `x:${TASK}`]],
    missing: [],
  },
  {
    name: "a task called by a node is in no graph",
    now: nodes(["outer"], { outer: ["inner", "more"] }),
    pausedAt: [[`outer:${TASK}`, `called:${TASK}`]],
    missing: [],
  },
  { name: "an added channel", now: channels({ text, list, unused, more: "LastValue" }), missing: [] },
  { name: "removal of a channel without a value", now: channels({ text, list }), missing: [] },
  { name: "another kind of a channel without a value", now: channels({ text, list, unused: "Topic" }), missing: [] },
  {
    name: "removal of a channel with a value",
    now: channels({ list, unused }),
    missing: ["channel text of kind LastValue"],
  },
  {
    name: "another kind of a channel with a value",
    now: channels({ text, list: "LastValue", unused }),
    missing: ["channel list of kind BinaryOperatorAggregate"],
  },
  {
    name: "several missing parts",
    now: now({ nodes: { "": [] }, channels: { "": { list } } }),
    missing: ["node ask", "channel text of kind LastValue"],
  },
  { name: "another graph", now: now({ graphId: "other" }), missing: ["graph g (this is other)"] },
  { name: "an equal hash", now: { ...now({ graphId: "other", nodes: {} }), hash: "then" }, missing: [] },
];

for (const { name, now: deployed, values = ["text", "list"], pausedAt = asked, missing } of CASES) {
  test(`${name}: ${missing.length === 0 ? "the thread can continue" : `the graph lacks ${missing.join(", ")}`}`, () => {
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

test("a fingerprint has the nodes and channels of a graph and of its subgraphs", async () => {
  const one = await computeFingerprint("g", graph("end"));
  assert.deepEqual(one.nodes, { "": ["__start__", "outer", "end"], outer: ["__start__", "inner"] });
  assert.equal(one.channels[""]?.["text"], "LastValue");
  assert.equal(one.channels[""]?.["list"], "BinaryOperatorAggregate");
  assert.deepEqual(one.outputs, ["text", "list"]);
  assert.equal((await computeFingerprint("g", graph("end"))).hash, one.hash, "equal graphs have equal hashes");
  assert.notEqual((await computeFingerprint("g", graph("other"))).hash, one.hash);
  assert.notEqual((await computeFingerprint("h", graph("end"))).hash, one.hash);
});
