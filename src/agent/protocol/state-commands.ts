// State commands: state.get, state.listCheckpoints and agent.getTree, by the reads of the REST calls.
import * as z from "zod";
import { parse } from "../../api/operation.ts";
import type { JsonObject } from "../../base/json/json.ts";
import { isUuid } from "../../base/ids.ts";
import type { AgentContext } from "../context.ts";
import { getHistory, getState } from "../threads/thread-state.ts";
import { type CommandCall, type CommandResult, readableThread } from "./command-call.ts";
import { convertedRow } from "./converted-row.ts";
import { CommandError } from "./envelope.ts";

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
  const query = { checkpointId: null, ns: path.join("|"), subgraphs: false };
  const { state } = await getState(agent, call.threadId, query);
  if (path.length > 0 && state.createdAt === null) {
    throw new CommandError("no_such_namespace", `The thread has no state in ${path.join(" ")}.`);
  }
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

const CHECKPOINTS = 10;

export async function listCommand(agent: AgentContext, call: CommandCall): Promise<CommandResult> {
  const { namespace: path = [], limit, before } = parse(listParams, call.command.params ?? {}, "body");
  await readableThread(agent, call);
  const ns = path.join("|");
  if (typeof before === "string") {
    const there = isUuid(before) ? await agent.storage.read((tx) => tx.checkpoint(call.threadId, ns, before)) : null;
    if (there === null) throw new CommandError("no_such_checkpoint", `The thread has no checkpoint ${before}.`);
  }
  const checkpoints: JsonObject[] = [];
  const query = { ns, before: before ?? null, limit: limit ?? CHECKPOINTS, metadata: null };
  for await (const { state } of getHistory(agent, call.threadId, query)) {
    const { step, source } = (state.metadata ?? {}) as JsonObject;
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
  const run = await agent.storage.read(async (tx) =>
    typeof asked === "string"
      ? tx.run(threadId, asked)
      : ((await tx.runs(threadId, { limit: 1, offset: 0, status: null }))[0] ?? null),
  );
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
    for (const { method, namespace: path, text } of await convertedRow(agent, row)) {
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
  return { result: { tree: truncated ? { ...root, metadata: { truncated: true } } : root } };
}
