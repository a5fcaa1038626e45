// State commands: state.get, state.listCheckpoints and agent.getTree, by the reads of the REST calls.
import * as z from "zod";
import { parse } from "@holdpoint/api/operation.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import type { AgentContext } from "../context/context.ts";
import { isActive } from "../model/status.ts";
import { getHistory, getState } from "../threads/thread-state.ts";
import { type CommandCall, type CommandResult, readableThread } from "./command-call.ts";
import { convertedRow, LINES_ONLY } from "./convert/converted-row.ts";
import { CommandError } from "./envelope.ts";
import { endName } from "./convert/root-lifecycle.ts";

const namespace = z.array(z.string()).optional();
const getParams = z.object({ namespace, keys: z.array(z.string()).nullish() });
const CHECKPOINTS_MAX = 1000;
const listParams = z.object({
  namespace,
  limit: z.number().int().min(1).max(CHECKPOINTS_MAX).nullish(),
  before: z.string().nullish(),
});
const treeParams = z.object({ run_id: z.string().nullish() });

export async function getCommand(agent: AgentContext, call: CommandCall): Promise<CommandResult> {
  const { namespace: path = [], keys } = parse(getParams, call.command.params ?? {}, "body");
  await readableThread(agent, call);
  const query = { checkpointId: null, ns: await checkpointNs(agent, call.threadId, path), subgraphs: false };
  const unknown = new CommandError("no_such_namespace", `The thread has no state in ${path.join(" ")}.`);
  const { state } = await getState(agent, call.threadId, query).catch((error: unknown) => {
    throw path.length > 0 && error instanceof ApiError && error.code === "checkpoint_not_found" ? unknown : error;
  });
  if (path.length > 0 && state.createdAt === null) throw unknown;
  const all = (state.values ?? {}) as JsonObject;
  const values =
    keys === null || keys === undefined
      ? all
      : Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key)));
  const { checkpoint } = state;
  const place =
    checkpoint === null ? {} : { checkpoint: { id: checkpoint.checkpoint_id, ns: checkpoint.checkpoint_ns } };
  return { result: { values, ...place } };
}

/** A segment without a task id names the task of that node in the newest checkpoint. */
async function checkpointNs(agent: AgentContext, threadId: string, path: readonly string[]): Promise<string> {
  let ns = "";
  for (const segment of path.map((one) => one.replaceAll("\0", "|"))) {
    const isWhole = segment.includes(":") || /^\d+$/.test(segment);
    const full = isWhole ? segment : await liveSegment(agent, { threadId, ns, node: segment });
    ns = ns === "" ? full : `${ns}|${full}`;
  }
  return ns;
}

async function liveSegment(
  agent: AgentContext,
  { threadId, ns, node }: { readonly threadId: string; readonly ns: string; readonly node: string },
): Promise<string> {
  const { state } = await getState(agent, threadId, { checkpointId: null, ns, subgraphs: false });
  const task = state.tasks.find(({ name }) => name === node);
  return task === undefined ? node : `${node}:${task.id}`;
}

const CHECKPOINTS = 10;

interface ListedCheckpoint {
  readonly id: string;
  readonly timestamp: string | null;
  readonly step: Json;
  /** Name of the only node that wrote it. */
  node_name?: string;
  readonly metadata: { readonly source: Json };
}

export async function listCommand(agent: AgentContext, call: CommandCall): Promise<CommandResult> {
  const { namespace: path = [], limit, before } = parse(listParams, call.command.params ?? {}, "body");
  await readableThread(agent, call);
  const ns = await checkpointNs(agent, call.threadId, path);
  if (typeof before === "string") {
    const there = isUuid(before) ? await agent.storage.read((tx) => tx.checkpoint(call.threadId, ns, before)) : null;
    if (there === null) throw new CommandError("no_such_checkpoint", `The thread has no checkpoint ${before}.`);
  }
  const checkpoints: ListedCheckpoint[] = [];
  const count = limit ?? CHECKPOINTS;
  const query = { ns, before: before ?? null, limit: count + 1, metadata: null }; // one more: it names the last writer
  for await (const { state } of getHistory(agent, call.threadId, query)) {
    const { step, source } = (state.metadata ?? {}) as JsonObject;
    const later = checkpoints.at(-1);
    const [node, ...nodes] = state.next;
    if (later?.metadata.source === "loop" && node !== undefined && nodes.length === 0) later.node_name = node;
    if (checkpoints.length === count) break;
    checkpoints.push({
      id: state.checkpoint?.checkpoint_id ?? "",
      timestamp: state.createdAt,
      step: step ?? 0,
      metadata: { source: source ?? null },
    });
  }
  return { result: { checkpoints } };
}

interface TreeNode {
  readonly namespace: readonly string[];
  status: string;
  readonly graph_name: string;
  readonly children: TreeNode[];
  readonly metadata?: { readonly truncated: true };
}

interface LifecycleText {
  readonly params: { readonly data: { readonly event: string; readonly graph_name?: string } };
}

const NODES_MAX = 1000;

/** From the lifecycle events that are kept of the run; their order makes each node's parent come before it. */
export async function treeCommand(agent: AgentContext, call: CommandCall): Promise<CommandResult> {
  const { run_id: asked } = parse(treeParams, call.command.params ?? {}, "body");
  const thread = await readableThread(agent, call);
  const { threadId } = call;
  const run = await agent.storage.read(async (tx) => {
    const [newest] = typeof asked === "string" ? [] : await tx.runs(threadId, { limit: 1, offset: 0, status: null });
    const runId = asked ?? newest?.runId;
    return runId === undefined ? null : tx.run(threadId, runId);
  });
  if (run === null && typeof asked === "string")
    throw new CommandError("no_such_run", `The thread has no run ${asked}.`);
  const root: TreeNode = {
    namespace: [],
    status: "started",
    graph_name: run?.graphId ?? thread.graphId ?? "",
    children: [],
  };
  const nodes = new Map<string, TreeNode>([["", root]]);
  let truncated = false;
  if (run === null) return { result: { tree: root } };
  for (let afterSeq = 0; ;) {
    const query = { runId: run.runId, afterSeq, fromId: 0, limit: 1 };
    const [row] = await agent.storage.read((tx) => tx.events(threadId, query));
    if (row === undefined) break;
    afterSeq = row.seq;
    for (const { method, namespace: path, text } of await convertedRow(agent, row, LINES_ONLY)) {
      if (method !== "lifecycle") continue;
      const { event, graph_name: name = "" } = (JSON.parse(text) as LifecycleText).params.data;
      const known = nodes.get(path.join("|"));
      if (known !== undefined) known.status = event;
      else if (nodes.size >= NODES_MAX) truncated = true;
      else {
        const node: TreeNode = { namespace: path, status: event, graph_name: name, children: [] };
        nodes.set(path.join("|"), node);
        (nodes.get(path.slice(0, -1).join("|")) ?? root).children.push(node);
      }
    }
  }
  if (nodes.size === 1 && root.status === "started" && !isActive(run.status))
    root.status = endName({ ended_by: run.endedBy });
  return { result: { tree: truncated ? { ...root, metadata: { truncated: true } } : root } };
}
