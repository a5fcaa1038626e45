// Threads: create, read and change.
// The pieces:
//   find-thread.ts     a thread by its id, or the error
//   thread-view.ts     a thread as its readers see it
//   copy-thread.ts     a copy with state and open interrupts
//   search-threads.ts  pages of threads, also by the values of their states
//   delete-threads.ts  deletion and pruning
//   thread-state.ts    states and their edits
//   bypass.ts          ways around a human decision, with their own rights
//   new-thread.ts      a thread at its creation
//   ephemeral-thread.ts  the thread of a stateless run
// Invariants:
//   - If the graph rejects an update, no thread is created.
//   - Its breakpoint has the rules of the graph's own assistant. Another assistant that continues it brings those of
//     its own (run-target.ts).
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import type { Caller, Interrupt, Scope, Thread, WriteSet } from "../model/model.ts";
import { refuseOwnMembers } from "../model/request.ts";
import type { StateUpdate, Tx } from "../ports/ports.ts";
import { inScope, stamped } from "../auth/scope.ts";
import { mergedMetadata } from "../context/merged-metadata.ts";
import { NO_TTL, type Ttl, newThread } from "./new-thread.ts";
import { requireThread } from "./find-thread.ts";
import { type ThreadView, readView } from "./thread-view.ts";
import { buildBreakpoint } from "../interrupts/breakpoint.ts";
import { checkGoto } from "../interrupts/node-names.ts";
import { builtInAssistantId } from "../model/built-in-assistant.ts";
import { applyRules } from "../model/review/review-rules.ts";

/** @throws {ApiError} `thread_exists` */
export async function createThread(
  agent: AgentContext,
  request: {
    readonly caller: Caller;
    readonly threadId: string | null;
    readonly metadata: JsonObject;
    readonly ifExists: "raise" | "do_nothing";
    /** Null: the server's default. */
    readonly ttl: Ttl | null;
    readonly supersteps: readonly (readonly StateUpdate[])[];
    readonly scope: Scope;
    /** Scope for showing an existing thread to the caller. */
    readonly readable: Scope;
  },
): Promise<ThreadView> {
  const metadata = stamped(request.metadata, request.scope);
  checkMetadata(metadata);
  const threadId = request.threadId ?? agent.newId();
  const { caller, supersteps } = request;
  const thread = newThread(threadId, metadata, request.ttl ?? agent.limits.threadTtl, agent.clock.now());
  const written = { ...thread, startedBy: [caller.name] };
  const built = supersteps.length === 0 ? null : await buildThread(agent, written, supersteps);
  const tenant = agent.tenants?.find(caller);
  const { view, waiting } = await agent.storage.transaction(async (tx) => {
    await tenant?.hold(tx);
    const existing = request.threadId === null ? null : await tx.thread(request.threadId);
    if (existing === null) {
      await ((built?.waiting.length ?? 0) > 0 ? tenant?.admitQuestion(tx) : tenant?.admitBytes(tx));
      await tx.insertThread(built?.thread ?? thread);
      if (tenant !== undefined) await tx.ownThread(threadId, tenant.name);
      if (built === null) return { view: { thread, values: null, open: [] }, waiting: [] };
      await tx.putWriteSet(built.set);
      const waiting = await findInitialItems(tx, built);
      await tx.putInterrupts(waiting);
      return { view: await readView(agent, tx, built.thread), waiting };
    }
    const visible = inScope(existing.metadata, request.scope) && inScope(existing.metadata, request.readable);
    if (request.ifExists === "do_nothing" && visible) return { view: await readView(agent, tx, existing), waiting: [] };
    throw new ApiError("thread_exists", `Thread with ID ${existing.threadId} already exists`);
  });
  agent.inbox.added(waiting, metadata);
  return view;
}

const METADATA_MEMBERS_MAX = 1000;

/** Every member is an index row. @throws {ApiError} `invalid_request` */
function checkMetadata(metadata: JsonObject): void {
  if (Object.keys(metadata).length <= METADATA_MEMBERS_MAX) return;
  throw new ApiError("invalid_request", `metadata of a thread has at most ${METADATA_MEMBERS_MAX} members.`);
}

export async function getThread(agent: AgentContext, threadId: string): Promise<ThreadView> {
  return agent.storage.transaction(async (tx) => readView(agent, tx, await requireThread(tx, threadId)));
}

export async function patchThread(
  agent: AgentContext,
  threadId: string,
  patch: { readonly metadata: JsonObject | null; readonly ttl: Ttl | null | undefined; readonly scope: Scope },
): Promise<ThreadView> {
  const view = await agent.storage.transaction(async (tx) => {
    const thread = await requireThread(tx, threadId);
    refuseOwnMembers(thread, patch.metadata);
    const changed: Partial<Thread> = {
      updatedAt: agent.clock.now(),
      ...(patch.metadata === null
        ? {}
        : { metadata: mergedMetadata(agent, thread.metadata, patch.metadata, patch.scope) }),
      ...(patch.ttl === undefined ? {} : (patch.ttl ?? NO_TTL)),
    };
    if (changed.metadata !== undefined) checkMetadata(changed.metadata);
    await tx.updateThread(threadId, changed);
    return readView(agent, tx, { ...thread, ...changed });
  });
  if (patch.metadata !== null) agent.events.wakes.wake(threadId); // its owner may have changed: readers look again
  return view;
}

/** A new thread with a state from supersteps of updates, computed before any write. */
interface BuiltThread {
  readonly thread: Thread;
  readonly set: WriteSet;
  /** The breakpoint of the new thread, if it has next nodes; without rules yet. */
  readonly waiting: readonly Interrupt[];
}

/** @throws {ApiError} `thread_without_graph`, `assistant_not_found`, `state_update_invalid`, `node_unknown` */
async function buildThread(
  agent: AgentContext,
  thread: Thread,
  supersteps: readonly (readonly StateUpdate[])[],
): Promise<BuiltThread> {
  const { threadId, createdAt: at } = thread;
  const graphId = thread.metadata["graph_id"];
  if (typeof graphId !== "string") {
    throw new ApiError("thread_without_graph", "supersteps need metadata.graph_id, the graph that they belong to.");
  }
  const graph = agent.graphs.describe(graphId);
  if (graph === null) {
    throw new ApiError("assistant_not_found", `There is no graph "${graphId}".`, {
      known_graphs: agent.graphs.list().map((graph) => graph.graphId),
    });
  }
  for (const { command } of supersteps.flat()) checkGoto(graph, command?.["goto"] ?? undefined);
  const operationId = agent.newId();
  const address = { threadId, graphId, ns: "", checkpointId: null };
  const { set, checkpoint, next } = await agent.graphs.build(address, supersteps, { graph_id: graphId }, operationId);
  const run = { runId: "", graphId, assistantId: builtInAssistantId(graphId) };
  const waiting =
    next.length > 0 ? [buildBreakpoint({ run, threadId, checkpointId: checkpoint.checkpoint_id, next, at })] : [];
  const paused = waiting.length > 0 ? ({ status: "interrupted", pause: "breakpoint" } as const) : {};
  return { thread: { ...thread, ...paused, graphId, checkpointId: checkpoint.checkpoint_id }, set, waiting };
}

async function findInitialItems(
  tx: Pick<Tx, "assistant">,
  { thread: { startedBy, createdAt: at }, waiting }: BuiltThread,
): Promise<readonly Interrupt[]> {
  const items: Interrupt[] = [];
  for (const item of waiting) {
    const assistant = (await tx.assistant(item.assistantId))?.metadata ?? {};
    items.push(applyRules(assistant, item, { startedBy, at }));
  }
  return items;
}
