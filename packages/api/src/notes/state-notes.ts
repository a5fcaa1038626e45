// Notes of assistants and threads.
import type { Note } from "./note.ts";
import * as value from "./values.ts";
import { CHECKPOINT_ID, THREAD_ID } from "./values.ts";

export const assistantNotes: Readonly<Record<string, Note>> = {
  createAssistant: {
    description:
      "An assistant runs one graph of `langgraph.json` with its own config and context. With `if_exists: do_nothing` an existing id is returned unchanged.",
    body: { graph_id: "agent", name: "careful", context: { model: "large" } },
    reply: value.assistantExample,
  },
  searchAssistants: {
    description: "Filters combine; `name` matches a part of the name. Every graph has a built-in assistant.",
    body: { graph_id: "agent", limit: 10 },
    reply: [value.assistantExample],
  },
  countAssistants: { description: "Takes the filters of the search.", body: { graph_id: "agent" }, reply: 1 },
  getAssistant: {
    description: "The name of a graph refers to its built-in assistant.",
    reply: value.assistantExample,
  },
  patchAssistant: {
    description: "Each change creates a version, which becomes the latest.",
    body: { name: "strict", metadata: { reviewed: true } },
    reply: value.assistantExample,
  },
  deleteAssistant: {
    description: "Runs in progress refuse the deletion. The reply lists the deleted threads.",
    query: { delete_threads: "false" },
    reply: [],
  },
  listAssistantVersions: {
    description: "Each version holds the whole assistant as it was.",
    body: { limit: 10 },
    reply: [withoutUpdate()],
  },
  setLatestAssistantVersion: {
    description: "New runs use the restored version; later versions stay in the list.",
    body: { version: 1 },
    reply: value.assistantExample,
  },
  getAssistantGraph: {
    description: "Nodes and edges as LangGraph draws them.",
    query: { xray: "true" },
    reply: { nodes: [{ id: "human_node", type: "runnable" }], edges: [{ source: "__start__", target: "human_node" }] },
  },
  getAssistantSchemas: {
    description: "A form can be built from `input_schema`; `context_schema` describes the context of an assistant.",
    reply: value.schemasExample,
  },
  getAssistantSubgraphs: {
    description: "A namespace is the path of node names to the subgraph.",
    query: { recurse: "true" },
    reply: { review: value.subgraphExample },
  },
  getAssistantSubgraph: {
    description: "The reply has the shape of the list, with the named subgraph only.",
    query: { recurse: "false" },
    reply: { review: value.subgraphExample },
  },
};

function withoutUpdate(): object {
  const { updated_at: _updated, ...version } = value.assistantExample;
  return version;
}

export const threadNotes: Readonly<Record<string, Note>> = {
  createThread: {
    description: "A thread holds the state of one conversation or task, with its history.",
    body: { metadata: { tenant: "acme" } },
    reply: { ...value.threadExample, status: "idle" },
  },
  getThread: {
    description: "`interrupts` lists the open interrupts by task; `values` is the newest state.",
    query: { include: "ttl" },
    reply: value.threadExample,
  },
  getThreadStorage: {
    description:
      "Bytes as stored: `checkpoints` without their values, `channel_values` by channel, and the writes of finished tasks whose step has not ended.",
    reply: {
      thread_id: value.threadExample.thread_id,
      total_bytes: 5120,
      checkpoints: { count: 5, bytes: 3900 },
      channel_values: { messages: 1020 },
      pending_writes: { count: 1, bytes: 200 },
    },
  },
  patchThread: {
    description: "Omitted members keep their value. `ttl` is a number of minutes, or `{ttl, strategy}`.",
    body: { metadata: { tenant: "acme" }, ttl: 1440 },
    reply: value.threadExample,
  },
  patchState: {
    description: "The same as a change of the thread's metadata, at the path that the SDK uses.",
    body: { metadata: { tenant: "acme" } },
    reply: value.threadExample,
  },
  pruneThreads: {
    description: "`keep_latest` keeps the current state and drops the history.",
    body: { thread_ids: [THREAD_ID], strategy: "keep_latest" },
    reply: { pruned_count: 1 },
  },
  deleteThread: { description: "The deletion is final." },
  eraseThread: {
    description: "As the deletion, and also what else the server has of the thread. `dry_run` counts it beforehand.",
    body: { dry_run: true },
    reply: { thread_id: THREAD_ID, dry_run: true, places: { threads: 1, runs: 2, checkpoints: 5, traces: 1 } },
  },
  searchThreads: {
    description: "Filters combine. `select` omits members, `extract` returns single values of large states.",
    body: { status: "interrupted", metadata: { tenant: "acme" }, limit: 10 },
    reply: [value.threadExample],
  },
  countThreads: { description: "Takes the filters of the search.", body: { status: "interrupted" }, reply: 3 },
  copyThread: {
    description: "The copy has a new id and the same state; answering the copy leaves the original paused.",
    reply: value.threadExample,
  },
  getState: {
    description: "`next` names the nodes that run next; `interrupts` the questions that are open.",
    query: { subgraphs: "false" },
    reply: value.stateExample,
  },
  getStateAt: {
    description: "An older state than the current one, by the id of its checkpoint.",
    query: { subgraphs: "false" },
    reply: value.stateExample,
  },
  getStateOf: {
    description: "`checkpoint_ns` selects the state of a subgraph.",
    body: { checkpoint: { checkpoint_id: CHECKPOINT_ID, checkpoint_ns: "" } },
    reply: value.stateExample,
  },
  updateState: {
    description: "Writes a checkpoint without running a node. A thread with a run in progress refuses.",
    body: { values: { some_text: "corrected" }, as_node: "human_node" },
    reply: { checkpoint: { thread_id: THREAD_ID, checkpoint_id: CHECKPOINT_ID, checkpoint_ns: "" } },
  },
  getHistory: {
    description: "Each state names its checkpoint, from which a run can fork.",
    query: { limit: "10" },
    reply: [value.stateExample],
  },
  postHistory: {
    description: "`before` continues a page; `metadata` selects by source, step or run.",
    body: { limit: 10, metadata: { source: "update" } },
    reply: [value.stateExample],
  },
};
