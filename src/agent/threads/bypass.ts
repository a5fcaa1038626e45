// Bypass: ways around a human decision: disabled breakpoints of the compiled graph, state edits in the name of a node,
// and commands that go to a node. Each requires its own authorization event.
import type { Json } from "../../base/json/json.ts";
import type { Ask } from "../auth/authorize.ts";
import { inScope } from "../auth/scope.ts";
import type { AgentContext } from "../context.ts";
import { authorOf } from "../model/audit-author.ts";
import { assistantIdOf } from "../model/built-in-assistant.ts";
import { gotoTargets, nodesOf } from "../interrupts/run-intent.ts";
import type { AuditEntry, Caller, Run, Scope } from "../model/model.ts";
import type { GraphDescription, Tx } from "../ports/ports.ts";
import { threadNotFound } from "./find-thread.ts";

type Given = "*" | readonly string[] | null | undefined;

/** Breakpoint lists in a run request that replace the compiled ones. */
export interface GivenBreakpoints {
  readonly before: Given;
  readonly after: Given;
}

/** @returns the disabled compiled breakpoints: `before:<node>`, `after:*` */
export function disabledBreakpoints(graph: GraphDescription | null, given: GivenBreakpoints): readonly string[] {
  const { breakpoints } = graph ?? {};
  if (breakpoints === undefined) return [];
  return [
    ...missing(breakpoints.before, given.before).map((name) => `before:${name}`),
    ...missing(breakpoints.after, given.after).map((name) => `after:${name}`),
  ];
}

function missing(compiled: "*" | readonly string[], given: Given): readonly string[] {
  if (given === null || given === undefined || given === "*") return [];
  if (compiled === "*") return ["*"];
  return compiled.filter((name) => !given.includes(name));
}

/** @returns an additional scope for the thread. @throws {ApiError} `forbidden` */
export async function askToDisable(
  agent: AgentContext,
  ask: Ask,
  { assistantId, threadId }: { readonly assistantId: string; readonly threadId: string | null },
  given: GivenBreakpoints,
): Promise<Scope> {
  if (!Array.isArray(given.before) && !Array.isArray(given.after)) return null;
  const assistant = await agent.storage.transaction((tx) => tx.assistant(assistantIdOf(assistantId)));
  const graphId = assistant?.graphId ?? assistantId;
  const off = disabledBreakpoints(agent.graphs.describe(graphId), given);
  return off.length === 0 ? null : ask("threads:bypass", { thread_id: threadId, metadata: {}, breakpoints: off });
}

/** Names other than nodes. An edit under them does not continue behind an interrupt. */
const NO_NODES: ReadonlySet<string | null> = new Set([null, "__end__", "__copy__"]);

/**
 * @param pausedOrOlder the thread is paused, or the edit is of an older checkpoint
 * @returns true if the graph may continue past the human decision
 */
export function isBypass(asNode: string | null, pausedOrOlder: boolean): boolean {
  return pausedOrOlder && !NO_NODES.has(asNode);
}

/** @throws {ApiError} `forbidden`, `thread_not_found` */
export async function askToEdit(
  agent: AgentContext,
  ask: Ask,
  threadId: string,
  edit: { readonly asNode: string | null; readonly checkpointId: string | null },
): Promise<void> {
  if (!isBypass(edit.asNode, true)) return;
  const thread = await agent.storage.transaction((tx) => tx.thread(threadId));
  if (!isBypass(edit.asNode, edit.checkpointId !== null || thread?.status === "interrupted")) return;
  const scope = await ask("threads:bypass", { thread_id: threadId, metadata: {}, as_node: edit.asNode });
  if (thread !== null && !inScope(thread.metadata, scope)) throw threadNotFound(threadId);
}

/**
 * A paused thread whose command goes to a node runs on without the answer, or beside it.
 * @returns an additional scope for the thread. @throws {ApiError} `forbidden`, `invalid_request`
 */
export async function askToGo(agent: AgentContext, ask: Ask, threadId: string, goto: Json | undefined): Promise<Scope> {
  const nodes = nodesOf(gotoTargets(goto));
  if (nodes.length === 0) return null;
  const thread = await agent.storage.transaction((tx) => tx.thread(threadId));
  if (thread?.status !== "interrupted") return null;
  return ask("threads:bypass", { thread_id: threadId, metadata: {}, goto: nodes });
}

/** Called in the transaction that accepts the run. */
export async function noteDisabledBreakpoints(agent: AgentContext, tx: Tx, caller: Caller, run: Run): Promise<void> {
  const { interruptBefore: before, interruptAfter: after } = run.request;
  const off = disabledBreakpoints(agent.graphs.describe(run.graphId), { before, after });
  if (off.length === 0) return;
  const { threadId, runId, createdAt: at } = run;
  const entry: AuditEntry = {
    threadId,
    at,
    action: "breakpoints_off",
    interruptId: null,
    runId,
    value: off,
    ...authorOf(caller),
  };
  await tx.audit([entry]);
}
